import { ROLLOUT_GATES } from '../kinds/rollout/gates.js'
import { ANSWER_GATES } from './gates/answers.js'
import { findTrialBound, isSpoiled, USES } from './gates/gate.js'
import { countDroppedRequests, LOAD_GATES, RATE_LEAST } from './gates/load.js'
import { isServingLoudPair } from './gates/loud.js'
import { PROCESS_GATES, READING_GATES } from './gates/processes.js'

/** The gates, which exclude a trial from uses. They read its record alone, so that `verify` reaches the same verdict. Pure. */
/** @import { GateFinding, LoadResult, TrialRecord } from '../model/types.ts' */
/** @import { GatedRecord } from './gates/gate.js' */

export { RATE_LEAST, USES }

const STEADY_DIFFERENCE_MOST = 0.2

/** The gates by name. Reasons are listed in this order. */
export const GATES = new Map(
  [...ANSWER_GATES, ...PROCESS_GATES, ...ROLLOUT_GATES, ...READING_GATES, ...LOAD_GATES].map(gate => [
    gate.name,
    { spoils: USES, ...gate },
  ]),
)

/**
 * Judges a trial from its record alone: it finds what bound the trial, and applies the gates.
 * @param {GatedRecord} record
 * @param {string[]} relaxed gates that the experiment sets aside
 * @returns {Pick<TrialRecord, 'boundBy' | 'isSteady' | 'gates' | 'outcome' | 'reasons'>} outcome: `invalid` if the gates spoil
 *   all uses; boundBy: null for idle and interleaved arms; isSteady: null for idle arms and those in turns; gates, reasons: []
 *   if no gate failed
 */
export function judgeTrial(record, relaxed) {
  const { load, trial } = record
  const boundBy = findBoundOrDrops(record)
  // Turns of a second do not divide into the halves of a window.
  const hasHalves = trial.arm.load.kind !== 'idle' && !trial.arm.load.isInterleaved
  const steady = hasHalves ? isSteady(load) : null
  const gates = listGateFindings({ ...record, boundBy, isSteady: steady }, relaxed)
  const isWorthless = USES.every(use => isSpoiled({ gates }, use))
  return {
    boundBy,
    isSteady: steady,
    gates,
    outcome: isWorthless ? 'invalid' : 'completed',
    reasons: gates.map(({ gate, reason }) => `${gate}: ${reason}`),
  }
}

/**
 * Finds what bound a trial (`findTrialBound`); `drops`, if nothing was saturated and requests of an open loop were dropped.
 * @param {GatedRecord} record
 * @returns {TrialRecord['boundBy']} null: the arm is idle or interleaved
 */
function findBoundOrDrops(record) {
  const { generatorCpus, host, loadHost, load, trial } = record
  const { kind } = trial.arm.load
  // The turns determine the rate of a closed loop in turns, so nothing else can have bound it.
  if (kind === 'idle' || kind === 'interleaved') return null
  const bound = findTrialBound({
    // A loud pair may be saturated, and so may a proxy that serves all: the trial has the rate of the other pairs.
    processes: scaleCpuToTurns(record).filter(process => !isServingLoudPair(record, process)),
    generatorCpus,
    idleFraction: host.idleFraction,
    loadHost,
    kind,
    podCpuCores: trial.arm.conditions.podCpuCores,
  })
  // A burst is only a part of the window, so nothing looks saturated over the whole: drops show that the rate was not kept.
  return bound === 'rate' && load.due !== undefined && countDroppedRequests(record) > 0 ? 'drops' : bound
}

/**
 * Scales the CPU of an open loop in turns to the arm's own turns: over the whole window only the generator looks busy.
 * @param {GatedRecord} record
 * @returns {TrialRecord['processes']} unchanged for any other load, or without a window
 */
function scaleCpuToTurns({ processes, load, window, trial }) {
  if (!load?.interleaved || !window || trial.arm.load.kind !== 'open') return processes
  const turnFactor = window.seconds / load.interleaved.seconds
  return processes.map(process => {
    if (process.role === 'generator') return process
    const { cpuCores, busiestThreadCores } = process
    return {
      ...process,
      cpuCores: cpuCores * turnFactor,
      busiestThreadCores: busiestThreadCores && busiestThreadCores * turnFactor,
    }
  })
}

/**
 * Lists the failures of all gates that are not relaxed. Gates of the load do not judge idle trials.
 * @param {GatedRecord} record
 * @param {string[]} [relaxed] names of gates that the experiment sets aside
 * @returns {GateFinding[]} []: no gate failed
 */
export function listGateFindings(record, relaxed = []) {
  const isIdle = record.trial.arm.load.kind === 'idle'
  const appliedGates = [...GATES.values()].filter(
    ({ name, isOfLoad }) => !relaxed.includes(name) && !(isIdle && isOfLoad),
  )
  return appliedGates.flatMap(({ name, spoils, find }) =>
    find(record)
      .filter(failure => typeof failure === 'string' || typeof failure === 'object')
      .map(failure => ({ gate: name, spoils, ...(typeof failure === 'string' ? { reason: failure } : failure) })),
  )
}

/**
 * Says whether the verified requests of the two halves of the window differ by at most STEADY_DIFFERENCE_MOST of their mean.
 * @param {Pick<LoadResult, 'verified' | 'verifiedInSecondHalf'>} load
 * @returns {boolean} true also: no request was verified
 */
export function isSteady({ verified, verifiedInSecondHalf }) {
  const verifiedInFirstHalf = verified - verifiedInSecondHalf
  return Math.abs(verifiedInSecondHalf - verifiedInFirstHalf) <= STEADY_DIFFERENCE_MOST * (verified / 2)
}
