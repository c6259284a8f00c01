import { renderTextTable, wrapText } from '../lib/text-table.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'
import { listDifferingRows } from '../parity/verdict/rows.js'
import { listPlaneDifferences, renderDeployedWork, renderScriptNotes, tabulateParity } from '../parity/verdict/table.js'

/**
 * The section on the check for equal work. Pure.
 * @import { Summary } from '../model/types.ts'
 * @import { Section } from './section.js'
 */

/**
 * Creates the section on equal work: the results of all checks, and how work differs. A terminal shows `renderParity`.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {Section} without blocks if nothing was checked
 */
export function createEqualWorkSection(summary) {
  if (summary.parity.length === 0) return { id: 'parity', name: 'Equal work', blocks: [] }
  return {
    id: 'parity',
    name: 'Equal work',
    blocks: [
      { type: 'table', table: tabulateParity(summary), brief: renderParity(summary) },
      { type: 'list', on: 'documents', lines: listPlaneDifferences(summary) },
    ],
  }
}

/**
 * Renders for a terminal that work was equal, or the checks in which it differs. Those that the experiment sets aside
 * are left out if others differ.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {string[]} lines; [] if nothing was checked
 */
export function renderParity({ parity, results, relaxes }) {
  if (parity.length === 0) return []
  const { differing, wrong } = listDifferingRows({ parity, results, relaxes })
  if (differing.length === 0) return renderPassedCheck({ parity })
  const rows = parity.filter(row => (wrong.length > 0 ? wrong : differing).includes(row.name))
  return [
    wrong.length > 0
      ? 'Equal-work check: NOT passed:'
      : 'Equal-work check: passed but for what the experiment sets aside:',
    ...renderTextTable(tabulateParity({ parity: rows })),
    ...listPlaneDifferences({ parity: rows }).flatMap(line => wrapText(line, '  ', '    ')),
  ]
}

/**
 * Renders that work was equal, what all planes lack alike, and notes on planes as deployed and scripts of the user.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} lines
 */
function renderPassedCheck({ parity }) {
  const notes = [...renderDeployedWork({ parity }), ...renderScriptNotes({ parity })]
  const judgedRows = parity.filter(row => PARITY_NAMES.includes(row.name) && !row.isDeployed)
  const lacks = [...new Set(judgedRows.flatMap(row => row.lacks ?? []))]
  const scope = notes.length > 0 ? ' between the other planes' : ''
  const lacksNote = lacks.length > 0 ? `; all lack the same: ${lacks.join('; ')}` : ''
  return [`Equal-work check: passed${scope}${lacksNote}.`, ...notes.flatMap(line => wrapText(line, '', '  '))]
}
