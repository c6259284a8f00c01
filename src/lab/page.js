import { drawSvg } from '../report/charts/draw-svg.js'
import { withVariables } from '../report/charts/palette.js'
import { renderPage, renderTable } from '../report/html-page.js'
import { html, trust } from '../report/markup.js'
import { QUANTITIES } from './comparison.js'
import { drawFlames, growTree } from './flame.js'
import { CALLERS } from './profile.js'
import { tabulateBreakdown, tabulateRows } from './text.js'

/**
 * What the lab found, as one page that needs nothing else. Pure.
 * @import { SidecarCount } from './count.js'
 * @import { Found } from './text.js'
 */

const WIDTH = 1180

/**
 * @param {Found & { counts: { old: SidecarCount[], new: SidecarCount[] }, style: string }} given
 * @returns {string}
 */
export function renderLabPage({ counts, style, ...found }) {
  const { labels, breakdowns } = found
  const body = html`<header><h1>Pipeline lab</h1>
<p class="answer">${labels.new} against ${labels.old}</p>
<p class="muted">${Object.entries(QUANTITIES).map(([name, what]) => html`${name}: ${what}. `)}</p></header>
<main>
${renderTable(tabulateRows(found.rows))}
${breakdowns.map(breakdown => {
  const { link, service } = breakdown
  const own = (/** @type {SidecarCount[]} */ all) =>
    all.find(count => count.link === link && count.service === service)?.stacks ?? []
  const chart = drawFlames({
    title: `${service} of ${link}`,
    root: growTree({ old: own(counts.old), new: own(counts.new) }),
    width: WIDTH,
  })
  return html`<section aria-label="${chart.title}"><h2>${chart.title}</h2>
<figure><figcaption>A box is a function, as wide as its instructions a request with all that it calls within ${CALLERS} calls. Red: dearer than the old, blue: cheaper. A function that only the old scripts call has no box; it is in the table of functions.</figcaption>
<div class="scroll" role="img" aria-label="${chart.description}">${trust(withVariables(drawSvg(chart, { width: WIDTH })))}</div></figure>
${tabulateBreakdown(breakdown).map(table => renderTable(table))}</section>`
})}
</main>`
  // Charts are drawn here: the page runs no script.
  const assets = { style, scripts: [], library: '' }
  return renderPage({ title: `Pipeline lab: ${labels.new}`, body, charts: [], assets })
}
