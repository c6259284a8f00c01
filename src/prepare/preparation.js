import { KINDS, listKinds } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderMinutes } from '../lib/units.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { estimateMostSeconds, estimatePlanSeconds } from '../plan/plan.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { findEntryPort } from '../services/topology.js'
import { readAxes } from './options.js'
import { prepare } from './prepare.js'
import { listLackingPlanes } from './programs.js'

/**
 * A run before it starts: from the options of the command line to a plan, which is announced.
 * @import { Site } from '../model/types.ts'
 * @import { Experiment } from '../request/experiment.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Interrupted } from '../run/resume.js'
 * @import { Context } from '../verbs/program.js'
 * @import { RunOptions } from './options.js'
 */

// The kubelet renews its counters every 10 to 20 s: the edges of a window of two minutes would be too far from them.
const KUBELET_WINDOW_SECONDS = 180
const CLUSTER_WARMUP_SECONDS = 3

/** Draws a random seed. @returns {number} a whole number of 31 bits */
export function drawSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}

/**
 * Creates the request for a plan, from an experiment and the options of the command line.
 * @param {Experiment} experiment
 * @param {RunOptions} options
 * @returns {import('./prepare.js').PlanRequest}
 * @throws {UsageError} for options that exclude each other
 */
export function createPlanRequest(experiment, options) {
  assertCombination(SITE_OPTIONS, options)
  // A kind with a bound on the p99 runs alone (`listKinds`), so it is the first; if several run, none has such a bound.
  const [firstKind] = listKinds(experiment)
  const { withP99Bound } = KINDS[firstKind]
  const { p99: p99Ms, threshold: thresholds } = options
  return {
    experiment: withP99Bound && p99Ms ? withP99Bound(experiment, p99Ms) : experiment,
    overrides: readOverrides(options),
    thresholds,
  }
}

/**
 * Reads the options that override an experiment. Without --seed a seed is drawn; without --app Pipy serves the
 * applications.
 * @param {RunOptions} options
 * @returns {import('../request/question.js').Overrides} null: the experiment is not overridden
 */
function readOverrides(options) {
  const { precision: width, maxMinutes, generator } = options
  return {
    planes: options.planes ?? null,
    controls: options.control ?? null,
    realMost: options.real ?? null,
    cpuLimits: options.cpu ?? null,
    axes: readAxes(options),
    rounds: options.rounds ?? null,
    ...(options.measure && { measure: options.measure }),
    ...(width && { precision: { width, maxMinutes } }),
    profile: options.profile,
    seed: options.seed ?? drawSeed(),
    app: options.app ?? 'pipy',
    isPinned: options.pin,
    isLoadElsewhere: options.loadHost !== undefined,
    // On a cluster, the kit reads from the load's log, through the API server, when the window begins: that takes a while.
    warmupLeastSeconds: options.target === 'kubernetes' ? CLUSTER_WARMUP_SECONDS : 0,
    target: options.target ?? 'local',
    ...(options.samples && { samples: options.samples }),
    ...(options.p99 && { p99Ms: options.p99 }),
    ...(generator !== DEFAULT_GENERATOR && { generator }),
    ...(options.burst && { burstFactor: options.burst }),
    windowLeastSeconds: options.samples === 'kubelet' ? KUBELET_WINDOW_SECONDS : 0,
  }
}

/**
 * Prepares a run, prints which programs are missing, and checks that the site can run it.
 * @param {object} options
 * @param {Experiment} options.experiment
 * @param {RunOptions} options.options
 * @param {Pick<Site, 'cpus' | 'cores' | 'limits' | 'findTool' | 'loadHost' | 'assertCpuSettings' | 'assertInterception'>} options.site
 * @param {Pick<Context, 'say'>} context
 * @returns {Promise<Preparation>}
 * @throws {BenchError} if it cannot run
 */
export async function prepareRun({ experiment, options, site }, { say }) {
  /** @type {string[]} */
  const lines = []
  const preparation = await prepare({
    ...createPlanRequest(experiment, options),
    app: options.app ?? null,
    site,
    say: line => lines.push(line),
  })
  for (const { name, lack, advice } of listLackingPlanes(preparation)) {
    const adviceSuffix = options.target === 'kubernetes' ? '' : `: ${advice}`
    say(`${name} is missing, so this run lacks ${lack}${adviceSuffix}`)
  }
  lines.forEach(say)
  const { plan, layout } = preparation
  site.assertCpuSettings(plan.arms.map(({ conditions }) => conditions))
  if (plan.arms.some(({ conditions }) => conditions.interception !== undefined))
    await site.assertInterception().catch(async error => {
      const { createNamespacesError } = await import('./own-pipelines.js')
      throw createNamespacesError(preparation.programs.pipelines, error)
    })
  const ports = plan.arms.map(({ link, hasSidecars }) => findEntryPort(layout.topologies[link], hasSidecars))
  await site.loadHost?.rehearse([...new Set(ports)])
  return preparation
}

/**
 * Prints which programs were missing in a run, as its last lines.
 * @param {Preparation} preparation
 * @param {Pick<Context, 'say'>} context
 */
export function announceLacks(preparation, { say }) {
  for (const { name, lack } of listLackingPlanes(preparation))
    say(`${name} was missing, so this run lacks ${lack}; the first line says what to do`)
}

/**
 * Prints what is about to run, and how long it takes.
 * @param {{ plan: Preparation['plan'], options: Pick<RunOptions, 'maxMinutes' | 'yes'>, interrupted?: Interrupted }}
 *   planned interrupted: the run that this one resumes
 * @param {Pick<Context, 'say'>} context
 * @throws {UsageError} if it takes longer than --max-minutes, without --yes
 */
export function announceRun({ plan, options: { maxMinutes, yes }, interrupted }, { say }) {
  const { experiment, parts, notes, notMeasured, trials, settings, precision } = plan
  const seconds = estimatePlanSeconds(plan)
  const words = KINDS[parts[0].kind].summarisePlan?.(plan)
  const workload = words?.announced ?? `${trials.length} trials`
  for (const note of notes) say(`note: ${note}`)
  for (const { plane, reason } of notMeasured) say(`not measured: ${plane}: ${reason}`)
  const time = renderMinutes(seconds, estimateMostSeconds(plan))
  const profile = words?.hasProfile === false ? '' : ` (profile ${settings.profile})`
  say(`${precision ? 'at most ' : ''}${workload}, ${time}${profile}`)
  if (interrupted) say(`${interrupted.records.size} trials are recorded in ${interrupted.folder} and not run again`)
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= maxMinutes || yes) return
  const less = words?.less ?? '--profile quick, --rounds, --planes'
  throw new UsageError(
    `${experiment} would take about ${minutes} min, more than ${maxMinutes} (--max-minutes): add --yes to run it, or ask for less (${less})`,
  )
}
