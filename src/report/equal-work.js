import { renderTextTable, wrapText } from '../lib/text-table.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'
import {
  listDifferingRows,
  listDisparities,
  renderScriptNotes,
  renderScriptWork,
  tabulateParity,
} from '../parity/verdict/rows.js'

/**
 * The section on the check for equal work. Pure.
 * @import { Summary } from '../model/types.ts'
 * @import { Section } from './section.js'
 */

/**
 * Creates the section on equal work.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {Section} without blocks: nothing was checked
 */
export function createEqualWorkSection(summary) {
  if (summary.parity.length === 0) return { id: 'parity', name: 'Equal work', blocks: [] }
  return {
    id: 'parity',
    name: 'Equal work',
    blocks: [
      { type: 'table', table: tabulateParity(summary), brief: renderParity(summary) },
      { type: 'list', on: 'documents', lines: listDisparities(summary) },
    ],
  }
}

/**
 * Renders for a terminal that work was equal, or the checks in which it differs. Those that the experiment sets aside
 * are left out if others differ.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {string[]} lines; []: nothing was checked
 */
export function renderParity({ parity, results, relaxes }) {
  if (parity.length === 0) return []
  const { differing, wrong } = listDifferingRows({ parity, results, relaxes })
  const alike = parity.filter(
    row => PARITY_NAMES.includes(row.name) && !differing.includes(row.name) && !row.isDeployed,
  )
  const shared = [...new Set(alike.flatMap(({ lacks = [] }) => lacks))]
  const findings = [...renderScriptWork({ parity }), ...renderScriptNotes({ parity })]
  if (differing.length === 0) {
    const between = findings.length > 0 ? ' between the other planes' : ''
    const lacking = shared.length > 0 ? `; all lack the same: ${shared.join('; ')}` : ''
    return [`Equal-work check: passed${between}${lacking}.`, ...findings.flatMap(line => wrapText(line, '', '  '))]
  }
  const rows = parity.filter(row => (wrong.length > 0 ? wrong : differing).includes(row.name))
  return [
    wrong.length > 0
      ? 'Equal-work check: NOT passed:'
      : 'Equal-work check: passed but for what the experiment sets aside:',
    ...renderTextTable(tabulateParity({ parity: rows })),
    ...listDisparities({ parity: rows }).flatMap(line => wrapText(line, '  ', '    ')),
  ]
}
