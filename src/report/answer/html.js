import { listSpans } from '../../answer/picture.js'
import { groupBy } from '../../lib/group-by.js'
import { escapeMarkup, html, trustMarkup } from '../markup.js'

/** Renders an answer as the first screen of a page. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Cell, Picture } from '../../answer/picture.js'
 * @import { Markup } from '../markup.js'
 */

/** @typedef {{ label: string, colour: number, cell: Cell }} Bar colour: an index; -1: without sidecars */
/** @typedef {{ title: string, bars: Bar[] }} Panel bars of one quantity */

const PANELS_MOST = 2
const BARS_MOST = 12
// Colours of planes, as in charts/style.js: series0 is that of arms without sidecars.
const SERIES_COUNT = 6
// The height of a row with its bar, and of the title above the rows.
const ROW_PIXELS = 30
const TITLE_PIXELS = 28
/**
 * The widths of a panel, in pixels.
 * @typedef {object} Widths
 * @property {number} width in all
 * @property {number} label before a bar
 * @property {number} value behind a bar
 * @property {number} letters the most that a label has
 */
/** @type {Widths} */
const WIDTHS = { width: 560, label: 150, value: 150, letters: 20 }

/**
 * Renders the verdicts, basis, notes and warnings of an answer as a header, and pictures, what was not measured, and conditions as a
 * body.
 * @param {Answer} answer
 * @returns {{ title: string, header: Markup, body: Markup }} title: the first verdict
 */
export function renderAnswerHtml({ conditions, pictures, verdicts, basis, notes = [], warnings, notMeasured }) {
  const [headline, ...otherVerdicts] = verdicts
  return {
    title: headline,
    header: html`<header>
<h1 class="answer">${headline}</h1>
${otherVerdicts.map(line => html`<p class="second">${line}</p>`)}
<p class="muted">${[...basis, ...notes].join(' ')}</p>
${warnings.length > 0 ? html`<ul class="warnings">${warnings.map(line => html`<li>${line}</li>`)}</ul>` : null}
</header>`,
    body: html`<section id="answer" aria-label="The answer as a picture">
${pictures.map(renderPictureWithPanels)}
${renderNotMeasuredSection(notMeasured)}
<p class="muted">${conditions.join(' · ')}</p>
</section>`,
  }
}

/**
 * Renders a picture as a table, below up to PANELS_MOST panels of its bars. A panel without bars, or with more than BARS_MOST, is
 * left out.
 * @param {Picture} picture
 * @returns {Markup}
 */
function renderPictureWithPanels(picture) {
  const panels = listPanels(picture)
  const drawnPanels = panels.filter(({ bars }) => bars.length > 0 && bars.length <= BARS_MOST).slice(0, PANELS_MOST)
  return html`${drawnPanels.length > 0 ? html`<div class="panels">${drawnPanels.map(panel => trustMarkup(drawPanel(panel)))}</div>` : null}
${renderPictureTable(picture)}`
}

/**
 * Lists a panel for each column or group of columns, with a bar for each value: in the colour of its row or, in a group, of
 * its column. A baseline has the colour -1.
 * @param {Picture} picture
 * @returns {Panel[]} without bars for a column without numbers
 */
export function listPanels({ columns, rows }) {
  const proxies = rows.filter(({ isBaseline }) => !isBaseline)
  const indexedColumns = columns.map(({ group, heading }, index) => ({ group, heading, index }))
  return [...groupBy(indexedColumns, ({ group, heading }) => group ?? heading)].map(([title, panelColumns]) => {
    const headings = panelColumns.map(({ heading }) => heading)
    const listBars = (/** @type {Picture['rows'][0]} */ row) =>
      panelColumns.flatMap(({ group, heading, index }) => {
        const cell = row.cells[index]
        if (cell === null || typeof cell.value !== 'number') return []
        const label = group === undefined ? row.label : `${row.label}, ${heading}`
        const colour = group === undefined ? proxies.indexOf(row) : headings.indexOf(heading)
        return [{ label, colour: row.isBaseline ? -1 : colour, cell }]
      })
    return { title, bars: rows.flatMap(listBars) }
  })
}

/**
 * Draws bars with their intervals as an SVG, in the colours of the page's CSS variables. Long labels are cut.
 * @param {Panel} panel with at least one bar
 * @param {Widths} [widths]
 * @returns {string} SVG
 */
export function drawPanel({ title, bars }, widths = WIDTHS) {
  const largestValue = Math.max(...bars.map(({ cell }) => Math.max(Number(cell.value), cell.high ?? 0)))
  const pixelsOfLargest = widths.width - widths.label - widths.value
  const scale = (/** @type {number} */ value) => (largestValue === 0 ? 0 : (pixelsOfLargest * value) / largestValue)
  const height = TITLE_PIXELS + ROW_PIXELS * bars.length
  const values = bars.map(({ label, cell }) => `${label} ${cell.text}`).join('; ')
  const description = escapeMarkup(`${title}: ${values}`)
  const rows = bars.map((bar, i) => drawBar(bar, { top: TITLE_PIXELS + ROW_PIXELS * i, scale, widths }))
  return `<svg viewBox="0 0 ${widths.width} ${height}" role="img" aria-label="${description}"><title>${description}</title><text x="0" y="16" class="title">${escapeMarkup(title)}</text>${rows.join('')}</svg>`
}

/**
 * Draws a bar between its label and its text, with its interval as a whisker if it has one.
 * @param {Bar} bar
 * @param {{ top: number, scale: (value: number) => number, widths: Widths }} options top: of the row, in pixels; scale:
 *   converts a value to pixels
 * @returns {string} an element of SVG
 */
function drawBar({ label, colour, cell }, { top, scale, widths }) {
  const { low = null, high = null } = cell
  const left = widths.label
  const middle = top + ROW_PIXELS / 2 - 2
  const width = Math.max(1, scale(Number(cell.value)))
  const right = left + Math.max(width, high === null ? 0 : scale(high))
  const fill = `var(--series${colour < 0 ? 0 : 1 + (colour % SERIES_COUNT)})`
  const parts = [
    `<text x="${left - 8}" y="${middle + 5}" text-anchor="end">${escapeMarkup(shortenLabel(label, widths.letters))}</text>`,
    `<rect x="${left}" y="${top + 3}" width="${width.toFixed(1)}" height="${ROW_PIXELS - 10}" fill="${fill}"/>`,
    low === null || high === null ? '' : drawWhisker({ from: left + scale(low), to: left + scale(high), y: middle }),
    `<text x="${(right + 8).toFixed(1)}" y="${middle + 5}">${escapeMarkup(cell.text)}</text>`,
  ]
  return `<g>${parts.join('')}</g>`
}

/**
 * Draws a horizontal line with a stroke across each end.
 * @param {{ from: number, to: number, y: number }} options in pixels
 * @returns {string} an element of SVG
 */
function drawWhisker({ from, to, y }) {
  return `<path d="M${from} ${y}H${to}M${from} ${y - 5}v10M${to} ${y - 5}v10" stroke="var(--text)" fill="none"/>`
}

/** Cuts a label to a number of characters, with an ellipsis. @param {string} label @param {number} most @returns {string} */
function shortenLabel(label, most) {
  return label.length > most ? `${label.slice(0, most - 1)}…` : label
}

/**
 * Renders a picture as a table. Columns of a group share a heading above their own; a cell that was not measured is `–`.
 * @param {Picture} picture
 * @returns {Markup}
 */
export function renderPictureTable({ columns, rows }) {
  const spans = listSpans(columns)
  const groupHeadings = spans.map(
    ({ group, from, to }) => html`<th colspan="${to - from}" scope="colgroup">${group}</th>`,
  )
  const hasGroups = spans.some(({ group }) => group !== '')
  return html`<div class="scroll" role="group" tabindex="0" aria-label="The answer as a table"><table class="answer-table">
<thead>${hasGroups ? html`<tr><td></td>${groupHeadings}</tr>` : null}<tr><td></td>${columns.map(({ heading, align }) => html`<th scope="col" class="${align ?? 'right'}">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(({ label, cells }) => html`<tr><th scope="row">${label}</th>${cells.map((cell, i) => html`<td class="${columns[i].align ?? 'right'}">${cell?.text ?? '–'}</td>`)}</tr>\n`)}</tbody></table></div>`
}

/**
 * Renders what was not measured as a section, with reasons and the commands that measure it.
 * @param {Answer['notMeasured']} notMeasured
 * @returns {Markup | null} null if everything was measured
 */
function renderNotMeasuredSection(notMeasured) {
  if (notMeasured.length === 0) return null
  return html`<section id="limits" aria-labelledby="limits-name"><h2 id="limits-name">Not measured</h2><ul>${notMeasured.map(
    ({ what, why, commands }) =>
      html`<li>${what}${why ? ` (${why})` : ''}${commands.map(({ command, gives }) => html`<br><code>${command}</code> <span class="muted">${gives}</span>`)}</li>`,
  )}</ul></section>`
}
