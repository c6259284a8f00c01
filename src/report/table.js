import { linksOf, tabulateArms } from './arms-table.js'
import { renderCpuLines, renderSlopes } from './fits.js'
import { renderNext, renderNotes, renderThresholds } from './notes.js'
import { listDisparities, tabulateParity } from './parity-table.js'
import { renderPivots } from './pivot.js'
import { isSearch, renderSearches, renderSizes } from './searches.js'
import { joinParts, renderTextTable } from './text-table.js'
import { CONTRASTS, SECONDARY, tellContrasts, tellVerdicts } from './verdicts.js'

/**
 * @import { Summary } from '../model/types.ts'
 */

/**
 * The terminal's report: what could not be measured, the verdicts, a row per plane, cap and link with a line in it
 * per sidecar (or a column per value of the axis that the experiment is about), parity, and what the numbers do not say.
 * @param {Summary} summary
 */
export function renderTable(summary) {
  const missing = summary.notMeasured.map(({ plane, reason }) => `Not measured: ${plane}: ${reason}`)
  const { arms, machine, run, shows } = summary
  const isOfSearch = isSearch(summary)
  if (arms.length === 0) return [...missing, `${run.experiment}: nothing was measured`].join('\n')
  const [{ load, target }] = arms
  const where = target === 'local' ? '' : `, on ${target} (${machine.node})`
  const title = `${run.experiment}, link ${linksOf(summary).join(' and ')}, ${load.windowSeconds} s windows${where}`
  const isIdle = load.kind === 'idle'
  return joinParts([
    missing,
    [title],
    renderAnswers(summary),
    renderContrasts(summary),
    renderSizes(summary),
    renderSearches(summary),
    ...(isOfSearch ? [] : shows.across || isIdle ? renderPivots(summary) : [renderTextTable(tabulateArms(summary))]),
    renderCpuLines(summary),
    renderSlopes(summary),
    isOfSearch ? [] : [...renderNotes(summary), ...renderThresholds(summary)],
    summary.parity.length > 0 ? renderParity(summary) : [],
    [...(isOfSearch || isIdle ? [] : renderNext(summary)), ...missing],
  ])
}

/** @param {Summary} summary */
function renderAnswers(summary) {
  return tellVerdicts(summary).flatMap(({ heading, primary, secondary, noise }) =>
    [
      heading && `${heading}:`,
      ...primary,
      ...(secondary.length > 0 ? [`${SECONDARY}:`, ...secondary.map(line => `  ${line}`)] : []),
      noise,
    ].filter(Boolean),
  )
}

/** @param {Summary} summary */
function renderContrasts(summary) {
  const lines = tellContrasts(summary)
  return lines.length > 0 ? [`${CONTRASTS}:`, ...lines.map(line => `  ${line}`)] : []
}

/** @param {Summary} summary */
function renderParity(summary) {
  const table = tabulateParity(summary)
  return [`${table.caption}:`, ...renderTextTable(table), ...listDisparities(summary).map(line => `  ${line}`)]
}
