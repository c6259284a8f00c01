import { renderCharts, renderList, renderPage, renderSections, renderTable } from './html-page.js'
import { html } from './markup.js'

/**
 * A history as one page. Pure.
 * @import { HistoryDocument } from './history.js'
 * @import { Assets } from './html-page.js'
 */

/** @param {HistoryDocument} document @param {Assets} assets @returns {string} */
export function renderHistoryHtml({ title, answer, steps, notes, charts, changes, left }, assets) {
  const sections = [
    { id: 'steps', name: 'Steps', body: renderList(steps) },
    { id: 'changes', name: 'Changes', body: changes.rows.length > 0 ? [renderTable(changes, 'prose')] : [] },
    { id: 'left', name: 'Not comparable', body: left.rows.length > 0 ? [renderTable(left, 'prose')] : [] },
    { id: 'method', name: 'How to read it', body: renderList(notes) },
  ].filter(section => section.body.length > 0)
  const body = html`<header>
<h1>${title}</h1>
<p class="answer">${answer}</p>
</header>
<main>
<section id="charts" aria-label="The history as charts">${renderCharts(charts)}
<p class="muted">A dot is the median of a run, an upright line its 95 % interval, a band the level between steps. Dashed: something changed from that run on. Grey: the applications, where no sidecar runs.</p></section>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${answer}`, body, charts, assets })
}
