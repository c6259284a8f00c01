import { keepColumns, renderTextTable, wrapText } from '../lib/text-table.js'
import { selectSections } from './section.js'

/** Renders sections for a terminal of 100 columns. Pure. */
/**
 * @import { Block, Section } from './section.js'
 * @import { Table } from '../lib/text-table.js'
 */

// A table of more runs would fill the screen; the page and Markdown have all.
const RUNS_MOST = 12

/**
 * Renders sections. Charts become tables of their last RUNS_MOST runs.
 * @param {Section[]} sections
 * @returns {string[][]} parts, each a list of lines; `joinParts` puts empty lines between them; [] if all sections are empty
 */
export function renderSectionsText(sections) {
  return selectSections(sections, 'text').flatMap(({ name, isNamed = false, blocks }) => {
    /** @type {string[][]} */
    const parts = [isNamed ? [`${name}:`] : []]
    // The only table of a named section needs no caption.
    const hasCaptions = !isNamed || blocks.filter(({ type }) => type === 'table').length > 1
    blocks.forEach((block, i) => {
      const [first, ...others] = renderBlock(block, { isNamed, hasCaptions })
      // The first part of a block joins the last one so far, unless an empty line separates them.
      if (i > 0 && (isSeparated(block) || isSeparated(blocks[i - 1]))) parts.push(first)
      else parts[parts.length - 1].push(...first)
      parts.push(...others)
    })
    return parts
  })
}

/** Says whether empty lines separate a block from its neighbours; sentences and lists follow one another. @param {Block} block */
const isSeparated = ({ type }) => type === 'table' || type === 'charts' || type === 'columns' || type === 'heading'

/**
 * Renders a block.
 * @param {Block} block
 * @param {{ isNamed: boolean, hasCaptions: boolean }} section isNamed: its name is printed above; hasCaptions: its
 *   tables have captions
 * @returns {string[][]} one part, which is [] for a table without rows; of charts one for each
 */
function renderBlock(block, { isNamed, hasCaptions }) {
  switch (block.type) {
    case 'heading':
      return [[`${block.text}:`]]
    case 'sentences':
      return [block.lines.flatMap(line => wrapText(line, '', '  '))]
    case 'list':
      return [renderList(block, isNamed)]
    case 'columns':
      return [block.lines]
    case 'table':
      return [block.brief ?? renderTable(block, hasCaptions)]
    case 'charts':
      return block.charts.map(({ table }) => renderLastRuns(table))
  }
}

/**
 * Renders a list, indented below a heading or name.
 * @param {Extract<Block, { type: 'list' }>} list
 * @param {boolean} isNamed the name of the section is printed above
 * @returns {string[]} lines
 */
function renderList({ lines, heading }, isNamed) {
  const isIndented = isNamed || heading !== undefined
  return [
    ...(heading === undefined ? [] : [`${heading}:`]),
    ...lines.flatMap(line => (isIndented ? wrapText(line, '  ', '    ') : wrapText(line, '', '  '))),
  ]
}

/**
 * Renders a table without its wide columns, or rows of sentences as wrapped lines.
 * @param {Extract<Block, { type: 'table' }>} block
 * @param {boolean} hasCaption
 * @returns {string[]} lines; [] without rows
 */
function renderTable({ table, form, wideColumns = [] }, hasCaption) {
  if (table.rows.length === 0) return []
  const { caption, columns } = table
  const head = caption && hasCaption ? [`${caption}:`] : []
  if (form === 'prose') return [...head, ...table.rows.flatMap(cells => wrapText(cells.join('  '), '  ', '    '))]
  return [...head, ...renderTextTable(keepColumns(table, i => !wideColumns.includes(columns[i][0])))]
}

/** Renders the last RUNS_MOST rows of a table, below its caption. @param {Table} table a row for each run @returns {string[]} lines */
function renderLastRuns({ caption, columns, rows }) {
  const lastRows = rows.slice(-RUNS_MOST)
  const cutNote = lastRows.length < rows.length ? ` (the last ${lastRows.length} of ${rows.length} runs)` : ''
  return [`${caption}${cutNote}:`, ...renderTextTable({ caption, columns, rows: lastRows })]
}
