import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { BenchError, BrokenToolError, EXIT } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { renderTimestamp } from '../lib/timestamp.js'
import { loadGenerator } from '../loads/registry.js'
import { readLedgers } from '../node/ledger.js'
import { assertWritableFolder } from '../records/files.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { findTool } from '../tools/find.js'
import { assertMemoryAndPorts } from './memory-and-ports.js'
import { assertImageTools } from './programs.js'

/**
 * Opens the place where services run, by the options of the command line.
 * @import { Site } from '../model/types.ts'
 * @import { CapWay } from '../targets/local/cgroups.js'
 * @import { Context } from '../verbs/program.js'
 * @import { SiteOptions } from './options.js'
 */

/**
 * Opens a site, calls `task` with it, closes the site, even after an error, and prints what still runs there. If this
 * program must run in a systemd scope, starts it there again, and does not call `task`.
 * @param {SiteOptions} options
 * @param {Context} context
 * @param {(site: Site, keep: () => void) => Promise<void>} task keep: makes the services stay
 * @throws {UsageError} for options that exclude each other, or a results folder that cannot be written; {BenchError} if the site
 *   cannot be opened; an error of `task` or of closing; the signal's reason when it aborts
 */
export async function withSite(options, context, task) {
  const site = await openSite(options, context)
  if (site === null) return
  let retain = false
  try {
    await task(site, () => {
      retain = true
    })
  } finally {
    const retained = await site.target.close({ retain })
    const target = options.target === 'kubernetes' ? ' --target kubernetes' : ''
    const command = renderCommand('cleanup', `${site.runId}${target}`)
    if (retained.length > 0) context.say(`retained: ${retained.join(', ')}; remove them with: ${command}`)
  }
}

/**
 * Opens the site, after removing the leftovers of killed runs.
 * @param {SiteOptions} options
 * @param {Context} context
 * @returns {Promise<Site | null>} null: this program ran in a systemd scope instead
 * @throws {UsageError} for options that exclude each other, or a results folder that cannot be written; {BenchError} if the site
 *   cannot be opened, or no CPU limit can be set there and --cpu is not `none`; the signal's reason when it aborts
 */
async function openSite(options, context) {
  if (options.out) assertWritableFolder(options.out)
  assertCombination(SITE_OPTIONS, options)
  // One process may open two sites in one second, and each is a run: the id needs random bytes.
  const runId = `${renderTimestamp()}-${process.pid}-${randomBytes(2).toString('hex')}`
  const { findCapWay } = await import('../targets/local/cgroups.js')
  const way = await findCapWay()
  if (options.target === 'kubernetes') return openClusterSite(`${runId}-k8s`, { options, way }, context)
  if (way.how === 'systemd-run') return runInScope(context)
  if (way.how === 'none' && options.cpu !== 'none') throw new BenchError(`no CPU cap can be set here: ${way.reason}`)
  return openMachineSite(runId, { options, way }, context)
}

/**
 * Opens a site on a cluster.
 * @param {string} runId
 * @param {{ options: SiteOptions, way: CapWay }} options way: by which leftovers on this machine are removed
 * @param {Context} context
 * @returns {Promise<Site>}
 * @throws {UsageError} for an image of an unknown tool; as `removeLeftovers` and `openKubernetesSite`
 */
async function openClusterSite(runId, { options, way }, context) {
  const { image: images = {}, samples: sampleSource = 'cgroup', generator } = options
  await assertImageTools(images)
  await removeLeftovers(way, context)
  announceOtherRuns(context)
  const { context: contextName = null, node = null, loadNode = null, namespace = null } = options
  const { openKubernetesSite } = await import('../targets/kubernetes/site.js')
  const loadTool = (await loadGenerator(generator)).tool.name
  const nodes = { context: contextName, node, loadNode, namespace }
  return openKubernetesSite({ ...nodes, runId, images, loadTool, sampleSource, signal: context.signal })
}

/**
 * Opens a site on this machine, with the load on another one if --load-host names it.
 * @param {string} runId
 * @param {{ options: SiteOptions, way: CapWay }} options
 * @param {Context} context
 * @returns {Promise<Site>}
 * @throws {BenchError} if memory or local ports are not enough; as `removeLeftovers`, `openLocalSite` and `openLoadHostSite`
 */
async function openMachineSite(runId, { options, way }, context) {
  const { generator, loadHost: host, address: requestedAddress = null } = options
  const { say, signal } = context
  await removeLeftovers(way, context)
  announceOtherRuns(context)
  assertMemoryAndPorts()
  const { openLocalSite } = await import('../targets/local/site.js')
  const site = await openLocalSite({ runId, way, findTool: createToolFinder(context), say })
  if (!host) return site
  const { openLoadHostSite } = await import('../targets/load-host/site.js')
  return openLoadHostSite({ site, host, requestedAddress, load: await loadGenerator(generator), say, signal })
}

/**
 * Creates a finder of programs. Its first error aborts all other searches, unless a program does not run: others may then be
 * measured.
 * @param {Pick<Context, 'say' | 'signal'>} context
 * @returns {Site['findTool']}
 */
function createToolFinder({ say, signal }) {
  const failing = new AbortController()
  const ending = AbortSignal.any([signal, failing.signal])
  return spec =>
    findTool(spec, { say, signal: ending }).catch(error => {
      if (!(error instanceof BrokenToolError)) failing.abort(error)
      throw error
    })
}

/**
 * Runs this program again in a systemd scope, and sets the exit status to that of the second run.
 * @param {Context} context
 * @returns {Promise<null>} the site: none is open in this process
 * @throws the signal's reason when it aborts
 */
async function runInScope({ signal, end }) {
  const { wrapInSystemdScope } = await import('../targets/local/cgroups.js')
  const [command, ...argv] = wrapInSystemdScope([process.execPath, ...process.argv.slice(1)])
  const { exitCode } = await execa(command, argv, {
    stdio: 'inherit',
    reject: false,
    cancelSignal: signal,
    // The program in the scope removes what it started by itself, however long that takes.
    forceKillAfterDelay: false,
  })
  signal.throwIfAborted()
  end(exitCode ?? EXIT.failed)
  return null
}

/**
 * Removes the leftovers of killed runs on this machine, and prints their names, and those that cannot be removed.
 * @param {CapWay} way
 * @param {Pick<Context, 'say'>} context
 * @throws as `cleanUpLocal`
 */
async function removeLeftovers(way, { say }) {
  const { cleanUpLocal } = await import('../targets/local/cleanup.js')
  const { removed, failed } = await cleanUpLocal({ way })
  if (removed.length > 0) say(`removed what a killed run left: ${removed.join(', ')}`)
  if (failed.length > 0) say(`cannot remove what a killed run left: ${failed.join('; ')}`)
}

/**
 * Prints which other runs are in progress on this machine, a line each.
 * @param {Pick<Context, 'say'>} context
 */
function announceOtherRuns({ say }) {
  for (const { state, owner } of readLedgers()) {
    if (state !== 'alive' || owner === null || owner.pid === process.pid) continue
    const command = owner.command.length > 0 ? ` (${owner.command.join(' ')})` : ''
    say(`another run is in progress here, process ${owner.pid}${command}: the two disturb each other's figures`)
  }
}
