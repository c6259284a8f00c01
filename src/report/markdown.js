import { showControls } from '../lib/printable.js'
import { CONTRASTS, SECONDARY } from './verdicts.js'

/**
 * A run, or a history of runs, for a pull request or the summary of a CI job. Pure.
 * @import { Document } from './document.js'
 * @import { HistoryDocument } from './history.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** @param {Document} document */
export function renderMarkdown(document) {
  const { title, answer, missing, verdicts, contrasts, findings, thresholds, results, notes, next } = document
  const { trials, parity, disparities, claims, untested, provenance } = document
  const parts = [
    `## ${escapeText(title)}`,
    `**${escapeText(answer)}**`,
    list(missing),
    ...verdicts.flatMap(({ heading, primary, secondary, noise }) => [
      heading ? `### ${escapeText(heading)}` : '',
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
    list(next),
  ]
  return joinParts(parts)
}

/** @param {HistoryDocument} history */
export function renderHistoryMarkdown({ title, answer, steps, notes, charts, changes, left }) {
  return joinParts([
    `## ${escapeText(title)}`,
    `**${escapeText(answer)}**`,
    list(steps),
    ...[...charts.map(chart => chart.table), changes, left].filter(({ rows }) => rows.length > 0).map(fold),
    list(notes),
  ])
}

/** @param {string[]} parts */
function joinParts(parts) {
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** @param {Table} table */
function renderTable({ caption, columns, rows }) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  const body = rows.map(cells =>
    line(
      cells.flatMap(cell =>
        typeof cell === 'object'
          ? [`**${escapeText(cell.content)}**`, ...Array(cell.colSpan - 1).fill('')]
          : [cell.split('\n').map(escapeText).join('<br>')],
      ),
    ),
  )
  return [
    ...(caption ? [`${escapeText(caption)}:`, ''] : []),
    line(columns.map(([name]) => escapeText(name) || ' ')),
    line(columns.map(([, align]) => (align === 'right' ? '--:' : '---'))),
    ...body,
  ].join('\n')
}

/** @param {Table} table */
function fold(table) {
  return `<details><summary>${escapeText(table.caption)}</summary>\n\n${renderTable({ ...table, caption: '' })}\n\n</details>`
}

/** @param {string[]} lines */
function list(lines) {
  return lines.map(line => `- ${escapeText(line)}`).join('\n')
}

/** @param {string[]} lines */
function fence(lines) {
  const longest = Math.max(2, ...lines.flatMap(line => [...line.matchAll(/`+/g)].map(([ticks]) => ticks.length)))
  const ticks = '`'.repeat(longest + 1)
  return [ticks, ...lines.map(showControls), ticks].join('\n')
}

/** Text that no reader takes for markup, of either kind. @param {string} text */
function escapeText(text) {
  return showControls(text)
    .replace(
      /[&<>]/g,
      character => /** @type {Record<string, string>} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character],
    )
    .replace(/[\\`*_[\]|~#]/g, character => `\\${character}`)
    .replace(/\r?\n/g, ' ')
}
