import { callSafely } from '../lib/call-safely.js'
import { BenchError } from '../lib/errors.js'
import { estimatePlanSeconds, estimateSeconds } from '../plan/plan.js'
import { writeDocument } from '../records/files.js'
import { appendTrial, copyTrial, removeRaw, renderRawName, writeObservation } from '../records/write.js'
import { createStandingServices } from './standing-services.js'
import { runTrial } from './trial.js'

/**
 * @import { Arm, Manifest, Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Watcher } from './events.js'
 * @import { Execution } from './execute.js'
 * @import { GateParity, Kind, PartContext, Testbed } from './kind.js'
 * @import { Assess } from './stopping-rule.js'
 * @import { StandingServices } from './standing-services.js'
 */

const NOTHING_REUSABLE = { takeRecord: () => null }
const NO_OTHER_RUN = { awaitTurn: async () => {}, endTurn: () => {} }
/** The assessment of a run without a precision. @type {Assess} */
const assessAsUnknown = () => ({ isReached: false, hasPairs: true, roundsMore: null, sentence: '' })

/**
 * The progress of a run at the start of a trial.
 * @typedef {object} TrialProgress
 * @property {string} progress such as 'repeat 2 of 6'
 * @property {number} [secondsLeft] of the run, from the start of this trial; absent: not known
 */
/**
 * Runs a trial and appends its record, or returns the record if there is one already.
 * @typedef {(options: { trial: Trial } & TrialProgress) => Promise<TrialRecord>} RunTrial
 */
/**
 * Runs trials of interleaved arms, which stand at the same time, and appends their records. If all are recorded already, it returns
 * these; if only some are, all are run again.
 * @typedef {(options: { trials: Trial[] } & TrialProgress) => Promise<TrialRecord[]>} RunTrials
 */

/**
 * @typedef {object} RunOptions
 * @property {Plan} plan
 * @property {Omit<Testbed, 'kind'>} testbed
 * @property {Kind[]} kinds one for each part of the plan, in order
 * @property {Omit<Manifest, 'parity'>} manifest
 * @property {Partial<Execution>} [execution]
 * @property {Watcher} watcher
 * @property {AbortSignal} signal
 * @property {GateParity} gate checks the planes for equal work
 */
/**
 * State that all parts of a run share.
 * @typedef {object} RunContext
 * @property {Omit<Testbed, 'kind'>} testbed
 * @property {Required<Pick<Execution, 'turns' | 'reusable' | 'assess'>>} execution
 * @property {StandingServices} standing
 * @property {Map<string, TrialRecord>} recorded records of an interrupted run, by the id of the trial
 * @property {number} recordedRounds the rounds in the manifest
 * @property {() => number} nextIndex returns a number that no other start of services has
 * @property {PartContext['writeManifest']} writeManifest
 * @property {PartContext['announce']} announce
 * @property {Watcher} watcher
 * @property {AbortSignal} signal
 */

/**
 * Runs a plan: checks that the planes do equal work, then measures one kind after the other. Arms that do not serve are left
 * out. The manifest and the records so far stay on disk also if it throws; `ended` in the manifest has the outcome.
 * @param {RunOptions} options
 * @throws {BenchError} if no arm serves, no pair is left for a precision, or the manifest or a record cannot be written; an error of
 *   a kind or the target; the signal's reason when it aborts
 */
export async function runPlan({ plan, testbed, kinds, manifest, execution = {}, watcher, signal, gate }) {
  const { retain = false, turns = NO_OTHER_RUN, reusable = NOTHING_REUSABLE, assess = assessAsUnknown } = execution
  const { watch } = watcher
  const standing = createStandingServices({ keepsServices: plan.settings.keepsServices, retains: retain })
  const writeManifest = createManifestWriter(testbed.folders.results, { parity: [], ...manifest, ended: null })
  let index = 0
  /** @type {RunContext} */
  const context = {
    testbed,
    execution: { turns, reusable, assess },
    standing,
    recorded: execution.interrupted?.records ?? new Map(),
    recordedRounds: manifest.rounds,
    nextIndex: () => index++,
    writeManifest,
    announce: planned => watch?.(createPlannedEvent(planned, manifest.run.id)),
    watcher,
    signal,
  }
  /** @type {'finished' | 'interrupted' | 'failed'} */
  let outcome = 'failed'
  try {
    writeManifest({})
    context.announce(plan)
    await turns.awaitTurn()
    watch?.({ kind: 'phase', phase: 'parity', atMs: Date.now() })
    const served = await checkArms(context, { plan, kind: kinds[0], gate, cache: execution.parityCache })
    for (const [partIndex, kind] of kinds.entries()) await measurePart(context, { plan: served, kind, partIndex })
    // An abort at the end of the last trial has removed the services to retain: the run is then not finished.
    signal.throwIfAborted()
    writeManifest({ ended: 'finished' })
    outcome = 'finished'
  } finally {
    if (signal.aborted) outcome = 'interrupted'
    // The disk may be full: throw the error that ended the run, not that of this write.
    if (outcome !== 'finished') callSafely(() => writeManifest({ ended: outcome }), null)
    watch?.({ kind: 'ended', outcome, atMs: Date.now() })
    await standing.end({ isFinished: outcome === 'finished' })
  }
}

/**
 * Creates the function that changes fields of the manifest, and writes all of it.
 * @param {string} folder of the results
 * @param {Manifest} manifest
 * @returns {PartContext['writeManifest']} throws a BenchError if the manifest cannot be written
 */
function createManifestWriter(folder, manifest) {
  let current = manifest
  return fields => {
    current = { ...current, ...fields }
    writeDocument(folder, 'manifest.json', current)
    return current
  }
}

/**
 * Creates the event of a plan that is known or has changed.
 * @param {Plan} plan
 * @param {string} id of the run
 * @returns {import('./events.js').Planned}
 */
function createPlannedEvent(plan, id) {
  const { experiment, question, arms, rounds, trials, settings } = plan
  const run = { id, experiment, question }
  const length = { rounds, trials: trials.length || null, seconds: estimatePlanSeconds(plan) }
  return { kind: 'planned', run, arms, ...length, contrasts: settings.shows.contrasts, atMs: Date.now() }
}

/**
 * Checks that the planes do equal work, and removes the arms that do not serve from the plan and the manifest.
 * @param {RunContext} context
 * @param {{ plan: Plan, kind: Kind, gate: GateParity, cache: Execution['parityCache'] }} options kind: whose services are started
 * @returns {Promise<Plan>} `plan` itself if all arms serve
 * @throws {BenchError} if no arm serves, or a run until a precision has no pair of planes left; the signal's reason when it aborts
 */
async function checkArms(context, { plan, kind, gate, cache }) {
  const { testbed, execution, nextIndex, writeManifest, announce, watcher, signal } = context
  const { say } = watcher
  const arms = kind.hasRequests === false ? [] : plan.arms
  /** @type {{ arms: Arm[], reason: string }[]} */
  const failures = []
  const leaveOut = (/** @type {Arm[]} */ failed, /** @type {string} */ reason) =>
    void failures.push({ arms: failed, reason })
  const parity = await gate({ testbed: { ...testbed, kind }, arms, nextIndex, signal, say, cache, leaveOut })
  const manifest = writeManifest({ parity })
  if (failures.length === 0) return plan
  const { removeFailedArms } = await import('../plan/lost-arms.js')
  const served = removeFailedArms(plan, failures)
  // If no pair of planes is left to compare, no number of rounds makes a ratio precise.
  if (plan.precision) {
    const { hasPairs } = execution.assess({ manifest: { ...manifest, arms: served.arms }, records: [] })
    if (!hasPairs) throw new BenchError(failures[0].reason)
  }
  for (const { plane, reason } of served.notMeasured.slice(plan.notMeasured.length))
    say(`not measured: ${plane}: ${reason}`)
  const calibrations = manifest.calibrations.filter(({ armId }) => served.calibrations.some(({ id }) => id === armId))
  writeManifest({ arms: served.arms, notMeasured: served.notMeasured, calibrations })
  announce(served)
  return served
}

/**
 * Measures a part of the plan, which has one kind of trial.
 * @param {RunContext} context
 * @param {{ plan: Plan, kind: Kind, partIndex: number }} options
 * @throws an error of the kind, such as the signal's reason when it aborts
 */
async function measurePart(context, { plan, kind, partIndex }) {
  const { execution, recorded, recordedRounds, writeManifest, announce, watcher, signal } = context
  const { say, watch } = watcher
  const testbed = { ...context.testbed, kind }
  const runTrials = createTrialRunner({ ...context, testbed })
  const laterTrials = plan.parts.slice(partIndex + 1).flatMap(({ trials }) => trials)
  await kind.measure({
    plan: { ...plan, ...plan.parts[partIndex] },
    cpus: testbed.site.cpus,
    run: async ({ trial, ...progress }) => (await runTrials({ trials: [trial], ...progress }))[0],
    runTrials,
    adopt(earlier, planned) {
      const trial = { ...planned, kind: kind.name }
      const record = { ...earlier.record, trial }
      copyTrial({ from: earlier.folder, to: testbed.folders.results, record: earlier.record, trial })
      watch?.({ kind: 'trial-ended', record, progress: null, atMs: Date.now() })
      return record
    },
    ...execution,
    recordedRounds,
    isRecorded: ({ id }) => recorded.has(id),
    writeManifest,
    announce,
    secondsAfter: estimateSeconds(laterTrials),
    say,
    watch,
    signal,
  })
}

/**
 * Creates the function that runs trials of arms that stand at the same time, and writes their records and raw files.
 * @param {Pick<RunContext, 'standing' | 'recorded' | 'nextIndex' | 'watcher' | 'signal'> & { testbed: Testbed }} options
 * @returns {RunTrials} rejects as `runTrial`, or if a record or a raw file cannot be written
 */
function createTrialRunner({ testbed, standing, recorded, nextIndex, watcher: { watch, follow }, signal }) {
  const folder = testbed.folders.results
  return async ({ trials: planned, progress, secondsLeft = null }) => {
    const trials = planned.map(trial => ({ ...trial, kind: testbed.kind.name }))
    const knownRecords = trials.flatMap(({ id }) => recorded.get(id) ?? [])
    if (knownRecords.length === trials.length) {
      for (const record of knownRecords) watch?.({ kind: 'trial-ended', record, progress: null, atMs: Date.now() })
      return knownRecords
    }
    for (const name of new Set(trials.flatMap(trial => [trial.id, renderRawName(trial)]))) removeRaw(folder, name)
    for (const trial of trials) watch?.({ kind: 'trial-started', trial, progress, secondsLeft, atMs: Date.now() })
    const { records, ...observed } = await runTrial({
      testbed,
      trials,
      nextStart: nextIndex,
      standing,
      watch: follow,
      signal,
    })
    // A resumed run skips recorded trials, so the raw files have to be whole before the record is written.
    writeObservation(folder, { trial: trials[0], ...observed })
    for (const record of records) appendTrial(folder, record)
    for (const record of records) watch?.({ kind: 'trial-ended', record, progress, atMs: Date.now() })
    return records
  }
}
