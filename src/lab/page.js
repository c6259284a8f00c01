import { renderPage, renderTable } from '../report/html-page.js'
import { html } from '../report/markup.js'
import { drawFlames, growTree } from './flame.js'
import { CALLERS, sumSelf } from './profile.js'
import { define, tabulateBreakdown, tabulateRows } from './text.js'

/**
 * Renders the results of the lab as one page that needs nothing else. Pure.
 * @import { Costs, Sides } from './comparison.js'
 */

/** Renders a table of all rows and, for each sidecar, its flame graph (from counts) and its breakdown. style: CSS. @param {import('./text.js').LabResults & { counts: Sides, style: string }} options */
export function renderLabPage({ counts, style, ...results }) {
  const { labels, breakdowns } = results
  const body = html`<header><h1>Pipeline lab</h1>
<p class="answer">${labels.new} against ${labels.old}</p>
<p class="muted">${define(results.rows).map(line => html`${line}. `)}${results.notes.map(line => html`${line}. `)}</p></header>
<main>
${renderTable(tabulateRows(results.rows))}
${breakdowns.map(breakdown => {
  const { link, service, unit } = breakdown
  const findCosts = (/** @type {Costs[]} */ all) =>
    all.find(count => count.link === link && count.service === service) ?? { stacks: [] }
  const [old, next] = [findCosts(counts.old), findCosts(counts.new)]
  const grain = Math.max(grainOf(old), grainOf(next))
  const root = growTree({ old: old.stacks, new: next.stacks })
  const title = `${service} of ${link}`
  return html`<section aria-label="${title}"><h2>${title}</h2>
<figure><figcaption>A box is a function, as wide as its ${unit} with all that it calls${grain === 0 ? ` within ${CALLERS} calls` : ''}. Red: costs more than the old, blue: less${grain === 0 ? '' : ', by more than chance'}. A function that only the old scripts call has no box; it is in the table of functions.</figcaption>
<div class="scroll">${drawFlames({ title, root, grain })}</div></figure>
${tabulateBreakdown(breakdown).map(table => renderTable(table))}</section>`
})}
</main>`
  // The page runs no script.
  const assets = { style, scripts: [], library: '' }
  return renderPage({ title: `Pipeline lab: ${labels.new}`, body, charts: [], assets })
}

/** Finds the cost of one sample; 0: all was counted. @param {Pick<Costs, 'stacks' | 'samples'>} costs */
function grainOf({ stacks, samples }) {
  return samples ? sumSelf(stacks) / samples : 0
}
