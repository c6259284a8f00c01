import { showControls } from '../lib/printable.js'
import { listNotMeasured, tabulatePictures } from './answer/markdown.js'
import { CONTRASTS, SECONDARY } from './verdicts.js'

/** Renders runs and histories for a pull request or a CI job. Pure. @import { Table } from '../lib/text-table.js' */

/** Renders a run. @param {import('./document.js').Document} document */
export function renderMarkdown(document) {
  const { answer, missing, verdicts, contrasts, findings, thresholds, results, notes } = document
  const { trials, parity, disparities, claims, untested, provenance } = document
  const parts = [
    `**${answer.verdicts.map(escapeText).join('**<br>\n**')}**`,
    ...tabulatePictures(answer).map(renderTable),
    escapeText(answer.basis.join(' ')),
    list([...new Set([...answer.warnings, ...missing, ...listNotMeasured(answer)])]),
    escapeText(answer.conditions.join(' · ')),
    '### Every verdict',
    ...verdicts.flatMap(({ heading, primary, secondary, noise }) => [
      heading ? `#### ${escapeText(heading)}` : '',
      list(primary),
      secondary.length > 0 ? `${SECONDARY}:` : '',
      list(secondary),
      escapeText(noise),
    ]),
    contrasts.length > 0 ? `${CONTRASTS}:` : '',
    list(contrasts),
    list(thresholds),
    ...results.map(renderTable),
    findings.length > 0 ? fence(findings) : '',
    list(notes),
    ...(trials && trials.gates.rows.length > 0 ? [fold(trials.gates)] : []),
    ...(parity ? [fold(parity), list(disparities)] : []),
    ...[claims, untested].filter(({ rows }) => rows.length > 0).map(fold),
    fold(provenance),
  ]
  return joinParts(parts)
}

/** Renders a history. @param {import('./history.js').HistoryDocument} history */
export function renderHistoryMarkdown({ title, answer, notes, charts, changes, left }) {
  return joinParts([
    `## ${escapeText(title)}`,
    `**${escapeText(answer)}**`,
    ...[...charts.map(chart => chart.table), changes, left].filter(({ rows }) => rows.length > 0).map(fold),
    list(notes),
  ])
}

/** @param {string[]} parts */
const joinParts = parts => `${parts.filter(Boolean).join('\n\n')}\n`

/** @param {Table} table */
function renderTable({ caption, columns, rows }) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  const show = (/** @type {Table['rows'][0][0]} */ cell) => {
    if (typeof cell === 'string') return [cell.split('\n').map(escapeText).join('<br>')]
    return [`**${escapeText(cell.content)}**`, ...Array(cell.colSpan - 1).fill('')]
  }
  return [
    ...(caption ? [`${escapeText(caption)}:`, ''] : []),
    line(columns.map(([name]) => escapeText(name) || ' ')),
    line(columns.map(([, align]) => (align === 'right' ? '--:' : '---'))),
    ...rows.map(cells => line(cells.flatMap(show))),
  ].join('\n')
}

/** @param {Table} table */
function fold(table) {
  return `<details><summary>${escapeText(table.caption)}</summary>\n\n${renderTable({ ...table, caption: '' })}\n\n</details>`
}

/** @param {string[]} lines */
const list = lines => lines.map(line => `- ${escapeText(line)}`).join('\n')

/** @param {string[]} lines */
function fence(lines) {
  const longest = Math.max(2, ...lines.flatMap(line => [...line.matchAll(/`+/g)].map(([ticks]) => ticks.length)))
  const ticks = '`'.repeat(longest + 1)
  return [ticks, ...lines.map(showControls), ticks].join('\n')
}

/** Escapes both kinds of markup. @param {string} text */
function escapeText(text) {
  return showControls(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_[\]|~#]/g, character => `\\${character}`)
    .replace(/\r?\n/g, ' ')
}
