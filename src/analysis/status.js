import { listResults } from '../kinds/sections.js'
import { EXIT } from '../lib/errors.js'
import { listArms, listComparisons } from '../model/results.js'

/** The exit status of a run that ended. Pure. @import { Summary } from '../model/types.ts' */

const CONCLUDED = ['lower', 'higher', 'no-difference-shown']

/**
 * Chooses the exit status of a run, with its reasons. A run that shows nothing takes precedence over a crossed threshold.
 * @param {Summary} summary
 * @param {{ isVerdictRequired: boolean }} options isVerdictRequired: a run without a verdict shows nothing
 * @returns {{ status: number, reasons: string[] }} status: an exit code (`EXIT`); reasons: [] if it is 0
 */
export function chooseRunStatus(summary, { isVerdictRequired }) {
  const { thresholds } = summary
  const [arms, comparisons] = [listArms(summary), listComparisons(summary)]
  const pairs = comparisons.filter(c => !c.isControl)
  const measured = arms.filter(arm => arm.trials.completed > 0)
  const nothing = []
  if (pairs.length > 0 && pairs.every(c => c.ratio.median === null || c.verdict === 'invalid'))
    nothing.push('nothing could be compared: every quantity of every pair was spoiled')
  if (measured.length < Math.min(2, arms.length)) nothing.push('nothing could be compared: no trials were completed')
  nothing.push(...listResults(summary).flatMap(({ sections, result }) => sections.renderNothingShown?.(result) ?? []))
  for (const { expression, held } of thresholds)
    if (held === null)
      nothing.push(`the threshold ${expression} could not be tested: its quantity was spoiled, or not measured`)
  if (isVerdictRequired && !pairs.some(c => CONCLUDED.includes(c.verdict))) nothing.push('no verdict was reached')
  const crossed = thresholds.filter(t => t.held === false)
  return chooseStatus({
    nothing,
    crossed: crossed.map(({ expression, value }) => `the threshold ${expression} was crossed: ${value?.toFixed(3)}`),
  })
}

/**
 * Chooses the exit status: reasons that nothing was shown take precedence over crossed thresholds, and are then the only ones.
 * @param {{ nothing: string[], crossed: string[] }} reasons
 * @returns {{ status: number, reasons: string[] }} status: an exit code (`EXIT`); reasons: [] if it is 0
 */
export function chooseStatus({ nothing, crossed }) {
  if (nothing.length > 0) return { status: EXIT.noResult, reasons: nothing }
  return { status: crossed.length > 0 ? EXIT.thresholdCrossed : EXIT.done, reasons: crossed }
}
