import { isSpoiled } from '../judge/gates/gate.js'
import { createDeathCounter, DEATHS_MOST, listDeadArms } from '../judge/record/deaths.js'
import { computeRatePerSecond } from '../judge/record/measures.js'
import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { leaveOutUnreachable } from '../plan/arms.js'
import { estimateSeconds } from '../plan/plan.js'

/**
 * @import { Calibration, Manifest, Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Pass } from './kind.js'
 * @import { RunTogether } from './run.js'
 */

// A run may repeat as many trials as this number of rounds has; fewer if it also has interleaved trials, which measure the cost.
const SPARE_ROUNDS = { alone: 2, besideTurns: 1 }
// Users still cold after a warm-up this much longer are not slow to start: their sidecars do not serve them. The limit in seconds
// keeps a run with long warm-ups near its announced length.
const WARMUP_MOST_TIMES = 4
const WARMUP_MOST_MORE_SECONDS = 30

/**
 * The turns of two runs that are in progress side by side.
 * @typedef {object} Turns
 * @property {() => Promise<void>} take resolves when this run may do its checks or a round
 * @property {() => void} pass ends the turn
 */

/**
 * The warm-up of an arm, after it was lengthened.
 * @typedef {object} Warmup
 * @property {number} seconds
 * @property {number} plannedSeconds
 * @property {boolean} isLongest it cannot be lengthened any further
 */

/**
 * Runs the calibrations of a plan (closed loops, each once), leaves out the arms whose rates are above a share of what the
 * calibrations reached, and runs the rounds.
 * @param {Pass} pass
 * @throws {BenchError} if no rate can be reached; the signal's reason when it aborts
 */
export async function measureRounds(pass) {
  const { plan, run, runTogether, turns, assess, recordedRounds, writeManifest, announce, say } = pass
  const { secondsAfter, watch, signal } = pass
  /** @type {Calibration[]} */
  const calibrations = []
  for (const arm of plan.mostOfCapacity === null ? [] : plan.calibrations) {
    signal.throwIfAborted()
    const trial = { id: `r1-${arm.id}`, kind: plan.kind, round: 1, arm, repeats: null, searchOf: null }
    const record = await run({ trial, progress: 'finding the capacity' })
    const { boundBy } = record
    calibrations.push({ armId: arm.id, ratePerSecond: computeRatePerSecond(record), boundBy, trialId: trial.id })
  }
  let measured = plan
  if (calibrations.length > 0) {
    const { arms, notMeasured: unreachable } = leaveOutUnreachable({ plan, calibrations })
    if (arms.length === 0) throw new BenchError('no rate can be reached here: ask for lower ones with --rate')
    for (const { plane, reason } of unreachable) say(`not measured: ${plane}: ${reason}`)
    const trials = plan.trials.filter(t => arms.some(arm => arm.id === t.arm.id))
    const notMeasured = [...plan.notMeasured, ...unreachable]
    measured = { ...plan, arms, trials, notMeasured }
    writeManifest({ arms, notMeasured, calibrations })
    announce(measured)
  }
  turns.pass()
  const { precision, rounds: mostRounds } = measured
  const stopping = precision
    ? createStopping({ precision, mostRounds, recordedRounds, assess, say, writeManifest })
    : null
  await runRounds({ plan: measured, runTogether, turns, stopping, secondsAfter, watch, say, signal })
}

/**
 * Runs round after round. Trials that were unsteady, cold or spoiled are run again at the end of their round, while the number
 * of repeats allows it.
 * @param {{ plan: Pass['plan'], runTogether: RunTogether, turns: Turns, stopping: ReturnType<typeof createStopping> | null,
 *   signal: AbortSignal } &
 *   Pick<Pass, 'secondsAfter' | 'watch' | 'say'>} options stopping: null: run all rounds of the plan; secondsAfter: estimated
 *   seconds of the kinds after this one
 */
async function runRounds({ plan, runTogether, turns, stopping, secondsAfter, watch, say, signal }) {
  const estimateLeft = createPace(plan.trials)
  const isBesideCost = plan.parts.length > 1 && plan.trials.every(({ interleaving }) => interleaving === undefined)
  const trialCount = plan.trials.filter(({ round }) => round === 1).length
  let repeatsLeft = trialCount * (isBesideCost ? SPARE_ROUNDS.besideTurns : SPARE_ROUNDS.alone)
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  /** @type {Map<string, Warmup>} */
  const warmups = new Map()
  const deaths = createDeathCounter()
  let secondsLeft = 0
  const repeatTrials = async (/** @type {Trial[]} */ planned) => {
    const [first] = planned
    const trials = planned.map(trial => {
      const longer = warmups.get(trial.arm.id)
      if (!longer) return trial
      const { seconds: warmupSeconds, ...warmup } = longer
      return { ...trial, arm: { ...trial.arm, load: { ...trial.arm.load, warmupSeconds } }, warmup }
    })
    const records = await runTogether({
      trials,
      progress: `repeat ${first.round} of ${stopping ? 'at most ' : ''}${plan.rounds}`,
      secondsLeft: stopping ? undefined : estimateLeft(first, false) + secondsAfter,
    })
    for (const record of records) stopping?.add(record)
    secondsLeft = stopping ? 0 : Math.round(estimateLeft(first, true) + secondsAfter)
    return records
  }
  const repeatSpoiledTrials = async (/** @type {TrialRecord[]} */ records) => {
    for (const id of deaths.count(records))
      say(`repeat ${records[0].trial.round}: ${id} is left out from now on: its sidecars died ${DEATHS_MOST} times`)
    const trials = deaths.leaveOut(records.map(({ trial }) => trial))
    const isCold = records.some(({ load }) => load !== null && (load.coldUsers > 0 || load.verified === 0))
    if (isCold) for (const trial of trials) warmups.set(trial.arm.id, lengthenWarmup(trial))
    const isUnsteady = records.some(({ isSteady, trial }) => isSteady === false && trial.arm.load.burst === null)
    // An arm that fails spoils the trials of those interleaved with it.
    const isBroken = records.length > 1 && records.some(r => r.outcome === 'failed' || isSpoiled(r, 'cpuPerRequest'))
    if (!(isCold || isUnsteady || isBroken) || repeatsLeft < trials.length) return
    repeatsLeft -= trials.length
    const again = trials.map(trial => {
      const interleaving = trial.interleaving && { interleaving: `${trial.interleaving}-again` }
      return { ...trial, ...interleaving, id: `${trial.id}-again`, repeats: trial.id, isExclusive: true }
    })
    const repeated = await repeatTrials(again)
    // If sidecars died again, they also spoiled the repeats of the other arms: continue without them.
    if (listDeadArms(repeated).length > 0) await repeatSpoiledTrials(repeated)
  }
  for (let round = 1; round <= plan.rounds; round++) {
    await turns.take()
    signal.throwIfAborted()
    stopping?.begin(round)
    const deployments = groupBy(
      plan.trials.filter(t => t.round === round),
      trial => trial.interleaving ?? trial.id,
    )
    const measured = []
    for (const trials of deployments.values()) measured.push(await repeatTrials(deaths.leaveOut(trials)))
    for (const records of measured) await repeatSpoiledTrials(records)
    turns.pass()
    const arms = plan.arms.map(({ id }) => id)
    const length = { round, rounds: plan.rounds, isMost: stopping !== null }
    watch?.({ kind: 'repeat-ended', ...length, arms, secondsLeft, atMs: Date.now() })
    if (stopping?.endRound(round)) return
  }
}

/**
 * Doubles a warm-up, up to four times the planned one or 30 s more than it, whichever is less.
 * @param {Trial} trial
 * @returns {Warmup} isLongest: it cannot be lengthened any further
 */
function lengthenWarmup({ arm, warmup }) {
  const plannedSeconds = warmup?.plannedSeconds ?? arm.load.warmupSeconds
  const mostSeconds = Math.min(WARMUP_MOST_TIMES * plannedSeconds, plannedSeconds + WARMUP_MOST_MORE_SECONDS)
  const seconds = Math.min(2 * arm.load.warmupSeconds, mostSeconds)
  return { seconds, plannedSeconds, isLongest: seconds === mostSeconds }
}

/**
 * Creates a function that estimates the seconds until the last of these trials ends: by plan until one was measured, then
 * scaled by the pace so far. The first trial that it is called with begins the count, since a resumed run recorded those
 * before.
 * @param {Trial[]} trials of the whole run, in order
 * @returns {(trial: Trial, isDone: boolean) => number} trial: begins or, if `isDone`, has ended; the result is in seconds
 */
export function createPace(trials) {
  let start = performance.now()
  /** The first trial that was not recorded before. @type {number | null} */
  let firstIndex = null
  let doneCount = 0
  /**
   * @param {Trial} trial that begins or has ended
   * @param {boolean} isDone it has ended
   */
  return (trial, isDone) => {
    // A trial that is run again comes after its round.
    const isAgain = trial.repeats !== null
    const index = isAgain
      ? trials.findLastIndex(t => t.round === trial.round)
      : trials.findIndex(t => t.id === trial.id)
    if (firstIndex === null) {
      firstIndex = index
      start = performance.now()
    }
    doneCount = Math.max(doneCount, isDone ? index + 1 : index)
    const pace =
      doneCount > firstIndex
        ? (performance.now() - start) / 1000 / estimateSeconds(trials.slice(firstIndex, doneCount))
        : 1
    return estimateSeconds(trials.slice(doneCount)) * pace
  }
}

/**
 * How precise the rounds so far are.
 * @typedef {object} Assessment
 * @property {boolean} isReached the run is as precise as planned
 * @property {boolean} hasPairs there are planes to compare
 * @property {number | null} roundsMore the rounds still needed; null: not known
 * @property {string} sentence for the user
 */
/** @typedef {(run: { manifest: Manifest, records: TrialRecord[] }) => Assessment} Assess */

/**
 * Creates a rule that decides after each round whether to run another, and writes the number of rounds to the manifest.
 * @param {{ precision: NonNullable<Plan['precision']>, mostRounds: number, recordedRounds: number, assess: Assess,
 *   say: (line: string) => void, writeManifest: (fields: Partial<Manifest>) => Manifest, now?: () => number }} options
 *   recordedRounds: the rounds in the manifest of a resumed run; now: reads a clock, in milliseconds
 * @returns begin: begins a round; add: adds a record; endRound: ends a round, and says whether the run ends
 */
export function createStopping({ precision, mostRounds, recordedRounds, assess, say, writeManifest, ...clock }) {
  const { now = () => performance.now() } = clock
  const endsMs = now() + 60_000 * precision.maxMinutes
  /** @type {TrialRecord[]} */
  const records = []
  let longestMs = 0
  let beganMs = now()
  // A resumed run reads back recorded rounds: the manifest keeps their number.
  let rounds = recordedRounds
  /** @type {Manifest} */
  let manifest
  const write = (/** @type {NonNullable<Manifest['precision']>['ended']} */ ended) => {
    manifest = writeManifest({ rounds, precision: { width: precision.width, mostRounds, ended } })
  }
  return {
    /**
     * Starts the clock of a round, and writes its number to the manifest.
     * @param {number} round that begins
     */
    begin(round) {
      beganMs = now()
      rounds = Math.max(rounds, round)
      write(null)
    },

    /**
     * Adds a record for the next assessment.
     * @param {TrialRecord} record of the current round
     */
    add(record) {
      records.push(record)
    },

    /**
     * Ends a round: prints how precise the run is so far and, if this was the last round, writes why to the manifest.
     * @param {number} round
     * @returns {boolean} true: the run ends, since it is precise, no planes are left to compare, it has had the most rounds, or
     *   another as long as the longest would exceed the time limit
     */
    endRound(round) {
      longestMs = Math.max(longestMs, now() - beganMs)
      const run = { manifest: { ...manifest, rounds: round }, records }
      const { isReached, hasPairs, roundsMore, sentence } = assess(run)
      const isLate = round === mostRounds || now() + longestMs > endsMs
      const minutes = Math.ceil(((roundsMore ?? 0) * longestMs) / 60_000)
      say(`${sentence}${minutes > 0 && !isReached ? ` (${minutes} min)` : ''}`)
      const ended = isReached ? 'reached' : !hasPairs ? 'no-pair' : isLate ? 'time' : null
      if (ended) write(ended)
      return ended !== null
    },
  }
}
