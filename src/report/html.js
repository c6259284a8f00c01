import { FIRST, listCharts } from './charts.js'
import {
  renderCharts,
  renderDetails,
  renderFigure,
  renderList,
  renderPage,
  renderSections,
  renderTable,
} from './html-page.js'
import { html } from './markup.js'
import { CONTRASTS, SECONDARY } from './verdicts.js'

/**
 * Renders a run as one page. Pure.
 * @import { ReportChart } from './charts/tables.js' @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { Document } from './document.js' @import { Assets } from './html-page.js'
 */

// Many arms have many charts of trials: the page's script draws those beyond this number.
const DRAWN_MOST = 24

/** Renders the page. @param {Document} document @param {{ series: Record<string, SidecarSeries[]>, assets: Assets }} given */
export function renderHtml(document, { series, assets }) {
  const { title, question, answer, startedAt, missing, fired, next, charts } = document
  const sections = listSections(document).filter(({ body }) => body.length > 0)
  const body = html`<header>
<h1>${title}</h1>
<p class="answer">${answer}</p>
<p class="muted">${question} Started ${startedAt}.</p>
</header>
<main>
${renderFirst(charts.rounds.slice(0, FIRST), document.dots)}
${renderLimits([...missing, ...fired], next)}
<nav aria-label="Sections"><ul>${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${answer}`, body, charts: listCharts(charts), series, assets })
}

/** @param {Document} document @returns {{ id: string, name: string, body: import('./markup.js').Markup[] }[]} */
function listSections(document) {
  const { verdicts, contrasts, findings, thresholds, results, notes, charts, trials } = document
  const { parity, disparities, claimsTold, claims, untested, provenance, dictionary } = document
  const tables = results.map(table => renderTable(table))
  const lines = [...thresholds, ...notes]
  const inColumns = findings.length === 0 ? [] : [html`<pre tabindex="0">${findings.join('\n')}</pre>`]
  const gates = trials ? [renderTable(trials.gates, 'prose'), renderDetails(trials.all)] : []
  const files = trials ? [renderDetails(trials.files)] : []
  const claimTables = [claims, untested].filter(({ rows }) => rows.length > 0)
  const told = claimsTold.map(line => html`<p>${line}</p>`)
  return [
    { id: 'verdicts', name: 'Verdicts', body: [...verdicts.map(renderVerdicts), ...renderList(contrasts, CONTRASTS)] },
    { id: 'results', name: 'Results', body: [...tables, ...inColumns, ...renderList(lines)] },
    { id: 'rounds', name: 'Other quantities', body: renderCharts(charts.rounds.slice(FIRST)) },
    { id: 'latency', name: 'Latency', body: renderCharts(charts.distributions) },
    { id: 'over-rate', name: 'CPU over the rate', body: renderCharts(charts.overRate) },
    { id: 'over-limit', name: 'Rate over the CPU limit', body: renderOverLimit(charts.overLimit) },
    { id: 'over-share', name: 'Convergence', body: renderCharts(charts.overShare) },
    { id: 'over-sidecars', name: 'Memory over the sidecars', body: renderCharts(charts.overSidecars) },
    { id: 'over-time', name: 'CPU and memory over time', body: renderOverTime(charts.overTime) },
    { id: 'gates', name: 'Gates and trials', body: gates },
    { id: 'parity', name: 'Equal work', body: parity ? [renderTable(parity), ...renderList(disparities)] : [] },
    {
      id: 'claims',
      name: 'Published claims',
      body: [...told, ...claimTables.map(table => renderDetails(table, 'prose'))],
    },
    { id: 'provenance', name: 'Provenance', body: [renderTable(provenance, 'prose'), ...files] },
    { id: 'words', name: 'What the words mean', body: dictionary.map(table => renderTable(table, 'prose')) },
  ]
}

/** @param {ReportChart[]} charts that show the answer @param {string} dots how they are read */
function renderFirst(charts, dots) {
  if (charts.length === 0) return null
  return html`<section id="charts" aria-label="The answer as charts">${renderCharts(charts)}
<p class="muted">${dots}</p></section>`
}

/** @param {string[]} lines @param {string[]} next with a command at the end of each */
function renderLimits(lines, next) {
  if (lines.length + next.length === 0) return null
  const commands = next.map(line => {
    const [what, command] = line.split(/(?=npm run |npx )/)
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

/** @param {Document['charts']['overLimit']} charts */
function renderOverLimit(charts) {
  if (charts.length === 0) return []
  return [
    html`<p>Each point is a trial of a CPU limit: filled where the step held the load, hollow where it did not. A diamond is an answer.</p>`,
    ...renderCharts(charts),
  ]
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
