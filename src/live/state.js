import { createSidecars } from '../judge/sidecars.js'
import { findRecordPart } from '../kinds/parts.js'
import { createRepeats } from './repeats.js'
import { createResults } from './results.js'

/**
 * Computes the state of a run from its events. Pure.
 * RunSnapshot: a run at its last event; null: not known, or not at this moment. Kept: the fields that events set. done: trials
 * of the plan that ended; nth: the number of this trial in the plan; trials: planned, null in a search; ratePerSecond: requests
 * between the last two counts; failed: requests of this trial; failedInAll: of the run; outcomes: numbers of trials.
 * @import { TrialRecord } from '../model/types.ts'
 * @import { Phase, RunEvent } from '../run/events.js'
 * @import { SidecarNow, SidecarSeries } from '../judge/sidecars.js'
 * @typedef {{ runId: string | null, experiment: string | null, question: string | null,
 *   phase: Phase | null, progress: string | null, done: number, nth: number | null, trials: number | null,
 *   ending: { outcome: 'finished' | 'interrupted' | 'failed' } | null }} Kept
 * @typedef {Kept & { secondsLeft: number | null, sidecars: SidecarNow[], ratePerSecond: number | null,
 *   arm: { name: string, what: string, link: string } | null, failed: number | null,
 *   failedInAll: number, outcomes: { completed: number, failed: number, invalid: number },
 *   parts: import('./repeats.js').PartSoFar[] }} RunSnapshot
 * @typedef {ReturnType<typeof createRunState>} RunState
 */

/** Makes the state of a run. A missing value is null, never 0. */
export function createRunState() {
  const results = createResults()
  const repeats = createRepeats()
  const sidecars = createSidecars()
  let version = 0
  let nowMs = Number.NEGATIVE_INFINITY
  let run = createInitialFields()
  /** @type {{ seconds: number, atMs: number } | null} */
  let left = null
  /** @type {import('../model/types.ts').Arm | null} */
  let arm = null
  const counter = createCounter()

  /** @type {{ [Kind in RunEvent['kind']]: (event: Extract<RunEvent, { kind: Kind }>) => void }} */
  const appliers = {
    planned(event) {
      const { id, experiment, question } = event.run
      results.plan(event)
      if (id !== run.runId) {
        run = { ...createInitialFields(), runId: id, experiment, question }
        counter.clear()
        arm = null
        sidecars.clear()
        repeats.clear()
      }
      repeats.plan(event)
      run.trials = event.trials
      left = { seconds: event.seconds, atMs: event.atMs }
    },
    'trial-started'({ trial, progress, secondsLeft, atMs }) {
      results.meet(trial.arm)
      arm = trial.arm
      if (results.isCounted(trial)) run.nth = run.done + 1
      Object.assign(run, { progress, phase: null })
      left = secondsLeft === null ? null : { seconds: secondsLeft, atMs }
      sidecars.clear()
      counter.begin()
    },
    phase({ phase }) {
      run.phase = phase
    },
    sampled: sidecars.sample,
    counted: counter.count,
    'trial-ended'({ record }) {
      results.meet(record.trial.arm)
      results.add(record)
      repeats.add(record)
      if (results.isCounted(record.trial)) run.done++
      run.phase = null
      counter.end(record.load?.failed ?? 0)
    },
    'repeat-ended'({ secondsLeft, atMs, ...ended }) {
      repeats.end(ended)
      if (secondsLeft > 0) left = { seconds: secondsLeft, atMs }
    },
    ended({ outcome }) {
      Object.assign(run, { phase: null, ending: { outcome } })
      left = null
    },
  }

  return {
    /** Applies an event. @param {RunEvent} event */
    apply(event) {
      version++
      // Samples come late, and a node's clock may be behind ours.
      nowMs = Math.max(nowMs, event.kind === 'sampled' ? event.sample.epochMs : event.atMs)
      appliers[event.kind](/** @type {any} */ (event))
    },
    /**
     * Says whether the line of its repeat covers a trial: false in a search, and of kinds with a part of their own in the record.
     * @param {TrialRecord} record
     */
    isOfRepeat: record =>
      run.trials !== null && results.isOfPlan(record.trial.arm) && findRecordPart(record) === undefined,
    /** The number of events so far; the state changes only with it. */
    version: () => version,
    /** Copies the state as of the last event. @returns {RunSnapshot} */
    snapshot() {
      return {
        ...run,
        ...counter.snapshot(),
        secondsLeft: left === null ? null : Math.max(0, left.seconds - (nowMs - left.atMs) / 1000),
        arm: arm === null ? null : { ...results.createArmLabel(arm), link: arm.link },
        sidecars: sidecars.snapshot(),
        outcomes: results.countOutcomes(),
        parts: repeats.list(),
      }
    },
    /** The series of the current trial. The arrays keep growing: copy before storing. @type {() => SidecarSeries[]} */
    series: sidecars.series,
    results: results.list,
    rows: results.rows,
  }
}

/** Makes the fields as they are before the first event. @returns {Kept} */
function createInitialFields() {
  const unknown = { runId: null, experiment: null, question: null, phase: null, progress: null }
  return { ...unknown, done: 0, nth: null, trials: null, ending: null }
}

/** @typedef {{ requests: number, failed: number, atMs: number }} Count */

/** Makes the counter of the requests of a trial, and of failures in the trials before. */
function createCounter() {
  const none = { earlier: /** @type {Count | null} */ (null), last: /** @type {Count | null} */ (null) }
  let counts = none
  let failedBefore = 0
  let isOpen = false
  return {
    clear() {
      ;[counts, failedBefore, isOpen] = [none, 0, false]
    },
    begin() {
      ;[counts, isOpen] = [none, true]
    },
    count(/** @type {Count} */ { requests, failed, atMs }) {
      counts = { earlier: counts.last, last: { requests, failed, atMs } }
    },
    /** Ends a trial. A cluster sends no counts: the failures are then those of the window, from the record. */
    end(/** @type {number} */ recorded) {
      failedBefore += (isOpen ? counts.last?.failed : null) ?? recorded
      isOpen = false
    },
    snapshot() {
      const { earlier, last } = counts
      const failed = last?.failed ?? null
      const seconds = isOpen && earlier && last ? (last.atMs - earlier.atMs) / 1000 : 0
      const requests = (last?.requests ?? 0) - (earlier?.requests ?? 0)
      const ratePerSecond = seconds > 0 && requests >= 0 ? requests / seconds : null
      return { ratePerSecond, failed, failedInAll: failedBefore + (isOpen ? (failed ?? 0) : 0) }
    },
  }
}
