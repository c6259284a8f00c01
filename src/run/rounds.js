import { isSpoiled } from '../judge/gates.js'
import { groupBy } from '../lib/group-by.js'
import { calibrate } from './calibrate.js'
import { createPace } from './progress.js'
import { createStopping } from './stopping.js'

/**
 * @import { Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Pass } from './kind.js'
 * @import { RunTogether } from './run.js'
 * @import { Stopping } from './stopping.js'
 */

// Repetitions of unsteady windows: as many as two more rounds; beside turns, which say the cost, one.
const SPARE_ROUNDS = { alone: 2, besideTurns: 1 }
// Users that are cold after this much longer are not slow to start: their sidecars do not serve them. The run's length
// must stay near to what was announced, also where the planned warm-up is long.
const WARMUP_MOST_TIMES = 4
const WARMUP_MOST_MORE_SECONDS = 30

/**
 * Taken for the checks and for each round of a run, where another run goes on beside it.
 * @typedef {{ take: () => Promise<void>, pass: () => void }} Turns
 */

/** @typedef {{ seconds: number, plannedSeconds: number, isLongest: boolean }} Warmup */

/**
 * Measures the capacities that the plan asks for, then round after round.
 * @param {Pass} pass
 */
export async function measureRounds({
  plan,
  run,
  runTogether,
  turns,
  assess,
  recordedRounds,
  writeManifest,
  announce,
  say,
  signal,
}) {
  const { plan: measured, calibrations } = await calibrate({ plan, run, signal })
  if (calibrations.length > 0) {
    const { arms, notMeasured } = measured
    for (const { plane, reason } of notMeasured.slice(plan.notMeasured.length)) say(`not measured: ${plane}: ${reason}`)
    writeManifest({ arms, notMeasured, calibrations })
    announce(measured)
  }
  turns.pass()
  const { precision, rounds: mostRounds } = measured
  const stopping = precision
    ? createStopping({ precision, mostRounds, recordedRounds, assess, say, writeManifest })
    : null
  await runRounds({ plan: measured, runTogether, turns, stopping, signal })
}

/**
 * Round after round; windows that were unsteady or cold are run again at the end of theirs.
 * @param {{ plan: Plan, runTogether: RunTogether, turns: Turns, stopping: Stopping | null, signal: AbortSignal }} options
 *   stopping: null: all rounds of the plan are run
 */
async function runRounds({ plan, runTogether, turns, stopping, signal }) {
  const pace = createPace(plan.trials)
  const isBesideTurns = plan.kinds.length > 1 && plan.trials.every(({ deployment }) => deployment === undefined)
  const ofRound = plan.trials.filter(({ round }) => round === 1).length
  let spare = ofRound * (isBesideTurns ? SPARE_ROUNDS.besideTurns : SPARE_ROUNDS.alone)
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  /** @type {Map<string, Warmup>} */
  const warmups = new Map()
  const runAgain = async (/** @type {Trial[]} */ planned) => {
    const [first] = planned
    const records = await runTogether({
      trials: planned.map(trial => withWarmup(trial, warmups.get(trial.arm.id))),
      progress: `round ${first.round} of ${stopping ? 'at most ' : ''}${plan.rounds}`,
      secondsLeft: stopping ? undefined : isDone => pace.secondsLeft(first, isDone),
    })
    for (const record of records) stopping?.add(record)
    return records
  }
  for (let round = 1; round <= plan.rounds; round++) {
    await turns.take()
    signal.throwIfAborted()
    stopping?.begin(round)
    const deployments = groupBy(
      plan.trials.filter(t => t.round === round),
      trial => trial.deployment ?? trial.id,
    )
    const measured = []
    for (const trials of deployments.values()) measured.push(await runAgain(trials))
    for (const records of measured) {
      const trials = records.map(({ trial }) => trial)
      const isCold = records.some(areUsersCold)
      if (isCold) for (const trial of trials) warmups.set(trial.arm.id, lengthenWarmup(trial))
      const isUnsteady = records.some(({ isSteady, trial }) => isSteady === false && trial.arm.load.burst === null)
      // One arm that fails takes the round of the others with it.
      const isBroken = records.length > 1 && records.some(r => r.outcome === 'failed' || isSpoiled(r, 'cpuPerRequest'))
      if (!(isCold || isUnsteady || isBroken) || spare < records.length) continue
      spare -= records.length
      await runAgain(trials.map(repeat))
    }
    turns.pass()
    if (stopping?.isOver(round)) return
  }
}

/** @param {TrialRecord} record */
function areUsersCold({ load }) {
  return load !== null && (load.coldUsers > 0 || load.verified === 0)
}

/**
 * @param {Trial} trial
 * @returns {Trial} the same once more
 */
function repeat(trial) {
  const deployment = trial.deployment && { deployment: `${trial.deployment}-again` }
  return { ...trial, ...deployment, id: `${trial.id}-again`, repeats: trial.id }
}

/**
 * Twice the warm-up that a trial had, up to the longest that its planned one allows.
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
 * @param {Trial} trial
 * @param {Warmup | undefined} warmup
 * @returns {Trial}
 */
function withWarmup(trial, warmup) {
  if (!warmup) return trial
  const { seconds, ...lengthened } = warmup
  const arm = { ...trial.arm, load: { ...trial.arm.load, warmupSeconds: seconds } }
  return { ...trial, arm, warmup: lengthened }
}
