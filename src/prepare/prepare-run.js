import { KINDS, listKinds } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderMinutes } from '../lib/units.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { estimateMostSeconds, estimatePlanSeconds } from '../plan/plan.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { chooseEntryPort } from '../services/topology.js'
import { readAxisOptions } from './options.js'
import { createPreparation } from './plan-run.js'
import { listLackingPlanes } from './programs.js'

/**
 * Prepares a run from the options of the command line, and announces it before it starts.
 * @import { Site } from '../model/types.ts'
 * @import { Experiment } from '../request/experiment.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Interrupted } from '../run/resume.js'
 * @import { Context } from '../verbs/program.js'
 * @import { RunOptions } from './options.js'
 */

// The kubelet renews its counters every 10 to 20 s, which is too seldom for the edges of a window of two minutes.
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
 * @returns {import('./plan-run.js').PlanRequest} overrides: as `createOverrides`; experiment: with --p99 as its
 *   bound, if it has one
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
    overrides: createOverrides(options),
    thresholds,
  }
}

/**
 * Creates the overrides of an experiment from the options of the command line. Without --seed a seed is drawn; without --app the plan
 * takes Pipy for the applications, until `createPreparation` knows whether it is here.
 * @param {RunOptions} options
 * @returns {import('../request/question.js').Overrides}
 */
function createOverrides(options) {
  const { precision: width, maxMinutes, generator } = options
  return {
    planes: options.planes ?? null,
    controls: options.control ?? null,
    realMost: options.real ?? null,
    cpuLimits: options.cpu ?? null,
    axes: readAxisOptions(options),
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
 * Prepares a run, prints which programs are missing, and checks that the site can run it. On a load host it rehearses the load.
 * @param {object} options
 * @param {Experiment} options.experiment
 * @param {RunOptions} options.options
 * @param {Pick<Site, 'cpus' | 'cores' | 'limits' | 'findTool' | 'loadHost' | 'assertCpuSettings' | 'assertInterception'>} options.site
 * @param {Pick<Context, 'say'>} context
 * @returns {Promise<Preparation>}
 * @throws {UsageError} for a request that cannot be measured; {BenchError} for a missing program, or if the site cannot run it; as
 *   `createPreparation`
 */
export async function prepareRun({ experiment, options, site }, { say }) {
  /** @type {string[]} */
  const lines = []
  const preparation = await createPreparation({
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
  const ports = plan.arms.map(({ link, hasSidecars }) => chooseEntryPort(layout.topologies[link], hasSidecars))
  await site.loadHost?.rehearse([...new Set(ports)])
  return preparation
}

/**
 * Prints which programs were missing in a run, a line each.
 * @param {Preparation} preparation
 * @param {Pick<Context, 'say'>} context
 */
export function announceLacks(preparation, { say }) {
  for (const { name, lack } of listLackingPlanes(preparation))
    say(`${name} was missing, so this run lacks ${lack}; the first line says what to do`)
}

/**
 * Prints the trials that are about to run, the time that they take, and the arms and planes that are left out.
 * @param {{ plan: Preparation['plan'], interrupted?: Interrupted }} run interrupted: the run that this one resumes
 * @param {Pick<Context, 'say'>} context
 */
export function announceRun({ plan, interrupted }, { say }) {
  const { parts, notes, notMeasured, trials, settings, precision } = plan
  const words = KINDS[parts[0].kind].summarisePlan?.(plan)
  const workload = words?.announced ?? `${trials.length} trials`
  for (const note of notes) say(`note: ${note}`)
  for (const { plane, reason } of notMeasured) say(`not measured: ${plane}: ${reason}`)
  const time = renderMinutes(estimatePlanSeconds(plan), estimateMostSeconds(plan))
  const profile = words?.hasProfile === false ? '' : ` (profile ${settings.profile})`
  say(`${precision ? 'at most ' : ''}${workload}, ${time}${profile}`)
  if (interrupted) say(`${interrupted.records.size} trials are recorded in ${interrupted.folder} and not run again`)
}

/**
 * Asserts that a run takes no longer than --max-minutes, unless --yes is set.
 * @param {Preparation['plan']} plan
 * @param {Pick<RunOptions, 'maxMinutes' | 'yes'>} options
 * @throws {UsageError} if it takes longer
 */
export function assertMaxMinutes(plan, { maxMinutes, yes }) {
  const minutes = Math.ceil(estimatePlanSeconds(plan) / 60)
  if (minutes <= maxMinutes || yes) return
  const words = KINDS[plan.parts[0].kind].summarisePlan?.(plan)
  const advice = words?.less ?? '--profile quick, --rounds, --planes'
  throw new UsageError(
    `${plan.experiment} would take about ${minutes} min, more than ${maxMinutes} (--max-minutes): add --yes to run it, or ask for less (${advice})`,
  )
}
