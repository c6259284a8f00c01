import { init } from 'echarts'
import { escapeControls } from '../lib/printable.js'
import { applyColourVariables, BACKGROUND, CHART_WIDTH, renderColourVariables } from './charts/style.js'
import { escapeMarkup, html, trustMarkup } from './markup.js'
import { selectSections } from './section.js'

/**
 * Renders a page that needs no network, and no JavaScript to be read; and its parts. Pure.
 * @import { Chart } from './charts/style.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { Block, Section } from './section.js'
 * @import { Markup } from './markup.js'
 * @import { Table } from '../lib/text-table.js'
 */

/**
 * The files that a page contains.
 * @typedef {object} Assets
 * @property {string} style CSS
 * @property {string[]} scripts modules, each after those that it imports
 * @property {string} library the script of ECharts
 */

/**
 * The content of a page.
 * @typedef {object} PageOptions
 * @property {string} title
 * @property {Markup} body
 * @property {Omit<ReportChart, 'table'>[]} charts
 * @property {Record<string, SidecarSeries[]>} [series] by the ids of the trials that a reader can choose; by default none
 * @property {Assets} assets
 */

/**
 * Renders a page, with its scripts and, as JSON in the element `data`, the options of its charts and the series of trials, which
 * `page/page.js` reads.
 * @param {PageOptions} options
 * @returns {string} HTML
 */
export function renderPage({ title, body, charts, series = {}, assets }) {
  const data = { charts: Object.fromEntries(charts.map(({ id, option, height }) => [id, { option, height }])), series }
  const style = `@media (prefers-color-scheme: dark) { :root { ${renderColourVariables('dark')} } }\n${assets.style}`
  return renderShell({
    title,
    style,
    policy: "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
    body: html`${body}
<script type="application/json" id="data">${trustMarkup(renderScriptJson(data))}</script>
<script>${trustMarkup(assets.library)}</script>
<script type="module">${trustMarkup(assets.scripts.map(stripImportsAndExports).join('\n'))}</script>`,
  })
}

/**
 * Renders the document around a body. Its policy lets it load nothing.
 * @param {{ title: string, style: string, policy: string, body: Markup }} page style: CSS, beside the variables of
 *   the light scheme; policy: the directives of its content security policy, beside `default-src 'none'`
 * @returns {string} HTML
 */
export function renderShell({ title, style, policy, body }) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${trustMarkup(policy)}">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>:root { ${trustMarkup(renderColourVariables('light'))} }
${trustMarkup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.markup
}

/** Renders the sections of a page, each with its heading, without empty ones. @param {Section[]} sections @returns {Markup[]} */
export function renderSections(sections) {
  return selectSections(sections, 'page').map(
    ({ id, name, blocks }) =>
      html`<section id="${id}" aria-labelledby="${id}-name"><h2 id="${id}-name">${name}</h2>${blocks.flatMap(renderBlock)}</section>\n`,
  )
}

/**
 * Renders a block. A folded table opens on a click.
 * @param {Block} block
 * @returns {Markup[]} [] for a list, sentences or charts without any; of trials, as `renderTrialCharts`
 */
function renderBlock(block) {
  switch (block.type) {
    case 'heading':
      return [html`<h3>${block.text}</h3>`]
    case 'sentences':
      return block.lines.map(line => renderSentence(line, block.tone))
    case 'list':
      return renderList(block.lines, block.heading)
    case 'columns':
      return [html`<pre tabindex="0">${block.lines.join('\n')}</pre>`]
    case 'table':
      return [block.isFolded ? renderFoldedTable(block.table, block.form) : renderTable(block.table, block.form)]
    case 'charts':
      return block.form === 'trials' ? renderTrialCharts(block.charts) : renderCharts(block.charts)
  }
}

/** Renders a sentence as a paragraph. @param {string} line @param {'strong' | 'muted'} [tone] @returns {Markup} */
function renderSentence(line, tone) {
  if (tone === 'strong') return html`<p><strong>${line}</strong></p>`
  return tone === 'muted' ? html`<p class="muted">${line}</p>` : html`<p>${line}</p>`
}

/**
 * Renders charts in a grid, each with its folded table below.
 * @param {ReportChart[]} charts
 * @returns {Markup[]} one element; [] without charts
 */
function renderCharts(charts) {
  if (charts.length === 0) return []
  return [
    html`<div class="charts">${charts.map(({ table, ...chart }) => renderFigure(chart, { isDrawn: true, body: renderFoldedTable(table) }))}</div>`,
  ]
}

// The page's script alone draws the charts of trials beyond this number: a report may hold a hundred.
const DRAWN_CHARTS_MOST = 24

/**
 * Renders a fold for each chart of a trial. The first DRAWN_CHARTS_MOST are drawn. An empty, hidden choice of any trial follows, which
 * the page's script fills and shows.
 * @param {ReportChart[]} charts
 * @returns {Markup[]} the choice alone without charts
 */
function renderTrialCharts(charts) {
  return [
    ...charts.map(
      ({ table, ...chart }, i) =>
        html`<details class="arm"><summary>${chart.title}</summary>${renderFigure(chart, { isDrawn: i < DRAWN_CHARTS_MOST, body: renderTable(table) })}</details>`,
    ),
    html`<div class="explorer" hidden><h3><label for="trial">Any trial</label></h3><select id="trial"></select><div class="chart" role="img" aria-label=""></div></div>`,
  ]
}

/**
 * Renders a chart as a figure.
 * @param {Omit<ReportChart, 'table'>} chart
 * @param {{ isDrawn: boolean, body: Markup }} options isDrawn: false: only the page's script draws it; body: below
 *   the chart
 * @returns {Markup}
 */
function renderFigure(chart, { isDrawn, body }) {
  const { id, title, description, height } = chart
  const drawing = isDrawn
    ? trustMarkup(applyColourVariables(drawSvg(chart)))
    : html`<p>Drawn where JavaScript is on; the numbers are below.</p>`
  return html`<figure><figcaption>${title}</figcaption><div class="chart" style="height: ${height}px" data-chart="${id}" role="img" aria-label="${description}">${drawing}</div>${body}</figure>`
}

/**
 * Renders a table that scrolls horizontally. Without rows it says `none`.
 * @param {Table} table
 * @param {string} [cssClass] by default none
 * @returns {Markup}
 */
export function renderTable({ caption, columns, rows }, cssClass = '') {
  const noRows = rows.length === 0 ? html`<tr><td colspan="${columns.length}">none</td></tr>` : null
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${caption || 'table'}"><table class="${cssClass}"><caption>${caption}</caption>
<thead><tr>${columns.map(renderColumnHeading)}</tr></thead>
<tbody>${rows.map(cells => html`<tr>${cells.map((cell, i) => renderTableCell(cell, columns[i]?.[1] ?? 'left'))}</tr>\n`)}${noRows}</tbody></table></div>`
}

/**
 * Renders the heading of a column.
 * @param {Table['columns'][0]} column
 * @returns {Markup} an empty cell that is no header, if the column has no name
 */
function renderColumnHeading([name, align]) {
  return name ? html`<th scope="col" class="${align}">${name}</th>` : html`<td></td>`
}

/**
 * Renders a cell.
 * @param {Table['rows'][0][0]} cell
 * @param {string} align a CSS class
 * @returns {Markup} a heading over several columns, or a cell whose lines are kept
 */
function renderTableCell(cell, align) {
  if (typeof cell === 'object') return html`<th scope="rowgroup" colspan="${cell.colSpan}">${cell.content}</th>`
  return html`<td class="${align}">${trustMarkup(cell.split('\n').map(escapeMarkup).join('<br>'))}</td>`
}

/**
 * Renders a table below a summary that opens it on a click.
 * @param {Table} table
 * @param {string} [cssClass] by default none
 * @returns {Markup}
 */
function renderFoldedTable(table, cssClass) {
  return html`<details><summary>${table.caption} (${table.rows.length} rows)</summary>${renderTable(table, cssClass)}</details>`
}

/**
 * Renders a list below its heading.
 * @param {string[]} lines
 * @param {string} [heading]
 * @returns {Markup[]} [] without lines
 */
export function renderList(lines, heading) {
  if (lines.length === 0) return []
  return [html`${heading ? html`<p>${heading}:</p>` : null}<ul>${lines.map(line => html`<li>${line}</li>`)}</ul>`]
}

/**
 * Renders JSON that cannot end its script element.
 * @param {unknown} value
 * @returns {string}
 */
const renderScriptJson = value => JSON.stringify(value).replaceAll('<', '\\u003c')

/**
 * Removes relative imports, and the keyword `export` before const, function and class, so that modules can be joined to one script
 * with one scope. Other forms are not handled, such as `export default` and `import … as`.
 * @param {string} source
 * @returns {string}
 */
function stripImportsAndExports(source) {
  return source.replace(/^import [^']* from '\.[^']*'$/gm, '').replace(/^export (?=const|function|class)/gm, '')
}

/**
 * Draws a chart as SVG in light colours, CHART_WIDTH pixels wide, with its title.
 * @param {Chart} chart
 * @param {{ isStandalone?: boolean }} [options] isStandalone: for a file, with a background and a description
 * @returns {string} SVG
 */
export function drawSvg({ title, description, height, option }, { isStandalone = false } = {}) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: CHART_WIDTH, height })
  try {
    chart.setOption(isStandalone ? { ...option, backgroundColor: BACKGROUND } : option)
    const svg = escapeControls(chart.renderToSVGString())
    const text = isStandalone ? `<desc>${escapeMarkup(description)}</desc>` : ''
    return svg.replace(/^<svg[^>]*>/, tag => `${tag}<title>${escapeMarkup(title)}</title>${text}`)
  } finally {
    chart.dispose()
  }
}
