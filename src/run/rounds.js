import { isSpoiled } from '../judge/gates/gate.js'
import { createDeaths, DEATHS_MOST, listDead } from '../judge/record/deaths.js'
import { ratePerSecond } from '../judge/record/measures.js'
import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { leaveOutUnreachable } from '../plan/arms.js'
import { estimateSeconds } from '../plan/plan.js'
import { createStopping } from './stopping.js'

/**
 * @import { Calibration, Plan, Trial, TrialRecord } from '../model/types.ts' @import { Pass } from './kind.js'
 * @import { RunTogether } from './run.js' @import { Stopping } from './stopping.js'
 */

// Unsteady windows are repeated for so many rounds; for fewer beside turns, which tell the cost.
const SPARE_ROUNDS = { alone: 2, besideTurns: 1 }
// Users that are cold after such a warm-up are not slow to start: their sidecars do not serve them. The run's length
// must stay near to what was announced, also where the planned warm-up is long.
const WARMUP_MOST_TIMES = 4
const WARMUP_MOST_MORE_SECONDS = 30

/**
 * A run takes its turn for the checks and for each round, where another run goes on beside it.
 * @typedef {{ take: () => Promise<void>, pass: () => void }} Turns
 * @typedef {{ seconds: number, plannedSeconds: number, isLongest: boolean }} Warmup
 */

/**
 * Measures what each plane reaches in a closed loop, once, where the plan asks for it, and leaves out the rates too near
 * to it; then round after round. @param {Pass} pass @throws {BenchError} when no rate can be reached
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
    calibrations.push({ armId: arm.id, ratePerSecond: ratePerSecond(record), boundBy, trialId: trial.id })
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
 * Runs round after round; windows that were unsteady or cold are run again at the end of theirs.
 * @param {{ plan: Pass['plan'], runTogether: RunTogether, turns: Turns, stopping: Stopping | null, signal: AbortSignal } &
 *   Pick<Pass, 'secondsAfter' | 'watch' | 'say'>} options stopping: null: all rounds of the plan are run
 */
async function runRounds({ plan, runTogether, turns, stopping, secondsAfter, watch, say, signal }) {
  const estimateLeft = createPace(plan.trials)
  const isBesideCost = plan.parts.length > 1 && plan.trials.every(({ interleaving }) => interleaving === undefined)
  const ofRound = plan.trials.filter(({ round }) => round === 1).length
  let spare = ofRound * (isBesideCost ? SPARE_ROUNDS.besideTurns : SPARE_ROUNDS.alone)
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  /** @type {Map<string, Warmup>} */
  const warmups = new Map()
  const deaths = createDeaths()
  let secondsLeft = 0
  const runAgain = async (/** @type {Trial[]} */ planned) => {
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
  const repeatSpoiled = async (/** @type {TrialRecord[]} */ records) => {
    for (const id of deaths.count(records))
      say(`repeat ${records[0].trial.round}: ${id} is left out from now on: its sidecars died ${DEATHS_MOST} times`)
    const trials = deaths.leaveOut(records.map(({ trial }) => trial))
    const isCold = records.some(({ load }) => load !== null && (load.coldUsers > 0 || load.verified === 0))
    if (isCold) for (const trial of trials) warmups.set(trial.arm.id, lengthenWarmup(trial))
    const isUnsteady = records.some(({ isSteady, trial }) => isSteady === false && trial.arm.load.burst === null)
    // An arm that fails spoils the round of the others.
    const isBroken = records.length > 1 && records.some(r => r.outcome === 'failed' || isSpoiled(r, 'cpuPerRequest'))
    if (!(isCold || isUnsteady || isBroken) || spare < trials.length) return
    spare -= trials.length
    const again = trials.map(trial => {
      const interleaving = trial.interleaving && { interleaving: `${trial.interleaving}-again` }
      return { ...trial, ...interleaving, id: `${trial.id}-again`, repeats: trial.id, isExclusive: true }
    })
    const repeated = await runAgain(again)
    // Sidecars that died in both took the trials of the others with them twice.
    if (listDead(repeated).length > 0) await repeatSpoiled(repeated)
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
    for (const trials of deployments.values()) measured.push(await runAgain(deaths.leaveOut(trials)))
    for (const records of measured) await repeatSpoiled(records)
    turns.pass()
    const arms = plan.arms.map(({ id }) => id)
    const length = { round, rounds: plan.rounds, isMost: stopping !== null }
    watch?.({ kind: 'repeat-ended', ...length, arms, secondsLeft, atMs: Date.now() })
    if (stopping?.isOver(round)) return
  }
}

/** Doubles a warm-up, up to the longest that the planned one allows. @param {Trial} trial @returns {Warmup} */
function lengthenWarmup({ arm, warmup }) {
  const plannedSeconds = warmup?.plannedSeconds ?? arm.load.warmupSeconds
  const mostSeconds = Math.min(WARMUP_MOST_TIMES * plannedSeconds, plannedSeconds + WARMUP_MOST_MORE_SECONDS)
  const seconds = Math.min(2 * arm.load.warmupSeconds, mostSeconds)
  return { seconds, plannedSeconds, isLongest: seconds === mostSeconds }
}

/** Makes a function that estimates the seconds that trials still take, from the pace so far. @param {Trial[]} trials */
export function createPace(trials) {
  let start = performance.now()
  /** The first trial that was not recorded before. @type {number | null} */
  let first = null
  let done = 0
  /** @param {Trial} trial the one that runs @param {boolean} isDone */
  return (trial, isDone) => {
    // A trial that is run again comes after its round.
    const isAgain = trial.repeats !== null
    const at = isAgain ? trials.findLastIndex(t => t.round === trial.round) : trials.findIndex(t => t.id === trial.id)
    if (first === null) {
      first = at
      start = performance.now()
    }
    done = Math.max(done, isDone ? at + 1 : at)
    const pace = done > first ? (performance.now() - start) / 1000 / estimateSeconds(trials.slice(first, done)) : 1
    return estimateSeconds(trials.slice(done)) * pace
  }
}
