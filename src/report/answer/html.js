import { listSpans } from '../../answer/picture.js'
import { escapeMarkup, html, trustMarkup } from '../markup.js'

/** Renders an answer as the first screen of a page. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Cell, Picture } from '../../answer/picture.js'
 * @import { Markup } from '../markup.js'
 */

/** @typedef {{ label: string, colour: number, cell: Cell }} Bar */
/** @typedef {{ title: string, bars: Bar[] }} Panel bars of one quantity */

const PANELS_MOST = 2
const BARS_MOST = 12
// Colours of planes, as in charts/style.js: series0 is that of arms without sidecars.
const SERIES = 6
// Pixels of a row with its bar, and of the title above the rows.
const ROW = 30
const TOP = 28
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
 * Renders the sentences of an answer as a header, and pictures, commands and conditions as a body.
 * @param {Answer} answer
 * @returns {{ title: string, header: Markup, body: Markup }} title: the first verdict
 */
export function renderAnswerHtml({ conditions, pictures, verdicts, basis, notes = [], warnings, notMeasured }) {
  const [headline, ...others] = verdicts
  return {
    title: headline,
    header: html`<header>
<h1 class="answer">${headline}</h1>
${others.map(line => html`<p class="second">${line}</p>`)}
<p class="muted">${[...basis, ...notes].join(' ')}</p>
${warnings.length > 0 ? html`<ul class="warnings">${warnings.map(line => html`<li>${line}</li>`)}</ul>` : null}
</header>`,
    body: html`<section id="answer" aria-label="The answer as a picture">
${pictures.map(renderPicture)}
${renderNotMeasuredSection(notMeasured)}
<p class="muted">${conditions.join(' · ')}</p>
</section>`,
  }
}

/**
 * Renders a picture as a table, below up to PANELS_MOST panels of its bars. A panel with more than BARS_MOST bars is
 * left out.
 * @param {Picture} picture
 * @returns {Markup}
 */
function renderPicture(picture) {
  const panels = listPanels(picture)
  const drawn = panels.filter(({ bars }) => bars.length > 0 && bars.length <= BARS_MOST).slice(0, PANELS_MOST)
  return html`${drawn.length > 0 ? html`<div class="panels">${drawn.map(panel => trustMarkup(drawPanel(panel)))}</div>` : null}
${renderTable(picture)}`
}

/**
 * Lists a panel for each column or group of columns, with a bar for each value.
 * @param {Picture} picture
 * @returns {Panel[]} colour: -1: without sidecars; bars: []: the column has no values
 */
export function listPanels({ columns, rows }) {
  const groups = [...new Set(columns.map(({ group, heading }) => group ?? heading))]
  const proxies = rows.filter(({ isBaseline }) => !isBaseline)
  return groups.map(title => ({
    title,
    bars: rows.flatMap(row =>
      columns.flatMap(({ group, heading }, i) => {
        const cell = row.cells[i]
        if ((group ?? heading) !== title || cell === null || typeof cell.value !== 'number') return []
        const groupColumns = columns.filter(column => column.group === group)
        const colour =
          group === undefined ? proxies.indexOf(row) : groupColumns.findIndex(column => column.heading === heading)
        return [
          {
            label: group === undefined ? row.label : `${row.label}, ${heading}`,
            colour: row.isBaseline ? -1 : colour,
            cell,
          },
        ]
      }),
    ),
  }))
}

/**
 * Draws bars with their intervals as an SVG, in the colours of the page's CSS variables. Long labels are cut.
 * @param {Panel} panel with at least one bar
 * @param {Widths} [widths]
 * @returns {string} SVG
 */
export function drawPanel({ title, bars }, { width: all, label: labelWidth, value: valueWidth, letters } = WIDTHS) {
  const largest = Math.max(...bars.map(({ cell }) => Math.max(Number(cell.value), cell.high ?? 0)))
  const scale = (/** @type {number} */ value) => ((all - labelWidth - valueWidth) * value) / largest
  const height = TOP + ROW * bars.length
  const description = bars.map(({ label, cell }) => `${label} ${cell.text}`).join('; ')
  const rows = bars.map(({ label, colour, cell }, i) => {
    const y = TOP + ROW * i
    const width = Math.max(1, scale(Number(cell.value)))
    const { low = null, high = null } = cell
    const middle = y + ROW / 2 - 2
    const whisker =
      low === null || high === null
        ? ''
        : `<path d="M${labelWidth + scale(low)} ${middle}H${labelWidth + scale(high)}M${labelWidth + scale(low)} ${middle - 5}v10M${labelWidth + scale(high)} ${middle - 5}v10" stroke="var(--text)" fill="none"/>`
    const end = labelWidth + Math.max(width, high === null ? 0 : scale(high))
    return `<g><text x="${labelWidth - 8}" y="${middle + 5}" text-anchor="end">${escapeMarkup(shortenLabel(label, letters))}</text><rect x="${labelWidth}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 10}" fill="var(--series${colour < 0 ? 0 : 1 + (colour % SERIES)})"/>${whisker}<text x="${(end + 8).toFixed(1)}" y="${middle + 5}">${escapeMarkup(cell.text)}</text></g>`
  })
  return `<svg viewBox="0 0 ${all} ${height}" role="img" aria-label="${escapeMarkup(`${title}: ${description}`)}"><title>${escapeMarkup(`${title}: ${description}`)}</title><text x="0" y="16" class="title">${escapeMarkup(title)}</text>${rows.join('')}</svg>`
}

/** Cuts a label to a number of characters. @type {(label: string, lettersMost: number) => string} */
const shortenLabel = (label, lettersMost) =>
  label.length > lettersMost ? `${label.slice(0, lettersMost - 1)}…` : label

/** Renders a picture as a table. Columns of a group share a heading. @param {Picture} picture @returns {Markup} */
export function renderTable({ columns, rows }) {
  const spans = listSpans(columns)
  return html`<div class="scroll" role="group" tabindex="0" aria-label="The answer as a table"><table class="answer-table">
<thead>${spans.some(({ group }) => group !== '') ? html`<tr><td></td>${spans.map(({ group, from, to }) => html`<th colspan="${to - from}" scope="colgroup">${group}</th>`)}</tr>` : null}<tr><td></td>${columns.map(({ heading, align }) => html`<th scope="col" class="${align ?? 'right'}">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(({ label, cells }) => html`<tr><th scope="row">${label}</th>${cells.map((cell, i) => html`<td class="${columns[i].align ?? 'right'}">${renderCell(cell)}</td>`)}</tr>\n`)}</tbody></table></div>`
}

/**
 * Renders a cell; `–`: null.
 * @param {Cell | null} cell
 * @returns {string} without markup
 */
const renderCell = cell => cell?.text ?? '–'

/**
 * Renders what was not measured, with the commands that measure it.
 * @param {Answer['notMeasured']} notMeasured
 * @returns {Markup | null} null: there is nothing
 */
function renderNotMeasuredSection(notMeasured) {
  if (notMeasured.length === 0) return null
  return html`<section id="limits" aria-labelledby="limits-name"><h2 id="limits-name">Not measured</h2><ul>${notMeasured.map(
    ({ what, why, commands }) =>
      html`<li>${what}${why ? ` (${why})` : ''}${commands.map(({ command, gives }) => html`<br><code>${command}</code> <span class="muted">${gives}</span>`)}</li>`,
  )}</ul></section>`
}
