import { pickPlaneChoice } from '../../model/arms.js'
import { extrapolateCpu } from './lower-rates.js'
import { renderTrialState } from './outcome.js'
import { chooseSizeAnswer, judgeTriedLimits } from './size-answer.js'
import { createSearchResult, hasOnlyCpuRequest, readCpuCores } from './step.js'

/**
 * The result of `size` from the trials of a load: its answer, with the trials that led to it. Pure.
 * @import { Arm, SearchStep, SizeResult } from '../../model/types.ts'
 * @import { Tried } from './all-cpu.js'
 * @import { JudgedLimits, SizeAnswer } from './size-answer.js'
 */

/**
 * @typedef {object} SizeOptions
 * @property {Arm} template with the rate
 * @property {number} cpus of the machine
 * @property {number} p99Ms the limit
 * @property {Tried[]} tried the trials so far
 * @property {boolean} isOver the search has ended
 * @property {string[]} [services] names of services with this load; [] by default
 * @property {SizeResult['line']} [line] of the CPU over the rate; null by default
 */

/**
 * Creates the result of `size` for one load.
 * @param {SizeOptions} options
 * @returns {SizeResult} if the answer has no limits, memory is null, and `extrapolated` may have a value
 */
export function createSizeResult({ template, cpus, p99Ms, tried, isOver, services = [], line = null }) {
  const groups = judgeTriedLimits(tried, p99Ms)
  const answer = chooseSizeAnswer({ template, cpus, p99Ms, tried, groups, isOver })
  const { limits, state, why } = answer
  const cpuSteps = createCpuSteps(groups, limits)
  const failedStep = cpuSteps.findLast(step => step.held === false && step.value < (limits?.cores ?? Infinity))
  const answerFields = { template, isFound: limits !== null, why }
  return {
    ...pickPlaneChoice(template),
    ratePerSecond: template.load.ratePerSecond ?? 0,
    p99LimitMs: p99Ms,
    p99Ms: answer.p99Ms,
    services,
    line,
    ...(hasOnlyCpuRequest(template) && { neighbourCores: template.conditions.neighbourCores }),
    cpu: createSearchResult({
      ...answerFields,
      looksFor: 'cpu',
      held: limits?.cores ?? null,
      failed: failedStep?.value ?? null,
      steps: cpuSteps,
    }),
    memory:
      limits && createSearchResult({ ...answerFields, looksFor: 'memory', held: limits.bytes, unchargedBytes: 0 }),
    checks: createAnswerChecks(answer),
    isChecked: state === 'confirmed',
    extrapolated: limits ? null : extrapolateCpu({ template, cpus, tried }),
    isOver,
    answer,
    trials: listSizeTrials(tried),
  }
}

/**
 * Creates a step for each CPU limit that was tried with the memory limit of the answer; if it has none, with any.
 * @param {JudgedLimits[]} groups
 * @param {SizeAnswer['limits']} limits
 * @returns {SearchStep[]} by rising CPU limit; []: no trial had both limits
 */
function createCpuSteps(groups, limits) {
  const steps = groups
    .filter(group => limits === null || group.bytes === limits.bytes)
    .map(({ cores, met, missed, outcomes, why }) => ({
      value: cores,
      held: areAllMet({ met, missed }),
      why: why ?? 'met',
      trials: outcomes.map(o => o.trial),
    }))
  return steps.toSorted((a, b) => a.value - b.value)
}

/**
 * Creates the check of an answer: all trials at its limits.
 * @param {SizeAnswer} answer
 * @returns {SizeResult['checks']} []: there are no such trials
 */
function createAnswerChecks({ met, missed, why, trials }) {
  if (trials.length === 0) return []
  return [{ what: 'at the answer', mustHold: true, held: areAllMet({ met, missed }), why, trials }]
}

/**
 * Says whether all judged trials met the p99.
 * @param {{ met: number, missed: number }} counts
 * @returns {boolean | null} null: none was judged
 */
function areAllMet({ met, missed }) {
  if (met + missed === 0) return null
  return missed === 0
}

/**
 * Lists the trials with their limits and outcomes.
 * @param {Tried[]} tried
 * @returns {NonNullable<SizeResult['trials']>}
 */
function listSizeTrials(tried) {
  return tried.map(({ arm, outcome: { trial, held, p99Ms, why } }) => ({
    trial,
    ratePerSecond: arm.load.ratePerSecond ?? 0,
    cpuCores: readCpuCores(arm),
    memoryBytes: arm.conditions.memoryLimitBytes,
    state: renderTrialState(held),
    p99Ms,
    why,
  }))
}
