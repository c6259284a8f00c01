import { escapeControls } from '../lib/printable.js'
import { renderNotMeasured, tabulatePicture } from './answer/markdown.js'
import { escapeMarkup } from './markup.js'
import { selectSections } from './section.js'

/** Renders runs and histories for a pull request or a CI job. Pure. */
/**
 * @import { Table } from '../lib/text-table.js'
 * @import { Block, Section } from './section.js'
 */

/**
 * Renders a run: its verdicts, pictures, basis and notes, warnings with what was not measured, and conditions; then its sections.
 * @param {import('./document.js').Document} document
 * @returns {string} GitHub's Markdown
 */
export function renderMarkdown({ answer, missing, sections }) {
  return joinMarkdownParts([
    `**${answer.verdicts.map(escapeText).join('**<br>\n**')}**`,
    ...answer.pictures.map(picture => renderTable(tabulatePicture(picture))),
    escapeText([...answer.basis, ...(answer.notes ?? [])].join(' ')),
    renderList([...new Set([...answer.warnings, ...missing, ...renderNotMeasured(answer)])]),
    escapeText(answer.conditions.join(' · ')),
    '### Every verdict',
    ...renderSections(sections),
  ])
}

/**
 * Renders a history: its title, answer and sections.
 * @param {import('./history.js').HistoryDocument} history
 * @returns {string} GitHub's Markdown
 */
export function renderHistoryMarkdown({ title, answer, sections }) {
  return joinMarkdownParts([`## ${escapeText(title)}`, `**${escapeText(answer)}**`, ...renderSections(sections)])
}

/**
 * Renders sections with their blocks.
 * @param {Section[]} sections
 * @returns {string[]} parts; empty ones may be among them
 */
function renderSections(sections) {
  return selectSections(sections, 'markdown').flatMap(({ name, isNamed, blocks }) => [
    isNamed ? `#### ${escapeText(name)}` : '',
    ...blocks.flatMap(renderBlock),
  ])
}

/**
 * Renders a block. Tables of sentences, of charts, and those with a brief are folded.
 * @param {Block} block
 * @returns {string[]} parts; empty ones may be among them; [] for a table without rows
 */
function renderBlock(block) {
  switch (block.type) {
    case 'heading':
      return [`##### ${escapeText(block.text)}`]
    case 'sentences':
      return block.tone === 'strong' ? [renderList(block.lines)] : block.lines.map(escapeText)
    case 'list':
      return [block.heading === undefined ? '' : `${escapeText(block.heading)}:`, renderList(block.lines)]
    case 'columns':
      return [fenceLines(block.lines)]
    case 'table':
      if (block.table.rows.length === 0) return []
      return [block.form === 'prose' || block.brief ? renderFoldedTable(block.table) : renderTable(block.table)]
    case 'charts':
      return block.charts.map(({ table }) => renderFoldedTable(table))
  }
}

/**
 * Joins the parts that are not empty, with an empty line between them.
 * @param {string[]} parts
 * @returns {string} with a line end at its end
 */
const joinMarkdownParts = parts => `${parts.filter(Boolean).join('\n\n')}\n`

/**
 * Renders a table below its caption, if it has one. Markdown has no cells over several columns: empty cells follow the
 * content of one.
 * @param {Table} table
 * @returns {string}
 */
function renderTable({ caption, columns, rows }) {
  const renderRow = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  const renderCells = (/** @type {Table['rows'][0][0]} */ cell) => {
    if (typeof cell === 'string') return [cell.split('\n').map(escapeText).join('<br>')]
    return [`**${escapeText(cell.content)}**`, ...Array(cell.colSpan - 1).fill('')]
  }
  return [
    ...(caption ? [`${escapeText(caption)}:`, ''] : []),
    renderRow(columns.map(([name]) => escapeText(name) || ' ')),
    renderRow(columns.map(([, align]) => (align === 'right' ? '--:' : '---'))),
    ...rows.map(cells => renderRow(cells.flatMap(renderCells))),
  ].join('\n')
}

/** Renders a folded table: GitHub shows its caption, and the rest on a click. @param {Table} table @returns {string} */
function renderFoldedTable(table) {
  return `<details><summary>${escapeMarkup(table.caption)}</summary>\n\n${renderTable({ ...table, caption: '' })}\n\n</details>`
}

/** Renders a list, an item for each line. @param {string[]} lines @returns {string} empty without lines */
const renderList = lines => lines.map(line => `- ${escapeText(line)}`).join('\n')

/**
 * Renders lines as code, in a fence that is longer than any run of backticks in them.
 * @param {string[]} lines
 * @returns {string}
 */
function fenceLines(lines) {
  const runs = lines.flatMap(line => line.match(/`+/g) ?? [])
  const fence = '`'.repeat(1 + Math.max(2, ...runs.map(run => run.length)))
  return [fence, ...lines.map(escapeControls), fence].join('\n')
}

/**
 * Escapes a text as HTML and as Markdown, which may contain HTML. Line ends become spaces.
 * @param {string} text
 * @returns {string}
 */
function escapeText(text) {
  return escapeControls(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_[\]|~#]/g, character => `\\${character}`)
    .replace(/\r?\n/g, ' ')
}
