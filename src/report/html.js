import { drawSvg } from './charts/draw-svg.js'
import { renderVariables, withVariables } from './charts/palette.js'
import { FIRST, listCharts } from './charts.js'
import { escapeMarkup, html, trust } from './markup.js'
import { CONTRASTS, SECONDARY } from './verdicts.js'

/**
 * A run as one page that needs nothing else: no network, and no JavaScript to be read. Pure.
 * @import { ReportChart } from './charts.js'
 * @import { SidecarSeries } from './charts/over-time.js'
 * @import { Document } from './document.js'
 * @import { Markup } from './markup.js'
 * @import { Table } from './text-table.js'
 */

// Charts of single trials are many where arms are: the others are drawn by the page's script.
const DRAWN_MOST = 24

/**
 * @param {Document} document
 * @param {{ series: Record<string, SidecarSeries[]>, assets: { style: string, scripts: string[], library: string } }} given
 *   series: of every trial, thinned; library: ECharts for browsers; scripts: modules, in the order of their imports
 * @returns {string}
 */
export function renderHtml(document, { series, assets }) {
  const { title, question, answer, startedAt, missing, fired, next, charts } = document
  const data = {
    charts: Object.fromEntries(listCharts(charts).map(({ id, option, height }) => [id, { option, height }])),
    series,
  }
  const sections = listSections(document).filter(({ body }) => body.length > 0)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>${title}: ${answer}</title>
<link rel="icon" href="data:,">
<style>:root { ${trust(renderVariables('light'))} }
@media (prefers-color-scheme: dark) { :root { ${trust(renderVariables('dark'))} } }
${trust(assets.style)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="answer">${answer}</p>
<p class="muted">${question} Started ${startedAt}.</p>
</header>
<main>
${renderFirst(charts.rounds.slice(0, FIRST))}
${renderLimits([...missing, ...fired], next)}
<nav aria-label="Sections"><ul>${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${sections.map(({ id, name, body }) => html`<section id="${id}" aria-labelledby="${id}-name"><h2 id="${id}-name">${name}</h2>${body}</section>\n`)}
</main>
<script type="application/json" id="data">${trust(renderJson(data))}</script>
<script>${trust(assets.library)}</script>
<script type="module">${trust(assets.scripts.map(joinModule).join('\n'))}</script>
</body>
</html>
`.markup
}

/**
 * @param {Document} document
 * @returns {{ id: string, name: string, body: Markup[] }[]}
 */
function listSections(document) {
  const { verdicts, contrasts, findings, thresholds, results, notes, charts, gates, trials } = document
  const { parity, disparities, claimsTold, claims, untested, provenance, files, dictionary } = document
  return [
    { id: 'verdicts', name: 'Verdicts', body: [...verdicts.map(renderVerdicts), ...renderList(contrasts, CONTRASTS)] },
    {
      id: 'results',
      name: 'Results',
      body: [
        ...results.map(table => renderTable(table)),
        ...renderLines(findings),
        ...renderList([...thresholds, ...notes]),
      ],
    },
    { id: 'rounds', name: 'Other quantities', body: renderCharts(charts.rounds.slice(FIRST)) },
    { id: 'latency', name: 'Latency', body: renderCharts(charts.distributions) },
    { id: 'over-rate', name: 'CPU over the rate', body: renderCharts(charts.overRate) },
    { id: 'over-time', name: 'CPU and memory over time', body: renderOverTime(charts.overTime) },
    { id: 'gates', name: 'Gates and trials', body: [renderTable(gates, 'prose'), renderDetails(trials)] },
    { id: 'parity', name: 'Equal work', body: parity ? [renderTable(parity), ...renderList(disparities)] : [] },
    {
      id: 'claims',
      name: 'Published claims',
      body: [
        ...claimsTold.map(line => html`<p>${line}</p>`),
        ...[claims, untested].filter(({ rows }) => rows.length > 0).map(table => renderDetails(table, 'prose')),
      ],
    },
    { id: 'provenance', name: 'Provenance', body: [renderTable(provenance, 'prose'), renderDetails(files)] },
    { id: 'words', name: 'What the words mean', body: dictionary.map(table => renderTable(table, 'prose')) },
  ]
}

/** @param {ReportChart[]} charts that show the answer */
function renderFirst(charts) {
  if (charts.length === 0) return null
  return html`<section id="charts" aria-label="The answer as charts">${renderCharts(charts)}
<p class="muted">A dot is a round, a bar the median, a band its 95 % interval. Hollow: the same plane measured again (A/A); grey: no sidecars.</p></section>`
}

/**
 * @param {string[]} lines
 * @param {string[]} next with a command at the end of each
 */
function renderLimits(lines, next) {
  if (lines.length + next.length === 0) return null
  const commands = next.map(line => {
    const [what, command] = line.split(/(?=npm run )/)
    return html`<li>${what}${command ? html`<code>${command}</code>` : null}</li>`
  })
  return html`<section id="limits" aria-labelledby="limits-name"><h2 id="limits-name">Not shown by this run</h2><ul>${lines.map(line => html`<li>${line}</li>`)}${commands}</ul></section>`
}

/** @param {Document['verdicts'][0]} verdicts */
function renderVerdicts({ heading, primary, secondary, noise }) {
  return html`${heading ? html`<h3>${heading}</h3>` : null}
${primary.map(line => html`<p><strong>${line}</strong></p>`)}
${renderList(secondary, SECONDARY)}
${noise ? html`<p class="muted">${noise}</p>` : null}`
}

/**
 * @param {ReportChart[]} charts
 * @returns {Markup[]}
 */
function renderCharts(charts) {
  if (charts.length === 0) return []
  return [
    html`<div class="charts">${charts.map(({ table, ...chart }) => renderFigure(chart, { isDrawn: true, body: renderDetails(table) }))}</div>`,
  ]
}

/**
 * @param {Omit<ReportChart, 'table'>} chart
 * @param {{ isDrawn: boolean, body: Markup }} options
 */
function renderFigure(chart, { isDrawn, body }) {
  const { id, title, description } = chart
  const drawing = isDrawn
    ? html`${trust(withVariables(drawSvg(chart)))}`
    : html`<p>Drawn where JavaScript is on; the numbers are below.</p>`
  return html`<figure><figcaption>${title}</figcaption><div class="chart" data-chart="${id}" role="img" aria-label="${description}">${drawing}</div>${body}</figure>`
}

/** @param {Document['charts']['overTime']} charts */
function renderOverTime(charts) {
  if (charts.length === 0) return []
  return [
    html`<p>Of each arm the trial whose CPU per request is nearest to the median. Dashed red: the cap. Shaded: the quota of a period was used up.</p>`,
    ...charts.map(
      ({ table, ...chart }, i) =>
        html`<details class="arm"><summary>${chart.title}</summary>${renderFigure(chart, { isDrawn: i < DRAWN_MOST, body: renderTable(table) })}</details>`,
    ),
    html`<div class="explorer" hidden><h3><label for="trial">Any trial</label></h3><select id="trial"></select><div class="chart" role="img" aria-label=""></div></div>`,
  ]
}

/**
 * @param {Table} table
 * @param {string} [kind] a class
 */
function renderTable({ caption, columns, rows }, kind = '') {
  const width = columns.length
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${caption || 'table'}"><table class="${kind}"><caption>${caption}</caption>
<thead><tr>${columns.map(renderHead)}</tr></thead>
<tbody>${rows.map(cells => html`<tr>${cells.map((cell, i) => renderCell(cell, columns[i]?.[1] ?? 'left'))}</tr>\n`)}${rows.length === 0 ? html`<tr><td colspan="${width}">none</td></tr>` : null}</tbody></table></div>`
}

/** @param {Table['columns'][0]} column a header without words is none */
function renderHead([name, align]) {
  return name ? html`<th scope="col" class="${align}">${name}</th>` : html`<td></td>`
}

/**
 * @param {Table['rows'][0][0]} cell
 * @param {string} align
 */
function renderCell(cell, align) {
  if (typeof cell === 'object') return html`<th scope="rowgroup" colspan="${cell.colSpan}">${cell.content}</th>`
  return html`<td class="${align}">${trust(cell.split('\n').map(escapeMarkup).join('<br>'))}</td>`
}

/**
 * @param {Table} table
 * @param {string} [kind] a class
 */
function renderDetails(table, kind) {
  return html`<details><summary>${table.caption} (${table.rows.length} rows)</summary>${renderTable(table, kind)}</details>`
}

/**
 * @param {string[]} lines
 * @param {string} [heading]
 * @returns {Markup[]}
 */
function renderList(lines, heading) {
  if (lines.length === 0) return []
  return [html`${heading ? html`<p>${heading}:</p>` : null}<ul>${lines.map(line => html`<li>${line}</li>`)}</ul>`]
}

/** @param {string[]} lines that are in columns */
function renderLines(lines) {
  return lines.length === 0 ? [] : [html`<pre tabindex="0">${lines.join('\n')}</pre>`]
}

/**
 * JSON that cannot end the script element that it is in.
 * @param {unknown} value
 */
function renderJson(value) {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

/**
 * A module as a part of one script, where all names are in one scope.
 * @param {string} source
 */
function joinModule(source) {
  return source.replace(/^import .* from '\.[^']*'$/gm, '').replace(/^export (?=const|function|class)/gm, '')
}
