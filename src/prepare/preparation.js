import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { dataPlanes } from '../dataplanes/registry.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { findLoad, loads } from '../loads/registry.js'
import { readLedgers } from '../node/ledger.js'
import { countSearchTrials, estimatePlanSeconds } from '../plan/plan.js'
import { assertOut } from '../records/files.js'
import { findEntryPort } from '../services/topology.js'
import { findCapWay, wrapInSystemdScope } from '../targets/local/cgroups.js'
import { cleanUpLocal } from '../targets/local/cleanup.js'
import { openLocalSite } from '../targets/local/site.js'
import { findTool } from '../tools/find.js'
import { nodeTool } from '../tools/node.js'
import { readAxes } from './options.js'
import { prepare } from './prepare.js'
import { assertRoom } from './room.js'

/**
 * From the words of the command line to a site and a plan: where registries meet.
 * @import { LoadGenerator, Plan, Site, ToolSpec } from '../model/types.ts'
 * @import { CapWay } from '../targets/local/cgroups.js'
 * @import { Context } from '../verbs/program.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Experiment } from '../plan/experiment.js'
 * @import { Overrides } from '../plan/plan.js'
 */

// Its counters are renewed every 10 to 20 s: the edges of a window of two minutes would be too far from them.
const KUBELET_WINDOW_SECONDS = 180
const CLUSTER_WARMUP_SECONDS = 3

/** Every program that a run may need. */
export function toolSpecs() {
  return [...dataPlanes.flatMap(p => p.tool ?? []), ...loads.map(load => load.tool), nodeTool]
}

/**
 * Looks for programs on this machine. Where one does not run, what goes on for the others is ended.
 * @param {Pick<Context, 'say' | 'signal'>} context
 * @returns {(spec: ToolSpec) => ReturnType<typeof findTool>}
 */
export function createFinder({ say, signal }) {
  const failing = new AbortController()
  const ending = AbortSignal.any([signal, failing.signal])
  return spec =>
    findTool(spec, { say, signal: ending }).catch(error => {
      failing.abort(error)
      throw error
    })
}

export function chooseSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}

export function stampNow() {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
}

/**
 * Where to run; null when this program was started again inside a systemd scope that can cap.
 * @param {any} options
 * @param {Context} context
 * @returns {Promise<Site | null>}
 * @throws {UsageError} where no results can be written
 */
export async function openSite(options, context) {
  const { cpu, target, context: name, node, loadNode, namespace, image, samples, generator, out } = options
  if (out) assertOut(out)
  const { signal, end, say } = context
  assertLoadHost(options)
  // Two sites of one process are two runs.
  const runId = `${stampNow()}-${process.pid}-${randomBytes(2).toString('hex')}${target === 'kubernetes' ? '-k8s' : ''}`
  if (target === 'kubernetes') {
    await makeRoom(await findCapWay(), context)
    const { openKubernetesSite } = await import('../targets/kubernetes/site.js')
    return openKubernetesSite({
      ...{ runId, context: name ?? null, node: node ?? null, loadNode: loadNode ?? null },
      ...{ namespace: namespace ?? null, images: image, loadTool: findLoad(generator).tool.name, signal },
      ...{ sampleSource: samples },
    })
  }
  const way = await findCapWay()
  if (way.how === 'systemd-run') {
    const [command, ...argv] = wrapInSystemdScope([process.execPath, ...process.argv.slice(1)])
    // It removes what it started by itself, however long that takes.
    const passed = { cancelSignal: signal, forceKillAfterDelay: /** @type {const} */ (false) }
    const { exitCode } = await execa(command, argv, { stdio: 'inherit', reject: false, ...passed })
    signal.throwIfAborted()
    end(exitCode ?? EXIT.failed)
    return null
  }
  if (way.how === 'none' && cpu !== 'none') throw new BenchError(`no CPU cap can be set here: ${way.reason}`)
  await makeRoom(way, context)
  assertRoom()
  const site = await openLocalSite({ runId, way, findTool: createFinder(context) })
  const { loadHost: host, address: asked = null } = options
  if (!host) return site
  const { openLoadHostSite } = await import('../targets/load-host/site.js')
  return openLoadHostSite({ site, host, asked, load: findLoad(generator), say, signal })
}

/**
 * @param {any} options
 * @throws {UsageError} where they do not go together
 */
export function assertLoadHost({ loadHost, address, target }) {
  if (address && !loadHost)
    throw new UsageError(`--address ${address} needs --load-host: it is where the load of another machine goes`)
  if (loadHost && target === 'kubernetes')
    throw new UsageError(`--load-host ${loadHost}: on Kubernetes, --load-node chooses where the load is made`)
}

/**
 * Removes what killed runs left here, and says which run goes on beside this one.
 * @param {CapWay} way
 * @param {Pick<Context, 'say'>} context
 */
async function makeRoom(way, { say }) {
  const { removed, failed } = await cleanUpLocal({ way })
  if (removed.length > 0) say(`removed what a killed run left: ${removed.join(', ')}`)
  if (failed.length > 0) say(`cannot remove what a killed run left: ${failed.join('; ')}`)
  for (const { state, owner } of readLedgers()) {
    if (state !== 'alive' || owner === null || owner.pid === process.pid) continue
    say(
      `another run is in progress here, process ${owner.pid} (${owner.command.join(' ')}): the two disturb each other's figures`,
    )
  }
}

/**
 * An experiment and what was asked beside it.
 * @param {Experiment} experiment
 * @param {any} options words of the command line
 * @returns {{ experiment: Experiment, overrides: Overrides, thresholds: string[] | undefined, load: LoadGenerator }}
 * @throws {UsageError} where the experiment does not run on the target
 */
export function readAsked(experiment, options) {
  const { target = 'local', p99, threshold: thresholds } = options
  if (!experiment.targets.includes(target)) {
    throw new UsageError(`${experiment.name} runs on ${experiment.targets.join(' and ')} only`)
  }
  if (experiment.axes.sidecars && options.samples === 'kubelet')
    throw new UsageError(
      `--samples kubelet: ${experiment.name} needs the reader on the node, which asks the sidecars: leave it out`,
    )
  const { search } = experiment
  const limited =
    search && search.kind !== 'services' && p99 ? { ...experiment, search: { ...search, p99Ms: p99 } } : experiment
  return { experiment: limited, overrides: readOverrides(options), thresholds, load: findLoad(options.generator) }
}

/**
 * @param {any} options
 * @returns {Overrides}
 */
function readOverrides(options) {
  if (options.precision && options.yes)
    throw new UsageError(
      '--precision ends at --max-minutes: leave out --yes, and set --max-minutes to the time that the run may take',
    )
  return {
    planes: options.planes ?? null,
    controls: options.control ?? null,
    realMost: options.real ?? null,
    caps: options.cpu ?? null,
    axes: readAxes(options),
    rounds: options.rounds ?? null,
    ...(options.precision && { precision: { width: options.precision, maxMinutes: options.maxMinutes } }),
    profile: options.profile,
    seed: options.seed ?? chooseSeed(),
    app: options.app ?? 'pipy',
    isPinned: options.pin,
    isLoadElsewhere: options.loadHost !== undefined,
    // The window is read in the load's log, through the API server.
    warmupLeastSeconds: options.target === 'kubernetes' ? CLUSTER_WARMUP_SECONDS : 0,
    windowLeastSeconds: options.samples === 'kubelet' ? KUBELET_WINDOW_SECONDS : 0,
  }
}

/**
 * @param {{ experiment: Experiment, options: any, site: Pick<Site, 'cpus' | 'cores' | 'limits' | 'findTool' | 'loadHost'> }} asked
 * @param {Pick<Context, 'say'>} context
 */
export async function prepareWith({ experiment, options, site }, { say }) {
  /** @type {string[]} */
  const said = []
  const preparation = await prepare({
    ...readAsked(experiment, options),
    app: options.app ?? null,
    site,
    say: line => said.push(line),
  })
  for (const { name, lack, advice } of findLacks(preparation)) {
    const how = options.target === 'kubernetes' ? '' : `: ${advice}`
    say(`${name} is missing, so this run lacks ${lack}${how}`)
  }
  for (const line of said) say(line)
  const { plan, layout } = preparation
  const ports = plan.arms.map(({ link, hasSidecars }) => findEntryPort(layout.topologies[link], hasSidecars))
  await site.loadHost?.rehearse([...new Set(ports)])
  return preparation
}

/**
 * Programs that are not here, without which the run lacks what the kit is for.
 * @param {Pick<Preparation, 'plan' | 'programs'>} preparation
 */
function findLacks({ plan, programs }) {
  const planes = plan.notMeasured.map(({ plane }) => plane)
  return dataPlanes.flatMap(({ name, tool }) =>
    tool?.ifMissing && planes.includes(name) && !(tool.name in programs.tools) ? [{ name, ...tool.ifMissing }] : [],
  )
}

/**
 * The last line of a run: what it lacked.
 * @param {Pick<Preparation, 'plan' | 'programs'>} preparation
 * @param {Pick<Context, 'say'>} context
 */
export function sayLacks(preparation, { say }) {
  for (const { name, lack } of findLacks(preparation))
    say(`${name} was missing, so this run lacks ${lack}; the first line says what to do`)
}

/**
 * @param {Plan} plan
 * @param {{ maxMinutes: number, yes?: boolean }} options
 * @throws {UsageError} where it takes longer than was agreed to
 */
export function assertShort(plan, { maxMinutes, yes }) {
  const minutes = Math.ceil(estimatePlanSeconds(plan) / 60)
  if (minutes > maxMinutes && !yes) {
    throw new UsageError(
      `${plan.experiment} would take about ${minutes} min, more than ${maxMinutes} (--max-minutes): add --yes to run it, or ask for less (${plan.search ? 'a higher --rate, --planes' : '--profile quick, --rounds, --planes'})`,
    )
  }
}

/** What is said before a plan runs. @param {Plan & { notes: string[] }} plan */
export function announce(plan) {
  const { notes, notMeasured, trials, settings, search, precision } = plan
  const what = search ? `a search of up to ${countSearchTrials(search)} trials an arm` : `${trials.length} trials`
  const most = precision ? 'at most ' : ''
  return [
    ...notes.map(note => `note: ${note}`),
    ...notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    `${most}${what}, about ${Math.ceil(estimatePlanSeconds(plan) / 60)} min (profile ${settings.profile})`,
  ]
}
