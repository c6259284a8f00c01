import { isSpoiled } from '../judge/gates/gate.js'
import { createDeathCounter, DEATHS_MOST, listDeadArms } from '../judge/record/deaths.js'
import { computeRatePerSecond } from '../judge/record/measures.js'
import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { splitUnreachableArms } from '../plan/lost-arms.js'
import { estimateSeconds } from '../plan/plan.js'
import { createStoppingRule } from './stopping-rule.js'

/**
 * @import { Calibration, Trial, TrialRecord } from '../model/types.ts'
 * @import { PartContext } from './kind.js'
 */

// A run may repeat as many trials as this number of rounds has; fewer if it also has interleaved trials, which measure the cost.
const SPARE_ROUNDS = { alone: 2, besideCost: 1 }
// Users still cold after a warm-up this much longer are not slow to start: their sidecars do not serve them. The limit in seconds
// keeps a run with long warm-ups near its announced length.
const WARMUP_MOST_TIMES = 4
const WARMUP_MOST_MORE_SECONDS = 30

/**
 * The turns of two runs that are in progress side by side.
 * @typedef {object} Turns
 * @property {() => Promise<void>} awaitTurn resolves when this run may do its checks or a round
 * @property {() => void} endTurn lets the other run continue
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
 * @param {PartContext} part
 * @throws {BenchError} if no rate can be reached; the error of a trial that cannot be run; the signal's reason when it aborts
 */
export async function measureRounds(part) {
  const { turns, assess, recordedRounds, writeManifest, say } = part
  const calibrations = await runCalibrations(part)
  const plan = calibrations.length > 0 ? removeUnreachableArms(part, calibrations) : part.plan
  turns.endTurn()
  const { precision, rounds: mostRounds } = plan
  const stopping = precision
    ? createStoppingRule({ precision, mostRounds, recordedRounds, assess, say, writeManifest })
    : null
  await runRounds({ ...part, plan, stopping })
}

/**
 * Runs each calibration of a plan whose rates are bounded by the capacity.
 * @param {PartContext} part
 * @returns {Promise<Calibration[]>} []: the plan has none, or its rates are not bounded
 * @throws the error of a trial that cannot be run; the signal's reason when it aborts
 */
async function runCalibrations({ plan, run, signal }) {
  /** @type {Calibration[]} */
  const calibrations = []
  for (const arm of plan.mostOfCapacity === null ? [] : plan.calibrations) {
    signal.throwIfAborted()
    const trial = { id: `r1-${arm.id}`, kind: plan.kind, round: 1, arm, repeats: null, searchOf: null }
    const record = await run({ trial, progress: 'finding the capacity' })
    const { boundBy } = record
    calibrations.push({ armId: arm.id, ratePerSecond: computeRatePerSecond(record), boundBy, trialId: trial.id })
  }
  return calibrations
}

/**
 * Removes the arms whose rates are out of reach from the plan and the manifest, and says so.
 * @param {PartContext} part
 * @param {Calibration[]} calibrations
 * @returns {PartContext['plan']}
 * @throws {BenchError} if no arm is left
 */
function removeUnreachableArms({ plan, say, writeManifest, announce }, calibrations) {
  const { arms, notMeasured: unreachable } = splitUnreachableArms({ plan, calibrations })
  if (arms.length === 0) throw new BenchError('no rate can be reached here: ask for lower ones with --rate')
  for (const { plane, reason } of unreachable) say(`not measured: ${plane}: ${reason}`)
  const trials = plan.trials.filter(trial => arms.some(({ id }) => id === trial.arm.id))
  const notMeasured = [...plan.notMeasured, ...unreachable]
  writeManifest({ arms, notMeasured, calibrations })
  const reachable = { ...plan, arms, trials, notMeasured }
  announce(reachable)
  return reachable
}

/**
 * @typedef {object} RoundFields
 * @property {PartContext['plan']} plan
 * @property {ReturnType<typeof createStoppingRule> | null} stopping null: all rounds of the plan are run
 */
/** @typedef {Pick<PartContext, 'runTrials' | 'turns' | 'secondsAfter' | 'watch' | 'say' | 'signal'> & RoundFields} RoundOptions */

/**
 * Runs round after round. Trials that were unsteady, cold or spoiled are run again at the end of their round, while the number
 * of repeats allows it.
 * @param {RoundOptions} options
 * @throws the error of a trial that cannot be run; the signal's reason when it aborts
 */
async function runRounds(options) {
  const { plan, turns, stopping, watch, signal } = options
  const { measureTrials, repeatSpoiledTrials, readSecondsLeft } = createRoundRunner(options)
  for (let round = 1; round <= plan.rounds; round++) {
    await turns.awaitTurn()
    signal.throwIfAborted()
    stopping?.begin(round)
    const trialsOfRound = plan.trials.filter(trial => trial.round === round)
    const measured = []
    for (const trials of groupBy(trialsOfRound, ({ interleaving, id }) => interleaving ?? id).values())
      measured.push(await measureTrials(trials))
    for (const records of measured) await repeatSpoiledTrials(records)
    turns.endTurn()
    const arms = plan.arms.map(({ id }) => id)
    const length = { round, rounds: plan.rounds, isMost: stopping !== null }
    watch?.({ kind: 'repeat-ended', ...length, arms, secondsLeft: readSecondsLeft(), atMs: Date.now() })
    if (stopping?.endRound(round)) return
  }
}

/**
 * Creates the functions that run the trials of a round. They remember across rounds which arms died, which need a longer warm-up,
 * and how many trials may still be repeated.
 * @param {RoundOptions} options
 * @returns measureTrials: runs the trials of arms that have not died too often; repeatSpoiledTrials: runs trials again that were
 *   unsteady, cold or spoiled; readSecondsLeft: of the run, 0: not known
 */
function createRoundRunner({ plan, runTrials, stopping, secondsAfter, say }) {
  const estimateLeft = createTimeEstimator(plan.trials)
  const deaths = createDeathCounter()
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  /** @type {Map<string, Warmup>} */
  const warmups = new Map()
  let repeatsLeft = countSpareTrials(plan)
  let secondsLeft = 0

  /**
   * Runs trials with lengthened warm-ups, and counts them for the time left and for the precision.
   * @param {Trial[]} planned of one round; at least one
   * @returns {Promise<TrialRecord[]>}
   * @throws the error of a trial that cannot be run
   */
  async function runPlanned(planned) {
    const [first] = planned
    const records = await runTrials({
      trials: planned.map(trial => applyWarmup(trial, warmups.get(trial.arm.id))),
      progress: `repeat ${first.round} of ${stopping ? 'at most ' : ''}${plan.rounds}`,
      secondsLeft: stopping ? undefined : estimateLeft(first, false) + secondsAfter,
    })
    for (const record of records) stopping?.add(record)
    secondsLeft = stopping ? 0 : Math.round(estimateLeft(first, true) + secondsAfter)
    return records
  }

  /**
   * Runs trials again if one of their records is unsteady, cold or spoiled, and as many repeats are left. Arms whose sidecars died too
   * often are left out from then on; cold users lengthen the warm-up.
   * @param {TrialRecord[]} records of arms that stood at the same time
   * @returns {Promise<void>}
   * @throws the error of a trial that cannot be run
   */
  async function repeatSpoiledTrials(records) {
    for (const id of deaths.addDeaths(records))
      say(`repeat ${records[0].trial.round}: ${id} is left out from now on: its sidecars died ${DEATHS_MOST} times`)
    const trials = deaths.listRemaining(records.map(({ trial }) => trial))
    const isCold = records.some(({ load }) => load !== null && (load.coldUsers > 0 || load.verified === 0))
    if (isCold) for (const trial of trials) warmups.set(trial.arm.id, lengthenWarmup(trial))
    const isUnsteady = records.some(({ isSteady, trial }) => isSteady === false && trial.arm.load.burst === null)
    const needsRepeat = isCold || isUnsteady || hasBrokenArm(records)
    if (!needsRepeat || repeatsLeft < trials.length) return
    repeatsLeft -= trials.length
    const again = trials.map(trial => {
      const interleaving = trial.interleaving && { interleaving: `${trial.interleaving}-again` }
      return { ...trial, ...interleaving, id: `${trial.id}-again`, repeats: trial.id, isExclusive: true }
    })
    const repeated = await runPlanned(again)
    // If sidecars died again, they also spoiled the repeats of the other arms: continue without them.
    if (listDeadArms(repeated).length > 0) await repeatSpoiledTrials(repeated)
  }

  return {
    measureTrials: (/** @type {Trial[]} */ trials) => runPlanned(deaths.listRemaining(trials)),
    repeatSpoiledTrials,
    readSecondsLeft: () => secondsLeft,
  }
}

/**
 * Counts the trials that a run may repeat.
 * @param {Pick<PartContext['plan'], 'trials' | 'parts'>} plan
 * @returns {number}
 */
function countSpareTrials({ trials, parts }) {
  const isBesideCost = parts.length > 1 && trials.every(({ interleaving }) => interleaving === undefined)
  const trialsPerRound = trials.filter(({ round }) => round === 1).length
  return trialsPerRound * (isBesideCost ? SPARE_ROUNDS.besideCost : SPARE_ROUNDS.alone)
}

/**
 * Says whether one of several interleaved arms failed, or its CPU per request was spoiled: it then spoils the others, too.
 * @param {TrialRecord[]} records of arms that stood at the same time
 * @returns {boolean} false also: there is one arm only
 */
function hasBrokenArm(records) {
  if (records.length === 1) return false
  return records.some(record => record.outcome === 'failed' || isSpoiled(record, 'cpuPerRequest'))
}

/**
 * Applies a lengthened warm-up to a trial.
 * @param {Trial} trial
 * @param {Warmup | undefined} longer undefined: the warm-up stays as planned
 * @returns {Trial}
 */
function applyWarmup(trial, longer) {
  if (!longer) return trial
  const { seconds: warmupSeconds, ...warmup } = longer
  return { ...trial, arm: { ...trial.arm, load: { ...trial.arm.load, warmupSeconds } }, warmup }
}

/**
 * Doubles a warm-up, up to WARMUP_MOST_TIMES the planned one or WARMUP_MOST_MORE_SECONDS more than it, whichever is less.
 * @param {Trial} trial
 * @returns {Warmup}
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
export function createTimeEstimator(trials) {
  let startMs = performance.now()
  /** The index of the first trial that was not recorded before. @type {number | null} */
  let firstIndex = null
  let doneCount = 0
  return (trial, isDone) => {
    // A trial that is run again comes after its round.
    const isAgain = trial.repeats !== null
    const index = isAgain
      ? trials.findLastIndex(({ round }) => round === trial.round)
      : trials.findIndex(({ id }) => id === trial.id)
    if (firstIndex === null) {
      firstIndex = index
      startMs = performance.now()
    }
    doneCount = Math.max(doneCount, isDone ? index + 1 : index)
    const plannedSeconds = estimateSeconds(trials.slice(firstIndex, doneCount))
    const pace = doneCount > firstIndex ? (performance.now() - startMs) / 1000 / plannedSeconds : 1
    return estimateSeconds(trials.slice(doneCount)) * pace
  }
}
