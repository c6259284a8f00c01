import path from 'node:path'
import { readKit } from '../lib/kit.js'
import { IDLE_LEAST } from '../model/bounds.js'
import { METHOD_VERSION, SCHEMA_VERSION } from '../model/versions.js'
import { OBSERVE_SECONDS } from '../plan/rounds.js'
import { removeTruncatedLines } from '../records/write.js'
import { listDeployedProfiles } from '../services/profiles.js'
import { issueRunCertificates } from './certificates.js'
import { runPlan } from './run.js'
import { hashScripts, locateKitScripts } from './scripts.js'

/**
 * @import { Layout, Manifest, Plan, Programs, Site } from '../model/types.ts'
 * @import { Watcher } from './events.js'
 * @import { GateParity, Kind, ParityCache } from './kind.js'
 * @import { Interrupted } from './resume.js'
 * @import { Reusable } from './reusable.js'
 * @import { Turns } from './rounds.js'
 * @import { Assess } from './stopping-rule.js'
 */

/**
 * All that a run needs except a place.
 * @typedef {{ plan: Plan & { notes: string[] }, programs: Programs, layout: Layout }} Preparation
 */

/**
 * @typedef {object} Execution
 * @property {string[]} command is only recorded in the manifest
 * @property {string[]} [thresholds] likewise
 * @property {boolean} [retain] leaves the services of the last trial running
 * @property {Reusable} [reusable] trials of earlier runs that a search may take
 * @property {Interrupted} [interrupted] the run to resume, whose recorded trials are not run again
 * @property {ParityCache} [parityCache] absent: every equal-work check is made
 * @property {Turns} [turns] absent: no other run is in progress beside this one
 * @property {Assess} [assess] computes after each round how precise the run is; absent: the plan has no precision
 * @property {string} [echoScripts] the folder of other applications than the kit's
 */

/**
 * @typedef {object} ExecutionOptions
 * @property {Preparation} preparation
 * @property {Kind[]} kinds one for each of the plan's parts, in their order
 * @property {Site} site
 * @property {string} folder of the results, empty or that of the run to resume
 * @property {Execution} execution
 * @property {Watcher} watcher
 * @property {AbortSignal} signal
 * @property {GateParity} gate
 */

/**
 * Runs a plan: issues certificates, reads how idle the machine is, writes the manifest and runs the trials. The manifest and
 * the records so far stay in the folder also if it throws.
 * @param {ExecutionOptions} options
 * @throws {BenchError} as `runPlan`, or if certificates cannot be written; a UsageError if a resumed run differs from its start; the
 *   system's error if scripts or the kit's code cannot be read; an error of the target; the signal's reason when it aborts
 */
export async function executePlan({ preparation, kinds, site, folder, execution, watcher, signal, gate }) {
  const { programs, layout } = preparation
  const { command, thresholds = [], retain = false, echoScripts, interrupted } = execution
  const resume = interrupted && (await import('./resume.js'))
  const plan = resume ? resume.leaveOutFailedArms(preparation.plan, interrupted.manifest) : preparation.plan
  const startedAt = new Date().toISOString()
  const { certificates, close } = await issueRunCertificates({
    ledger: site.ledger,
    plan,
    topologies: layout.topologies,
    hasAuthorityKey: plan.arms.some(arm => programs.planes[arm.plane].isCertified),
  })
  let isWhole = false
  try {
    const before = await observeIdleMachine(site, signal)
    if (before) warnIfBusy(before, watcher.say)
    const kitScripts = locateKitScripts(programs)
    const scripts = { ...kitScripts, echo: echoScripts ?? kitScripts.echo }
    const prepared = { plan, programs, layout }
    const firstManifest = await createFirstManifest({ preparation: prepared, site, scripts, startedAt, before })
    const runManifest = { ...firstManifest, thresholds, command }
    /** @type {typeof runManifest} */
    let manifest = runManifest
    if (resume) {
      resume.assertSamePlan({ interrupted, plan, now: { ...firstManifest, layout } })
      removeTruncatedLines(folder)
      manifest = resume.createResumedManifest({ interrupted, known: runManifest })
    }
    const folders = { ...scripts, results: folder, raw: path.join(folder, 'raw'), certificates }
    const testbed = { site, programs, layout, folders, settings: plan.settings }
    await runPlan({ plan, testbed, kinds, manifest, execution, watcher, signal, gate })
    isWhole = true
  } finally {
    // A run that was cut short has removed its services: nothing needs its keys.
    close({ retain: retain && isWhole })
  }
}

/**
 * Creates the part of the manifest that is known before anything runs.
 * @param {object} options
 * @param {Omit<Preparation, 'plan'> & { plan: Plan }} options.preparation
 * @param {Site} options.site
 * @param {ReturnType<typeof locateKitScripts>} options.scripts
 * @param {string} options.startedAt ISO 8601
 * @param {IdleTimes | null} options.before null: not known
 * @returns {Promise<Omit<Manifest, 'parity' | 'thresholds' | 'command'>>}
 * @throws the system's error if scripts or the kit's code cannot be read
 */
async function createFirstManifest({ preparation: { plan, programs, layout }, site, scripts, startedAt, before }) {
  // Searches choose their trials as they go: each record has its placement.
  const deployed = listDeployedProfiles(programs.planes, plan.arms)
  const placedArms = plan.trials.length === 0 ? [] : [...plan.arms, ...plan.calibrations]
  return {
    schemaVersion: SCHEMA_VERSION,
    methodVersion: METHOD_VERSION,
    run: { id: site.runId, startedAt, experiment: plan.experiment, seed: plan.seed },
    question: plan.question,
    claims: plan.claims,
    kit: await readKit(),
    target: site.target.name,
    machine: { ...site.machine, before },
    tools: programs.tools,
    scripts: hashScripts({ arms: plan.arms, programs, folders: scripts }),
    ...(deployed.length > 0 && { deployed }),
    settings: plan.settings,
    ...(plan.precision
      ? { rounds: 1, precision: { width: plan.precision.width, mostRounds: plan.rounds, ended: null } }
      : { rounds: plan.rounds }),
    arms: plan.arms,
    search: plan.search,
    // Rates are set when all calibrations have run: a run that is cut short before has only their records.
    calibrations: plan.calibrations.map(({ id }) => ({
      armId: id,
      ratePerSecond: null,
      boundBy: null,
      trialId: `r1-${id}`,
    })),
    placements: Object.fromEntries(placedArms.map(arm => [arm.id, layout.placementOf(arm)])),
    notMeasured: plan.notMeasured,
    topologies: layout.topologies,
  }
}

/**
 * The idle and stolen fractions of the CPU time of all CPUs in an observation of so many seconds.
 * @typedef {{ seconds: number, idleFraction: number, stealFraction: number }} IdleTimes
 */

/**
 * Observes for OBSERVE_SECONDS how idle the machine is before the run.
 * @param {Site} site
 * @param {AbortSignal} signal
 * @returns {Promise<IdleTimes | null>} null: the target reads by the kubelet, or an edge could not be read
 * @throws the signal's reason when it aborts; an error of the target
 */
async function observeIdleMachine(site, signal) {
  // The kubelet updates its counters too seldom for a window of a second.
  if (site.sampleSource === 'kubelet') return null
  const startMs = Date.now() + 100
  const window = { startMs, endMs: startMs + OBSERVE_SECONDS * 1000 }
  const { start, end } = await site.target.observe([], { window, signal })
  signal.throwIfAborted()
  if (start === null || end === null) return null
  const total = end.host.total - start.host.total
  const idleFraction = (end.host.idle - start.host.idle) / total
  const stealFraction = (end.host.steal - start.host.steal) / total
  return { seconds: OBSERVE_SECONDS, idleFraction, stealFraction }
}

/**
 * Prints a note if the machine is less idle than IDLE_LEAST.
 * @param {IdleTimes} before
 * @param {Watcher['say']} say
 */
function warnIfBusy({ idleFraction, stealFraction }, say) {
  const stolen = stealFraction > 0.01 ? `, ${Math.round(100 * stealFraction)} % stolen by its host` : ''
  if (idleFraction < IDLE_LEAST)
    say(`note: this machine is ${Math.round(100 * idleFraction)} % idle before the run${stolen}: expect wide intervals`)
}
