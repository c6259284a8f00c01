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
 * @import { GateParity } from './kind.js'
 * @import { Execution } from './execute.js'
 * @import { Kind } from './kind.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Testbed } from './kind.js'
 */

const NOTHING = { take: () => null }
/**
 * Creates the assessment of a run without a precision: it is never reached.
 * @returns {import('./rounds.js').Assessment}
 */
const createUnknownPrecision = () => ({ isReached: false, hasPairs: true, roundsMore: null, sentence: '' })
const ALONE = { take: async () => {}, pass: () => {} }

/**
 * The progress of a run at the start of a trial.
 * @typedef {object} TrialProgress
 * @property {string} progress such as 'repeat 2 of 6'
 * @property {number} [secondsLeft] of the run, from the start of this trial; absent: not known
 */
/**
 * Runs a trial and appends its record, or returns the record if there is one already.
 * @typedef {(options: { trial: Trial } & TrialProgress) => Promise<TrialRecord>} RunOne
 */
/**
 * Does so with trials of interleaved arms, which stand at the same time. If some are recorded and some are not, all are run
 * again.
 * @typedef {(options: { trials: Trial[] } & TrialProgress) => Promise<TrialRecord[]>} RunTogether
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
 * Runs a plan: checks that the planes do equal work, then measures one kind after the other. Arms that do not serve are left
 * out. The manifest and the records so far stay on disk also if it throws; `ended` in the manifest has the outcome.
 * @param {RunOptions} options
 * @throws {import('../lib/errors.js').BenchError} if no arm serves, or nothing can be recorded; the signal's reason when it
 *   aborts
 */
export async function runPlan({ plan, testbed, kinds, manifest, execution = {}, watcher, signal, gate }) {
  const {
    retain = false,
    turns = ALONE,
    reusable = NOTHING,
    assess = createUnknownPrecision,
    interrupted,
    parityCache: cache,
  } = execution
  const recorded = interrupted?.records ?? new Map()
  const { site, folders } = testbed
  const { say, watch } = watcher
  const standing = createStandingServices({ keepsServices: plan.settings.keepsServices, retains: retain })
  let index = 0
  const nextIndex = () => index++
  /** @type {Manifest} */
  let currentManifest = { parity: [], ...manifest, ended: null }
  const writeManifest = (/** @type {Partial<Manifest>} */ changes) => {
    currentManifest = { ...currentManifest, ...changes }
    writeDocument(folders.results, 'manifest.json', currentManifest)
    return currentManifest
  }
  const announce = (/** @type {Plan} */ planned) => {
    const { experiment, question, arms, rounds, trials, settings } = planned
    const run = { id: manifest.run.id, experiment, question }
    const length = { rounds, trials: trials.length || null, seconds: estimatePlanSeconds(planned) }
    watch?.({ kind: 'planned', run, arms, ...length, contrasts: settings.shows.contrasts, atMs: Date.now() })
  }

  /** @type {'finished' | 'interrupted' | 'failed'} */
  let outcome = 'failed'
  try {
    writeManifest({})
    announce(plan)
    await turns.take()
    watch?.({ kind: 'phase', phase: 'parity', atMs: Date.now() })
    const [kind] = kinds
    const arms = kind.hasRequests === false ? [] : plan.arms
    /** @type {{ arms: Arm[], reason: string }[]} */
    const failures = []
    const leaveOut = (/** @type {Arm[]} */ arms, /** @type {string} */ reason) => void failures.push({ arms, reason })
    const parity = await gate({ testbed: { ...testbed, kind }, arms, nextIndex, signal, say, cache, leaveOut })
    const measured = failures.length === 0 ? plan : (await import('../plan/left-out.js')).leaveOutFailed(plan, failures)
    writeManifest({ parity })
    // If no pair of planes is left to compare, no number of rounds makes a ratio precise.
    if (plan.precision && measured !== plan) {
      const { hasPairs } = assess({ manifest: { ...currentManifest, arms: measured.arms }, records: [] })
      if (!hasPairs) throw new BenchError(failures[0].reason)
    }
    if (measured !== plan) {
      const { arms, notMeasured } = measured
      for (const { plane, reason } of notMeasured.slice(plan.notMeasured.length))
        say(`not measured: ${plane}: ${reason}`)
      const isLeft = (/** @type {{ armId: string }} */ { armId }) =>
        measured.calibrations.some(({ id }) => id === armId)
      writeManifest({ arms, notMeasured, calibrations: currentManifest.calibrations.filter(isLeft) })
      announce(measured)
    }
    for (const [i, kind] of kinds.entries()) {
      const testbedOfKind = { ...testbed, kind }
      const laterTrials = measured.parts.slice(i + 1).flatMap(({ trials }) => trials)
      const runTogether = createRunTogether({ testbed: testbedOfKind, standing, recorded, nextIndex, watcher, signal })
      await kind.measure({
        plan: { ...measured, ...measured.parts[i] },
        cpus: site.cpus,
        run: async ({ trial, ...events }) => (await runTogether({ trials: [trial], ...events }))[0],
        runTogether,
        adopt(earlier, planned) {
          const trial = { ...planned, kind: kind.name }
          const record = { ...earlier.record, trial }
          copyTrial({ from: earlier.folder, to: folders.results, record: earlier.record, trial })
          watch?.({ kind: 'trial-ended', record, progress: null, atMs: Date.now() })
          return record
        },
        reusable,
        turns,
        assess,
        recordedRounds: manifest.rounds,
        isRecorded: ({ id }) => recorded.has(id),
        writeManifest,
        announce,
        secondsAfter: estimateSeconds(laterTrials),
        say,
        watch,
        signal,
      })
    }
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
 * Creates the function that runs trials of arms that stand at the same time.
 * @param {{ testbed: Testbed, standing: StandingServices, recorded: Map<string, TrialRecord>, nextIndex: () => number,
 *   watcher: Watcher, signal: AbortSignal }} options recorded: records by the id of the trial; nextIndex: returns a number
 *   that no other start has
 * @returns {RunTogether}
 */
function createRunTogether({ testbed, standing, recorded, nextIndex, watcher: { watch, follow }, signal }) {
  const folder = testbed.folders.results
  return async ({ trials: planned, progress, secondsLeft }) => {
    const trials = planned.map(trial => ({ ...trial, kind: testbed.kind.name }))
    const knownRecords = trials.flatMap(({ id }) => recorded.get(id) ?? [])
    if (knownRecords.length === trials.length) {
      for (const record of knownRecords) watch?.({ kind: 'trial-ended', record, progress: null, atMs: Date.now() })
      return knownRecords
    }
    for (const name of new Set(trials.flatMap(trial => [trial.id, renderRawName(trial)]))) removeRaw(folder, name)
    const left = secondsLeft ?? null
    for (const trial of trials) watch?.({ kind: 'trial-started', trial, progress, secondsLeft: left, atMs: Date.now() })
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
