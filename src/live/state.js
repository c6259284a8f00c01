import { createSidecarTracker } from '../judge/sidecars.js'
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
 * @typedef {object} EventFields
 * @property {string | null} runId
 * @property {string | null} experiment
 * @property {string | null} question
 * @property {Phase | null} phase
 * @property {string | null} progress such as 'repeat 2 of 6'
 * @property {number} done trials of the plan that ended
 * @property {number | null} nth the number of this trial in the plan; null: none of it has begun
 * @property {number | null} trials planned; null also: the run is a search
 * @property {{ outcome: 'finished' | 'interrupted' | 'failed' } | null} ending null: the run is in progress
 */
/**
 * The fields that are computed from others.
 * @typedef {object} ComputedFields
 * @property {number | null} secondsLeft of the run; null: not known, or it has ended
 * @property {SidecarNow[]} sidecars of this or the last trial; []: no sample of it has come yet, or it has none
 * @property {number | null} ratePerSecond requests between the last two counts; null: fewer than two, of one moment or falling, or the
 *   trial has ended
 * @property {{ name: string, variedAxes: string, link: string } | null} arm of this or the last trial; variedAxes: its values on
 *   the axes that vary; null: no trial has begun
 * @property {number | null} failed requests of this or the last trial that failed; null: none were counted yet, or nothing counts
 *   them
 * @property {number} failedInAll requests of the run that failed
 * @property {{ completed: number, failed: number, invalid: number }} outcomes numbers of ended trials
 * @property {PartSoFar[]} parts []: no repeat has ended
 */
/**
 * A run at its last event.
 * @typedef {EventFields & ComputedFields} RunSnapshot
 * @typedef {ReturnType<typeof createRunState>} RunState
 */

/**
 * Creates the state of a run. A missing value is null, never 0.
 * @returns apply: applies an event, and is the only function that changes the state; isCoveredByRepeat: says whether a repeat's line
 *   covers a trial; version: returns the number of events so far; snapshot, series, results, rows: read the state
 */
export function createRunState() {
  const results = createResults()
  const repeats = createRepeats()
  const sidecars = createSidecarTracker()
  let version = 0
  let nowMs = Number.NEGATIVE_INFINITY
  let run = createInitialFields()
  /** @type {{ seconds: number, atMs: number } | null} */
  let timeLeft = null
  /** @type {import('../model/types.ts').Arm | null} */
  let arm = null
  const requests = createRequestCounter()

  /** @type {{ [Kind in RunEvent['kind']]: (event: Extract<RunEvent, { kind: Kind }>) => void }} */
  const appliers = {
    planned(event) {
      const { id, experiment, question } = event.run
      results.plan(event)
      if (id !== run.runId) {
        run = { ...createInitialFields(), runId: id, experiment, question }
        requests.clear()
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
      requests.begin()
    },
    phase({ phase }) {
      run.phase = phase
    },
    sampled: sidecars.sample,
    counted: requests.count,
    'trial-ended'({ record }) {
      results.addTriedArm(record.trial.arm)
      results.add(record)
      repeats.add(record)
      if (results.isCounted(record.trial)) run.done++
      run.phase = null
      requests.end(record.load?.failed ?? 0)
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
     * @returns {boolean} false: the run is a search, the arm is not of the plan, or the kind has a part of its own in the record
     */
    isCoveredByRepeat: record =>
      run.trials !== null && results.isOfPlan(record.trial.arm) && findRecordPart(record) === undefined,
    /**
     * Returns the number of events so far. The state changes only with it.
     * @returns {number}
     */
    version: () => version,
    /**
     * Computes the state as of the last event. Later events do not change it.
     * @returns {RunSnapshot}
     */
    snapshot() {
      return {
        ...run,
        ...requests.snapshot(),
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
 * Creates the fields of a run before its first event.
 * @returns {EventFields}
 */
function createInitialFields() {
  const unknown = { runId: null, experiment: null, question: null, phase: null, progress: null }
  return { ...unknown, done: 0, nth: null, trials: null, ending: null }
}

/** @typedef {{ requests: number, failed: number, atMs: number }} Count */

/**
 * Creates the counter of the requests of a trial, and of the failures in the trials before.
 * @returns clear: begins a run; begin: begins a trial; count: sets the requests of the trial so far; end: ends a trial; snapshot:
 *   computes ratePerSecond and failed (null: not known) and failedInAll
 */
function createRequestCounter() {
  const noCounts = { earlier: /** @type {Count | null} */ (null), last: /** @type {Count | null} */ (null) }
  let counts = noCounts
  let failedBefore = 0
  // From the start of a trial until the first end of one: only then is there a rate.
  let isOpen = false
  // Interleaved arms have a trial each at once.
  let openTrials = 0
  return {
    clear() {
      ;[counts, failedBefore, isOpen, openTrials] = [noCounts, 0, false, 0]
    },
    begin() {
      openTrials = isOpen ? openTrials + 1 : 1
      ;[counts, isOpen] = [noCounts, true]
    },
    count(/** @type {Count} */ { requests, failed, atMs }) {
      counts = { earlier: counts.last, last: { requests, failed, atMs } }
    },
    /**
     * Ends a trial. Without counts, as on a cluster and of a record that was read back, its failures are those of the window.
     * @param {number} recordedFailures of the window, from the record
     */
    end(recordedFailures) {
      const isLive = openTrials > 0
      openTrials = Math.max(0, openTrials - 1)
      if (!isLive || !counts.last) failedBefore += recordedFailures
      // Counts of interleaved arms are of all together: the first that ends adds them.
      else if (isOpen) failedBefore += counts.last.failed
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
