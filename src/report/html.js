import { renderAnswerHtml } from './answer/html.js'
import { listCharts } from './charts.js'
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
  const { title, question, answer, startedAt, missing, charts } = document
  const sections = listSections(document).filter(({ body }) => body.length > 0)
  const first = renderAnswerHtml(answer)
  const body = html`${first.header}
<main>
${first.body}
<p class="muted">${question} Started ${startedAt}.</p>
${renderLacks(missing.filter(line => !answer.warnings.includes(line)))}
<nav aria-label="Sections"><ul>${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${first.title}`, body, charts: listCharts(charts), series, assets })
}

/** @param {Document} document @returns {{ id: string, name: string, body: import('./markup.js').Markup[] }[]} */
function listSections(document) {
  const { parts, contrasts, findings, thresholds, notes, charts, trials, dots } = document
  const { parity, disparities, claimsTold, claims, untested, provenance, dictionary } = document
  const inColumns = findings.length === 0 ? [] : [html`<pre tabindex="0">${findings.join('\n')}</pre>`]
  const gates = trials ? [renderTable(trials.gates, 'prose'), renderDetails(trials.all)] : []
  const files = trials ? [renderDetails(trials.files)] : []
  const claimTables = [claims, untested].filter(({ rows }) => rows.length > 0)
  const sentences = claimsTold.map(line => html`<p>${line}</p>`)
  const explained = (/** @type {ReportChart[]} */ drawn) =>
    drawn.length > 0 ? [...renderCharts(drawn), html`<p class="muted">${dots}</p>`] : []
  return [
    ...parts.map(({ name, verdicts, results, charts: drawn }, i) => ({
      id: i === 0 ? 'results' : `results-${i + 1}`,
      name,
      body: [...verdicts.map(renderVerdicts), ...results.map(table => renderTable(table)), ...explained(drawn)],
    })),
    { id: 'contrasts', name: CONTRASTS, body: renderList(contrasts) },
    { id: 'findings', name: 'Findings', body: inColumns },
    { id: 'latency', name: 'Latency', body: renderCharts(charts.distributions) },
    { id: 'over-rate', name: 'CPU over the rate', body: renderCharts(charts.overRate) },
    { id: 'over-limit', name: 'Rate over the CPU limit', body: renderOverLimit(charts.overLimit) },
    { id: 'over-share', name: 'Convergence', body: renderCharts(charts.overShare) },
    { id: 'over-sidecars', name: 'Memory over the sidecars', body: renderCharts(charts.overSidecars) },
    { id: 'over-axis', name: 'Where lines cross', body: renderCharts(charts.overAxis) },
    { id: 'over-time', name: 'Memory and CPU over time', body: renderOverTime(charts.overTime) },
    { id: 'parity', name: 'Equal work', body: parity ? [renderTable(parity), ...renderList(disparities)] : [] },
    {
      id: 'claims',
      name: 'Published claims',
      body: [...sentences, ...claimTables.map(table => renderDetails(table, 'prose'))],
    },
    { id: 'trials', name: 'Every trial', body: gates },
    {
      id: 'provenance',
      name: 'Provenance',
      body: [...renderList([...thresholds, ...notes]), renderTable(provenance, 'prose'), ...files],
    },
    { id: 'words', name: 'What the words mean', body: dictionary.map(table => renderTable(table, 'prose')) },
  ]
}

/** Lists what could not be read or drawn of the run. @param {string[]} lines */
function renderLacks(lines) {
  return lines.length === 0
    ? null
    : html`<section id="lacks" aria-label="What is missing">${renderList(lines)}</section>`
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
    html`<p>Each point is a trial of a CPU limit: filled where the step met the limit, hollow where it did not. A diamond is an answer.</p>`,
    ...renderCharts(charts),
  ]
}

/** @param {Document['charts']['overTime']} charts */
function renderOverTime(charts) {
  if (charts.length === 0) return []
  return [
    html`<p>Of each arm the trial whose CPU per request is nearest to the median. Dashed red: the CPU limit. Shaded: the quota of a period was used up.</p>`,
    ...charts.map(
      ({ table, ...chart }, i) =>
        html`<details class="arm"><summary>${chart.title}</summary>${renderFigure(chart, { isDrawn: i < DRAWN_MOST, body: renderTable(table) })}</details>`,
    ),
    html`<div class="explorer" hidden><h3><label for="trial">Any trial</label></h3><select id="trial"></select><div class="chart" role="img" aria-label=""></div></div>`,
  ]
}
