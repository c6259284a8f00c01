import { renderAnswerHtml } from './answer/html.js'
import { renderList, renderPage, renderSections } from './html-page.js'
import { html } from './markup.js'
import { listCharts, selectSections } from './section.js'

/**
 * Renders a run as one HTML page that needs no network: styles, scripts and data are in it. Pure.
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { Document } from './document.js'
 * @import { Assets } from './html-page.js'
 */

/**
 * Renders the page: the answer, then what is missing, unless the answer warns of it, and all sections.
 * @param {Document} document
 * @param {{ series: Record<string, SidecarSeries[]>, assets: Assets }} options series: by trial id
 * @returns {string} HTML
 */
export function renderHtml({ title, question, answer, startedAt, missing, sections }, { series, assets }) {
  const screen = renderAnswerHtml(answer)
  const body = html`${screen.header}
<main>
${screen.body}
<p class="muted">${question} Started ${startedAt}.</p>
${renderMissing(missing.filter(line => !answer.warnings.includes(line)))}
<nav aria-label="Sections"><ul>${selectSections(sections, 'page').map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${screen.title}`, body, charts: listCharts(sections), series, assets })
}

/**
 * Renders the list of what the run lacks, and what of it could not be read or drawn.
 * @param {string[]} lines
 * @returns {import('./markup.js').Markup | null} null without lines
 */
function renderMissing(lines) {
  return lines.length === 0
    ? null
    : html`<section id="lacks" aria-label="What is missing">${renderList(lines)}</section>`
}
