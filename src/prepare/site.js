import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { BenchError, BrokenToolError, EXIT } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { loadGenerator } from '../loads/registry.js'
import { readLedgers } from '../node/ledger.js'
import { assertWritableFolder } from '../records/files.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { findTool } from '../tools/find.js'
import { assertImageTools } from './programs.js'
import { assertRoom } from './room.js'

/**
 * The place where services run, from the words of the command line.
 * @import { Site } from '../model/types.ts'
 * @import { Context } from '../verbs/program.js'
 * @import { SiteOptions } from './options.js'
 */

/** Renders the current time in UTC, for names: `20260131-235959`. @returns {string} */
export function renderTimestamp() {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
}

/**
 * Opens a site, calls `task` with it, closes the site, even after an error, and prints what still runs there. If this
 * program must run in a systemd scope, starts it there again, and does not call `task`.
 * @param {SiteOptions} options
 * @param {Context} context
 * @param {(site: Site, keep: () => void) => Promise<void>} task keep: makes the services stay
 * @throws {BenchError} if the site cannot be opened; an error of `task`
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
    const left = await site.target.close({ retain })
    const where = options.target === 'kubernetes' ? ' --target kubernetes' : ''
    if (left.length > 0)
      context.say(
        `retained: ${left.join(', ')}; remove them with: ${renderCommand('cleanup', `${site.runId}${where}`)}`,
      )
  }
}

/**
 * Opens the site, after removing the leftovers of killed runs.
 * @param {SiteOptions} options
 * @param {Context} context
 * @returns {Promise<Site | null>} null: this program ran in a systemd scope instead
 */
async function openSite(options, context) {
  const { cpu, target, out, generator, loadHost: host, address = null } = options
  const { say, signal } = context
  if (out) assertWritableFolder(out)
  assertCombination(SITE_OPTIONS, options)
  const isOnCluster = target === 'kubernetes'
  // One process may open two sites in one second, and each is a run: the id needs random bytes.
  const runId = `${renderTimestamp()}-${process.pid}-${randomBytes(2).toString('hex')}${isOnCluster ? '-k8s' : ''}`
  const { findCapWay } = await import('../targets/local/cgroups.js')
  const way = await findCapWay()
  if (isOnCluster) {
    await assertImageTools(options.image ?? {})
    await removeLeftovers(way, context)
    const { context: name = null, node = null, loadNode = null, namespace = null } = options
    const { image: images = {}, samples: sampleSource = 'cgroup' } = options
    const { openKubernetesSite } = await import('../targets/kubernetes/site.js')
    const loadTool = (await loadGenerator(generator)).tool.name
    const nodes = { context: name, node, loadNode, namespace }
    return openKubernetesSite({ ...nodes, runId, images, loadTool, sampleSource, signal })
  }
  if (way.how === 'systemd-run') return startInScope(context)
  if (way.how === 'none' && cpu !== 'none') throw new BenchError(`no CPU cap can be set here: ${way.reason}`)
  await removeLeftovers(way, context)
  assertRoom()
  // An error aborts all other searches for programs. A program that does not run is no such error: others may be measured.
  const failing = new AbortController()
  const ending = AbortSignal.any([signal, failing.signal])
  /** @type {Site['findTool']} */
  const find = spec =>
    findTool(spec, { say, signal: ending }).catch(error => {
      if (!(error instanceof BrokenToolError)) failing.abort(error)
      throw error
    })
  const { openLocalSite } = await import('../targets/local/index.js')
  const site = await openLocalSite({ runId, way, findTool: find, say })
  if (!host) return site
  const { openLoadHostSite } = await import('../targets/load-host/site.js')
  return openLoadHostSite({ site, host, requestedAddress: address, load: await loadGenerator(generator), say, signal })
}

/**
 * Starts this program again in a systemd scope, and sets its exit status.
 * @param {Context} context
 * @returns {Promise<null>} as no site is open
 */
async function startInScope({ signal, end }) {
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
 * Removes the leftovers of killed runs, and prints which other runs are in progress here.
 * @param {import('../targets/local/cgroups.js').CapWay} way
 * @param {Pick<Context, 'say'>} context
 */
async function removeLeftovers(way, { say }) {
  const { cleanUpLocal } = await import('../targets/local/cleanup.js')
  const { removed, failed } = await cleanUpLocal({ way })
  if (removed.length > 0) say(`removed what a killed run left: ${removed.join(', ')}`)
  if (failed.length > 0) say(`cannot remove what a killed run left: ${failed.join('; ')}`)
  for (const { state, owner } of readLedgers()) {
    if (state !== 'alive' || owner === null || owner.pid === process.pid) continue
    const command = owner.command.length > 0 ? ` (${owner.command.join(' ')})` : ''
    say(`another run is in progress here, process ${owner.pid}${command}: the two disturb each other's figures`)
  }
}
