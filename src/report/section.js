/**
 * A document is a list of sections, and a section a list of typed blocks. Each exists once, and a file for each format
 * (`html-page.js`, `markdown.js`, `section-text.js`) renders them in this order. Pure.
 * @import { Table } from '../lib/text-table.js'
 * @import { ReportChart } from './charts/tables.js'
 */

/** A heading within a section. @typedef {{ type: 'heading', text: string }} Heading */

/**
 * Sentences, a paragraph each.
 * @typedef {{ type: 'sentences', lines: string[], tone?: 'strong' | 'muted' }} Sentences
 */

/**
 * A line for each item, below the heading.
 * @typedef {{ type: 'list', lines: string[], heading?: string }} List
 */

/**
 * Lines whose columns are aligned by spaces: formats keep the spaces.
 * @typedef {{ type: 'columns', lines: string[] }} Columns
 */

/**
 * A table, and how each format shows it.
 * @typedef {object} TableBlock
 * @property {'table'} type
 * @property {Table} table
 * @property {'prose'} [form] its cells are sentences: a terminal wraps each row, and Markdown folds the table
 * @property {true} [isFolded] the page opens it on a click
 * @property {string[]} [brief] lines that a terminal prints in its place; Markdown folds the table
 * @property {string[]} [wideColumns] names of columns that a terminal leaves out, so that the table fits it
 */

/**
 * Charts, each with the table of its values; a terminal and Markdown have the tables alone.
 * @typedef {object} Charts
 * @property {'charts'} type
 * @property {ReportChart[]} charts
 * @property {'trials' | undefined} [form] each is of one trial: the page folds them, and offers any other trial
 */

/**
 * @typedef {{ on?: 'documents' | 'page' } & (Heading | Sentences | List | Columns | TableBlock | Charts)} Block
 *   on: the formats that have it: `documents`: the page and Markdown; `page`: the page alone; absent: all, a terminal too
 * @typedef {{ id: string, name: string, isNamed?: boolean, blocks: Block[] }} Section isNamed: a terminal and Markdown
 *   print its name, too
 * @typedef {'text' | 'markdown' | 'page'} Format
 */

/** The values of a block's `on` that each format renders. @type {Record<Format, (string | undefined)[]>} */
const RENDERED_ON = { text: [undefined], markdown: [undefined, 'documents'], page: [undefined, 'documents', 'page'] }

/**
 * Selects the sections and blocks that a format renders, without empty ones. Tables without rows stay, since the page shows them.
 * @param {Section[]} sections
 * @param {Format} format
 * @returns {Section[]} copies with the selected blocks
 */
export function selectSections(sections, format) {
  return sections
    .map(section => ({
      ...section,
      blocks: section.blocks.filter(block => RENDERED_ON[format].includes(block.on) && !isEmpty(block)),
    }))
    .filter(({ blocks }) => blocks.length > 0)
}

/** Says whether a block has no lines, or no charts; headings and tables are never empty. @param {Block} block */
function isEmpty(block) {
  if ('lines' in block) return block.lines.length === 0
  return block.type === 'charts' && block.charts.length === 0
}

/**
 * Lists the charts of all sections, in their order.
 * @param {Section[]} sections
 * @returns {ReportChart[]}
 */
export function listCharts(sections) {
  return sections.flatMap(({ blocks }) => blocks.flatMap(block => (block.type === 'charts' ? block.charts : [])))
}
