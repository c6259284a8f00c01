import { createSidecars } from '../judge/sidecars.js'
import { findRecordPart } from '../kinds/parts.js'
import { createRepeats } from './repeats.js'
import { createResults } from './results.js'

/**
 * Computes the state of a run from its events. Pure.
 * @import { TrialRecord } from '../model/types.ts'
 * @import { Phase, RunEvent } from '../run/events.js'
 * @import { SidecarNow, SidecarSeries } from '../judge/sidecars.js'
 * @import { PartSoFar } from './repeats.js'
 */

/**
 * The fields that events set. A field is null if it is not known, or not at this moment.
 * @typedef {object} Kept
 * @property {string | null} runId
 * @property {string | null} experiment
 * @property {string | null} question
 * @property {Phase | null} phase
 * @property {string | null} progress such as 'repeat 2 of 6'
 * @property {number} done trials of the plan that ended
 * @property {number | null} nth the number of this trial in the plan
 * @property {number | null} trials planned; null also: the run is a search
 * @property {{ outcome: 'finished' | 'interrupted' | 'failed' } | null} ending null: the run is in progress
 */
/**
 * The fields that are computed from others.
 * @typedef {object} Computed
 * @property {number | null} secondsLeft of the run
 * @property {SidecarNow[]} sidecars []: none run
 * @property {number | null} ratePerSecond requests between the last two counts
 * @property {{ name: string, what: string, link: string } | null} arm of this trial; what: its values on the axes that vary
 * @property {number | null} failed requests of this trial
 * @property {number} failedInAll requests of the run
 * @property {{ completed: number, failed: number, invalid: number }} outcomes numbers of trials
 * @property {PartSoFar[]} parts
 */
/**
 * A run at its last event.
 * @typedef {Kept & Computed} RunSnapshot
 * @typedef {ReturnType<typeof createRunState>} RunState
 */

/**
 * Creates the state of a run. A missing value is null, never 0.
 * @returns apply: applies an event; isOfRepeat: says whether a repeat's line covers a trial; version: counts events; snapshot,
 *   series, results, rows: read the state
 */
export function createRunState() {
  const results = createResults()
  const repeats = createRepeats()
  const sidecars = createSidecars()
  let version = 0
  let nowMs = Number.NEGATIVE_INFINITY
  let run = createInitialFields()
  /** @type {{ seconds: number, atMs: number } | null} */
  let timeLeft = null
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
      timeLeft = { seconds: event.seconds, atMs: event.atMs }
    },
    'trial-started'({ trial, progress, secondsLeft, atMs }) {
      results.addTriedArm(trial.arm)
      arm = trial.arm
      if (results.isCounted(trial)) run.nth = run.done + 1
      Object.assign(run, { progress, phase: null })
      timeLeft = secondsLeft === null ? null : { seconds: secondsLeft, atMs }
      sidecars.clear()
      counter.begin()
    },
    phase({ phase }) {
      run.phase = phase
    },
    sampled: sidecars.sample,
    counted: counter.count,
    'trial-ended'({ record }) {
      results.addTriedArm(record.trial.arm)
      results.add(record)
      repeats.add(record)
      if (results.isCounted(record.trial)) run.done++
      run.phase = null
      counter.end(record.load?.failed ?? 0)
    },
    'repeat-ended'({ secondsLeft, atMs, ...ended }) {
      repeats.end(ended)
      if (secondsLeft > 0) timeLeft = { seconds: secondsLeft, atMs }
    },
    ended({ outcome }) {
      Object.assign(run, { phase: null, ending: { outcome } })
      timeLeft = null
    },
  }

  return {
    /**
     * Applies an event.
     * @param {RunEvent} event
     */
    apply(event) {
      version++
      // Samples come late, and a node's clock may be behind ours.
      nowMs = Math.max(nowMs, event.kind === 'sampled' ? event.sample.epochMs : event.atMs)
      appliers[event.kind](/** @type {any} */ (event))
    },
    /**
     * Says whether the line of its repeat covers a trial.
     * @param {TrialRecord} record
     * @returns {boolean} false: the run is a search, or the trial is of a kind with a part of its own in the record
     */
    isOfRepeat: record =>
      run.trials !== null && results.isOfPlan(record.trial.arm) && findRecordPart(record) === undefined,
    /**
     * Returns the number of events so far. The state changes only with it.
     * @returns {number}
     */
    version: () => version,
    /**
     * Copies the state as of the last event.
     * @returns {RunSnapshot}
     */
    snapshot() {
      return {
        ...run,
        ...counter.snapshot(),
        secondsLeft: timeLeft === null ? null : Math.max(0, timeLeft.seconds - (nowMs - timeLeft.atMs) / 1000),
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

/**
 * Creates the state of a run before its first event.
 * @returns {Kept}
 */
function createInitialFields() {
  const unknown = { runId: null, experiment: null, question: null, phase: null, progress: null }
  return { ...unknown, done: 0, nth: null, trials: null, ending: null }
}

/** @typedef {{ requests: number, failed: number, atMs: number }} Count */

/**
 * Creates the counter of the requests of a trial, and of the failures in the trials before.
 * @returns clear: begins a run; begin: begins a trial; count: sets the requests so far; end: ends a trial; snapshot: reads
 *   ratePerSecond and failed (null: not known) and failedInAll
 */
function createCounter() {
  const noCounts = { earlier: /** @type {Count | null} */ (null), last: /** @type {Count | null} */ (null) }
  let counts = noCounts
  let failedBefore = 0
  let isOpen = false
  return {
    clear() {
      ;[counts, failedBefore, isOpen] = [noCounts, 0, false]
    },
    begin() {
      ;[counts, isOpen] = [noCounts, true]
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
