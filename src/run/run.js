import { summarise } from '../analysis/summarise.js'
import { ratePerSecond } from '../judge/measures.js'
import { BenchError } from '../lib/errors.js'
import { sayLeft } from '../live/words.js'
import { leaveOutUnreachable } from '../plan/calibration.js'
import { estimatePlanSeconds, estimateSeconds, withWarmupFor } from '../plan/plan.js'
import { appendTrial, copyTrial, readRun, writeObserved, writeResult } from '../records/records.js'
import { judgeOutcome } from '../search/outcome.js'
import { startSearch } from '../search/searches.js'
import { runTrial } from './trial.js'

/**
 * @import { Arm, Calibration, Plan, Summary, Trial, TrialRecord } from '../model/types.ts'
 * @import { RunEvent } from '../live/state.js'
 * @import { Bench } from './start-services.js'
 * @import { GateParity } from './parity/gate.js'
 */

// Repetitions of unsteady windows: as many as two more rounds.
const SPARE_ROUNDS = 2
/**
 * @typedef {{ take: () => Promise<void>, pass: () => void }} Turns
 * @typedef {{ take: (arm: Arm) => { folder: string, record: TrialRecord } | null }} Reusable each record is given once
 */

const NOTHING = { take: () => null }
const ALONE = { take: async () => {}, pass: () => {} }

/**
 * Runs a plan: holds the planes to parity, then round after round; each trial is on disk before the next starts.
 * @param {{ plan: Plan, bench: Bench, gateParity: GateParity, folder: string, manifest: Record<string, unknown>,
 *   signal: AbortSignal, say: (line: string) => void, turns?: Turns, reusable?: Reusable }} options
 *   say: a line of progress; turns: taken for the checks and for each round, where another run goes on beside this one;
 *   reusable: trials of earlier runs that a search may take
 * @returns {Promise<Summary>}
 * @throws {import('../lib/errors.js').BenchError} when an arm cannot serve at all, or nothing can be recorded
 */
export async function runPlan({ plan, bench, gateParity, folder, manifest, signal, say, ...options }) {
  const { turns = ALONE, reusable = NOTHING } = options
  writeResult(folder, 'manifest.json', `${JSON.stringify({ ...manifest, parity: [] }, null, 2)}\n`)
  const watch = (/** @type {RunEvent} */ event) => bench.watch?.(event)
  watch({ kind: 'planned', ...describePlan(plan, manifest), atMs: Date.now() })
  let index = 0
  const nextIndex = () => index++
  await turns.take()
  watch({ kind: 'phase', phase: 'parity', atMs: Date.now() })
  const parity = await gateParity({ bench, arms: plan.arms, nextIndex, signal, say })
  turns.pass()
  writeResult(folder, 'manifest.json', `${JSON.stringify({ ...manifest, parity }, null, 2)}\n`)

  const kept = plan.settings.keepsServices ? new Map() : undefined
  /** @param {{ trial: Trial, isLast?: boolean, progress: string, secondsLeft?: (isDone: boolean) => number }} options */
  const run = async ({ trial, isLast = false, progress, secondsLeft }) => {
    watch({ kind: 'trial-started', trial, progress, secondsLeft: secondsLeft?.(false) ?? null, atMs: Date.now() })
    const { record, ...observed } = await runTrial({
      ...{ bench: { ...bench, retain: bench.retain && isLast }, trial, index: nextIndex(), kept, signal },
    })
    appendTrial(folder, record)
    writeObserved(folder, { trial, ...observed })
    watch({ kind: 'trial-ended', record, atMs: Date.now() })
    say(`${progress}${describeLeft(secondsLeft?.(true) ?? 0)}  ${describe(record)}`)
    return record
  }

  /** @type {Summary} */
  let summary
  /** @type {'finished' | 'interrupted' | 'failed'} */
  let outcome = 'failed'
  try {
    if (plan.search) {
      for (const template of plan.arms) await runSearch({ template, plan, bench, reusable, folder, run, signal, say })
    } else {
      const measured = await calibrate({ plan, manifest: { ...manifest, parity }, folder, run, signal, say })
      if (measured !== plan) watch({ kind: 'planned', ...describePlan(measured, manifest), atMs: Date.now() })
      await runRounds({ plan: measured, run, turns, signal })
    }
    outcome = 'finished'
  } finally {
    if (signal.aborted) outcome = 'interrupted'
    watch({ kind: 'ended', outcome, message: null, atMs: Date.now() })
    for (const { deployment } of kept?.values() ?? []) await deployment.remove()
    summary = writeSummary(folder)
  }
  return summary
}

/**
 * Round after round; windows that were unsteady or cold are run again at the end of theirs.
 * @param {{ plan: Plan, run: (options: { trial: Trial, isLast: boolean, progress: string, secondsLeft: (isDone: boolean) => number }) => Promise<TrialRecord>,
 *   turns: Turns, signal: AbortSignal }} options
 */
async function runRounds({ plan, run, turns, signal }) {
  const pace = createPace(plan.trials)
  let spare = SPARE_ROUNDS * plan.arms.length
  const lastTrial = plan.trials.at(-1)
  // An arm whose users were cold when the window opened gets a warm-up twice as long from then on.
  const warmups = new Map()
  const runOne = (/** @type {Trial} */ planned) =>
    run({
      trial: withWarmup(planned, warmups.get(planned.arm.id)),
      isLast: planned === lastTrial,
      progress: `round ${planned.round} of ${plan.rounds}`,
      secondsLeft: isDone => pace.secondsLeft(planned, isDone),
    })
  for (let round = 1; round <= plan.rounds; round++) {
    await turns.take()
    signal.throwIfAborted()
    const records = []
    for (const trial of plan.trials.filter(t => t.round === round)) records.push(await runOne(trial))
    for (const { trial, isSteady, load } of records) {
      const isCold = (load?.coldUsers ?? 0) > 0 || load?.verified === 0
      if (isCold) warmups.set(trial.arm.id, 2 * trial.arm.load.warmupSeconds)
      if ((isCold || (isSteady === false && trial.arm.load.burst === null)) && spare-- > 0)
        await runOne({ ...trial, id: `${trial.id}-again`, repeats: trial.id })
    }
    turns.pass()
  }
}

/**
 * Finds what each plane reaches in a closed loop, once, and leaves out the rates too near to it.
 * @param {{ plan: Plan, manifest: Record<string, unknown>, folder: string, signal: AbortSignal, say: (line: string) => void,
 *   run: (options: { trial: Trial, progress: string }) => Promise<TrialRecord> }} options
 * @returns {Promise<Plan>}
 */
async function calibrate({ plan, manifest, folder, run, signal, say }) {
  if (plan.calibrations.length === 0 || plan.mostOfCapacity === null) return plan
  /** @type {Calibration[]} */
  const calibrations = []
  for (const arm of plan.calibrations) {
    signal.throwIfAborted()
    const trial = { id: `r1-${arm.id}`, round: 1, arm, repeats: null, searchOf: null }
    const record = await run({ trial, progress: 'finding the capacity' })
    const { boundBy } = record
    calibrations.push({ armId: arm.id, ratePerSecond: ratePerSecond(record), boundBy, trialId: trial.id })
  }
  const { arms, notMeasured } = leaveOutUnreachable({ plan, calibrations })
  if (arms.length === 0) throw new BenchError('no rate can be reached here: ask for lower ones with --rate')
  for (const { plane, reason } of notMeasured) say(`not measured: ${plane}: ${reason}`)
  const left = {
    ...plan,
    arms,
    notMeasured: [...plan.notMeasured, ...notMeasured],
    trials: plan.trials.filter(t => arms.some(arm => arm.id === t.arm.id)),
  }
  const now = { ...manifest, arms, notMeasured: left.notMeasured, calibrations }
  writeResult(folder, 'manifest.json', `${JSON.stringify(now, null, 2)}\n`)
  return left
}

/**
 * Looks for an arm's limit, trial after trial; those that an earlier run has are taken from it.
 * @param {{ template: Arm, plan: Plan, bench: Bench, reusable: Reusable, folder: string, signal: AbortSignal,
 *   run: (options: { trial: Trial, progress: string }) => Promise<TrialRecord>, say: (line: string) => void }} options
 */
async function runSearch({ template, plan, bench, reusable, folder, run, signal, say }) {
  const spec = /** @type {import('../model/types.ts').SearchSpec} */ (plan.search)
  const search = startSearch({ template, spec, cpus: bench.cpus })
  const counts = new Map()
  for (let step = search.next(); !step.done; ) {
    signal.throwIfAborted()
    const arm = withWarmupFor(step.value)
    const nth = (counts.get(arm.id) ?? 0) + 1
    counts.set(arm.id, nth)
    const trial = { id: `s${nth}-${arm.id}`, round: nth, arm, repeats: null, searchOf: template.id }
    const known = reusable.take(arm)
    if (known) {
      copyTrial({ from: known.folder, to: folder, record: known.record, trial })
      bench.watch?.({ kind: 'trial-ended', record: { ...known.record, trial }, atMs: Date.now() })
      say(`looking for the ${spec.kind}  ${trial.id}: taken from ${known.folder}`)
    }
    const record = known ? { ...known.record, trial } : await run({ trial, progress: `looking for the ${spec.kind}` })
    const outcome = judgeOutcome(record, spec.p99Ms)
    say(`    ${outcome.held === null ? 'not judged' : outcome.held ? 'held' : 'failed'}: ${outcome.why}`)
    step = search.next(outcome)
  }
}

/**
 * Makes summary.json from the records on disk.
 * @param {string} folder
 * @param {ReturnType<typeof readRun>} [run] as it was read
 * @returns {Summary}
 */
export function writeSummary(folder, { manifest, records } = readRun(folder)) {
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
  if (outcome === 'failed' || !window) return `${name} failed: ${reasons[0]}`
  if (load === null)
    return `${name} idle for ${window.seconds} s${outcome === 'invalid' ? `, invalid: ${reasons[0]}` : ''}`
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
    /**
     * @param {Trial} trial
     * @param {boolean} isDone
     */
    secondsLeft(trial, isDone) {
      const at = trials.findIndex(t => t.id === trial.id)
      done = Math.max(done, isDone ? at + 1 : at)
      const pace = done > 0 ? (performance.now() - start) / 1000 / estimateSeconds(trials.slice(0, done)) : 1
      return estimateSeconds(trials.slice(done)) * pace
    },
  }
}

/** @param {number} secondsLeft */
function describeLeft(secondsLeft) {
  const left = Math.round(secondsLeft)
  return left > 0 ? ` (${sayLeft(left)})` : ''
}

/**
 * @param {Plan} plan
 * @param {any} manifest
 */
function describePlan(plan, { run }) {
  const { experiment, question, arms, rounds, trials, search } = plan
  return {
    run: { id: `${run?.id}`, experiment, question },
    ...{ arms, rounds, trials: search ? null : trials.length },
    seconds: estimatePlanSeconds(plan),
  }
}
