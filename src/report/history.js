import { PRIMARY } from '../judge/quantities.js'
import { alignLeft, joinParts, wrapText } from '../lib/text-table.js'
import { renderMinute, renderNounCount } from '../lib/units.js'
import { renderMedianWithInterval } from './charts/rounds.js'
import { chooseHistoryDigits, drawHistory, HISTORY_QUANTITIES, scaleToShownUnit } from './history-charts.js'
import { renderPage, renderSections } from './html-page.js'
import { html } from './markup.js'
import { listCharts } from './section.js'
import { renderSectionsText } from './section-text.js'

/**
 * The document of a history, as text for the terminal and as a page. Pure.
 * @import { History, Line } from '../analysis/history.js'
 * @import { Table } from '../lib/text-table.js'
 * @import { Section } from './section.js'
 * @typedef {ReturnType<typeof createHistoryDocument>} HistoryDocument
 */

const LEGEND =
  'A dot is the median of a run, an upright line its 95 % interval. Dashed: something changed from that run on. Grey: the applications, where no sidecar runs.'

/**
 * Creates the document of a history: charts, changes, runs that are not comparable, and notes. Tables without rows
 * are left out.
 * @param {History} history
 * @returns {{ title: string, answer: string, sections: Section[] }}
 */
export function createHistoryDocument(history) {
  const changes = tabulateChanges(history)
  const incomparableRuns = tabulateIncomparableRuns(history)
  return {
    title: `History of ${history.runs.length} comparable runs`,
    answer: renderHistoryAnswer(history),
    sections: [
      createChartSection(history),
      ...createTableSections({ id: 'changes', name: 'Changes', table: changes }),
      ...createTableSections({ id: 'left', name: 'Not comparable', table: incomparableRuns }),
      { id: 'method', name: 'How to read it', blocks: [{ type: 'list', lines: renderHistoryNotes(history) }] },
    ],
  }
}

/**
 * Creates the section of a table of sentences.
 * @param {{ id: string, name: string, table: Table }} options
 * @returns {Section[]} [] if the table has no rows
 */
function createTableSections({ id, name, table }) {
  return table.rows.length > 0 ? [{ id, name, blocks: [{ type: 'table', form: 'prose', table }] }] : []
}

/**
 * Creates the section of charts, with a legend on the page: a terminal shows their tables alone.
 * @param {History} history
 * @returns {Section} without blocks if no line of an arm has a value
 */
function createChartSection(history) {
  const charts = drawHistory(history)
  if (charts.length === 0) return { id: 'charts', name: 'Over time', blocks: [] }
  return {
    id: 'charts',
    name: 'Over time',
    blocks: [
      { type: 'charts', charts },
      { type: 'sentences', on: 'page', tone: 'muted', lines: [LEGEND] },
    ],
  }
}

/** Renders a history for the terminal. @param {HistoryDocument} document @returns {string} without a line end at its end */
export function renderHistoryText({ title, answer, sections }) {
  return joinParts([[title, ...wrapText(answer)], ...renderSectionsText(sections)])
}

/**
 * Renders a history as a page.
 * @param {HistoryDocument} document
 * @param {import('./html-page.js').Assets} assets
 * @returns {string} HTML
 */
export function renderHistoryHtml({ title, answer, sections }, assets) {
  const body = html`<header>
<h1>${title}</h1>
<p class="answer">${answer}</p>
</header>
<main>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${answer}`, body, charts: listCharts(sections), assets })
}

/**
 * Renders the primary quantity of each arm in its first and its last run; if no arm has it, every other quantity of arms.
 * @param {History} history
 * @returns {string} a sentence; without lines, that there is nothing to draw
 */
function renderHistoryAnswer({ runs, lines }) {
  if (lines.length === 0) return 'Nothing to draw: no run here can be compared with another.'
  const primaryLines = lines.filter(line => line.quantity === PRIMARY.name)
  const ends = (primaryLines.length > 0 ? primaryLines : lines.filter(line => !line.isControl)).map(renderEndValues)
  return `${renderNounCount(runs.length, 'run')}, first and last: ${ends.join('; ')}.`
}

/** Renders the first and the last known value of a line. @param {Line} line with at least one @returns {string} */
function renderEndValues({ label, quantity, values }) {
  const row = HISTORY_QUANTITIES[quantity]
  const knownValues = values.filter(({ median }) => median !== null)
  const [first, last] = [knownValues[0], knownValues[knownValues.length - 1]].map(({ median }) => {
    const medianAlone = scaleToShownUnit({ median, low: null, high: null, values: [] }, row)
    return renderMedianWithInterval(medianAlone, chooseHistoryDigits(row))
  })
  return `${label} ${first} and ${last} ${row.unit}`
}

/**
 * Renders how to read the lines, and which arms have none. Of a history without runs it adds which runs every history leaves out.
 * @param {History} history
 * @returns {string[]} sentences, at least one
 */
function renderHistoryNotes({ lines, runs, reference, nodes, unmatched }) {
  const groupsWithControl = new Set(lines.filter(line => line.isControl).map(line => line.group))
  const loadedLines = lines.filter(line => !line.isControl && line.arm.load.kind !== 'idle')
  const lacksControl = loadedLines.some(line => !groupsWithControl.has(line.group))
  return [
    'Whether the level of a line changed is for a program to say: Apache Otava finds change points (--format otava), benchstat compares runs (--format benchfmt). A machine that became slower is slower without sidecars, too.',
    ...(lacksControl
      ? [
          'Nothing was measured without sidecars: a change may be that of the machine. Run with --planes none,… to tell.',
        ]
      : []),
    ...(nodes.length > 1
      ? [`The runs are from ${nodes.length} machines of the same kind: what differs between them is in every line.`]
      : []),
    ...unmatched.map(
      ({ arm, runs: armRuns }) =>
        `Not drawn: ${arm}, of ${renderNounCount(armRuns, 'run')}: ${reference} does not have it.`,
    ),
    ...(runs.length > 0 ? [] : ['Runs of the profile smoke and searches are in no history.']),
  ]
}

/**
 * Tabulates each run from which on something changed, and the changes.
 * @param {History} history
 * @returns {Table} without rows if nothing changed
 */
function tabulateChanges({ runs }) {
  return {
    caption: 'Where the kit, a tool, a script or the kernel changed',
    columns: alignLeft('from run', 'what changed'),
    rows: runs.flatMap((run, i) =>
      run.changes.length > 0
        ? [[`${i + 1}, ${renderMinute(run.startedAt)}, ${run.folder}`, run.changes.map(renderRunChange).join('\n')]]
        : [],
    ),
  }
}

/**
 * Tabulates the runs that are not comparable, with the reasons.
 * @param {History} history
 * @returns {Table} without rows if all are
 */
function tabulateIncomparableRuns({ left, reference }) {
  return {
    caption: `Not comparable${reference === null ? '' : ` with ${reference}; of the two, the earlier is "old"`}`,
    columns: alignLeft('run', 'why'),
    rows: left.map(({ folder, reasons }) => [folder, reasons.join('\n')]),
  }
}

/**
 * Renders a change: `kit, 1.0 → 1.1`.
 * @param {{ label: string, old: string, next: string }} change
 * @returns {string}
 */
function renderRunChange({ label, old, next }) {
  return `${label}, ${old} → ${next}`
}
