import { estimateSeconds } from './plan.js'
import { appendTrial, readRun, writeResult, writeSamples } from './records.js'
import { summarise } from './summarise.js'
import { runTrial } from './trial.js'

/**
 * @import { Plan, Summary, Trial, TrialRecord } from './types.ts'
 * @import { Bench } from './services.js'
 * @import { GateParity } from './parity/gate.js'
 */

// Repetitions of unsteady windows: as many as two more rounds.
const SPARE_ROUNDS = 2
const ALONE = { take: async () => {}, pass: () => {} }

/**
 * Runs a plan: holds the planes to parity, then round after round; each trial is on disk before the next starts.
 * @param {{ plan: Plan, bench: Bench, gateParity: GateParity, folder: string, manifest: Record<string, unknown>,
 *   signal: AbortSignal, say: (line: string) => void, turns?: { take: () => Promise<void>, pass: () => void } }} options
 *   say: a line of progress; turns: taken for the checks and for each round, where another run goes on beside this one
 * @returns {Promise<Summary>}
 * @throws {import('./lib/errors.js').BenchError} when an arm cannot serve at all, or nothing can be recorded
 */
export async function runPlan({ plan, bench, gateParity, folder, manifest, signal, say, turns = ALONE }) {
  writeResult(folder, 'manifest.json', `${JSON.stringify({ ...manifest, parity: [] }, null, 2)}\n`)
  let index = 0
  const nextIndex = () => index++
  await turns.take()
  const parity = await gateParity({ bench, arms: plan.arms, nextIndex, signal, say })
  turns.pass()
  writeResult(folder, 'manifest.json', `${JSON.stringify({ ...manifest, parity }, null, 2)}\n`)

  const pace = createPace(plan.trials)
  let spare = SPARE_ROUNDS * plan.arms.length
  const lastTrial = plan.trials.at(-1)
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  const warmups = new Map()
  /** @param {Trial} planned */
  const run = async planned => {
    const trial = withWarmup(planned, warmups.get(planned.arm.id))
    const { record, samples, names } = await runTrial({
      bench: { ...bench, retain: bench.retain && planned === lastTrial },
      trial,
      index: nextIndex(),
      signal,
    })
    appendTrial(folder, record)
    writeSamples(folder, { trial, samples, names })
    say(`round ${trial.round} of ${plan.rounds}  ${describe(record)}  ${pace.left(trial)}`)
    return record
  }

  /** @type {Summary} */
  let summary
  try {
    for (let round = 1; round <= plan.rounds; round++) {
      await turns.take()
      signal.throwIfAborted()
      const records = []
      for (const trial of plan.trials.filter(t => t.round === round)) records.push(await run(trial))
      for (const { trial, isSteady, load } of records) {
        const isCold = (load?.coldUsers ?? 0) > 0 || load?.verified === 0
        if (isCold) warmups.set(trial.arm.id, 2 * trial.arm.load.warmupSeconds)
        if ((isCold || isSteady === false) && spare-- > 0)
          await run({ ...trial, id: `${trial.id}-again`, repeats: trial.id })
      }
      turns.pass()
    }
  } finally {
    summary = writeSummary(folder)
  }
  return summary
}

/**
 * Makes summary.json from the records on disk.
 * @param {string} folder
 * @returns {Summary}
 */
export function writeSummary(folder) {
  const { manifest, records } = readRun(folder)
  const summary = summarise({ manifest, records })
  writeResult(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  return summary
}

/**
 * @param {Trial} trial
 * @param {number | undefined} warmupSeconds
 * @returns {Trial}
 */
function withWarmup(trial, warmupSeconds) {
  if (warmupSeconds === undefined) return trial
  return { ...trial, arm: { ...trial.arm, load: { ...trial.arm.load, warmupSeconds } } }
}

/** @param {TrialRecord} record */
function describe({ trial, outcome, load, window, boundBy, isSteady, reasons }) {
  const name = `${trial.id.replace(/^r\d+-/, '')}:`
  if (outcome === 'failed' || !load || !window) return `${name} failed: ${reasons[0]}`
  const rate = `${Math.round(load.verified / window.seconds)} requests/s, bound by ${boundBy}`
  return `${name} ${rate}${isSteady ? '' : ', unsteady'}${outcome === 'invalid' ? `, invalid: ${reasons[0]}` : ''}`
}

/**
 * The time left, from the pace so far.
 * @param {Trial[]} trials
 */
function createPace(trials) {
  const start = performance.now()
  let done = 0
  return {
    left(/** @type {Trial} */ trial) {
      done = Math.max(done, trials.findIndex(t => t.id === trial.id) + 1)
      const planned = estimateSeconds(trials.slice(0, done))
      const pace = (performance.now() - start) / 1000 / planned
      const left = Math.round(estimateSeconds(trials.slice(done)) * pace)
      return left > 0 ? `(${left >= 90 ? `${Math.round(left / 60)} min` : `${left} s`} left)` : ''
    },
  }
}
