import { listResults } from '../kinds/sections.js'
import { EXIT } from '../lib/errors.js'
import { listArms, listComparisons } from '../model/results.js'

/** Chooses the exit status of a run that ended. Pure. @import { Summary } from '../model/types.ts' */

const CONCLUSIVE_VERDICTS = ['lower', 'higher', 'no-difference-shown']

/**
 * Chooses the exit status of a run, with its reasons. A run that shows nothing takes precedence over a crossed threshold.
 * @param {Summary} summary
 * @param {{ isVerdictRequired: boolean }} options isVerdictRequired: a run without a verdict shows nothing
 * @returns {{ status: number, reasons: string[] }} status: an exit code (`EXIT`); reasons: [] if it is 0
 * @throws {import('../lib/errors.js').BenchError} for a result of a kind that this version of the kit does not have
 */
export function chooseRunStatus(summary, { isVerdictRequired }) {
  const { thresholds } = summary
  const arms = listArms(summary)
  const pairs = listComparisons(summary).filter(c => !c.isControl)
  const measuredArms = arms.filter(arm => arm.trials.completed > 0)
  const lacks = []
  if (pairs.length > 0 && pairs.every(c => c.ratio.median === null || c.verdict === 'invalid'))
    lacks.push('nothing could be compared: no pair has a verdict')
  if (measuredArms.length < Math.min(2, arms.length)) lacks.push('nothing could be compared: no trials were completed')
  lacks.push(...listResults(summary).flatMap(({ sections, result }) => sections.renderNothingShown?.(result) ?? []))
  for (const { expression, held } of thresholds)
    if (held === null)
      lacks.push(`the threshold ${expression} could not be tested: its quantity was excluded, or not measured`)
  const hasVerdict = pairs.some(c => CONCLUSIVE_VERDICTS.includes(c.verdict))
  if (isVerdictRequired && !hasVerdict) lacks.push('no verdict was reached')
  const crossedThresholds = thresholds.filter(t => t.held === false)
  return chooseStatus({
    lacks,
    crossed: crossedThresholds.map(
      ({ expression, value }) => `the threshold ${expression} was crossed: ${value?.toFixed(3)}`,
    ),
  })
}

/**
 * Chooses the exit status from the reasons against success.
 * @param {{ lacks: string[], crossed: string[] }} reasons lacks: what was not shown; crossed: thresholds that were crossed
 * @returns {{ status: number, reasons: string[] }} status: an exit code (`EXIT`); reasons: `lacks` alone if there are any, else
 *   `crossed`
 */
export function chooseStatus({ lacks, crossed }) {
  if (lacks.length > 0) return { status: EXIT.noResult, reasons: lacks }
  return { status: crossed.length > 0 ? EXIT.thresholdCrossed : EXIT.done, reasons: crossed }
}
