import { renderPage, renderTable } from '../report/html-page.js'
import { html } from '../report/markup.js'
import { cutAtFilter } from './groups.js'
import { CALLERS, sumSelfCosts } from './profile.js'
import { listDefinitions, tabulateBreakdown, tabulateRows } from './text.js'

/**
 * Renders the results of the lab as one page that needs nothing else. Pure.
 * @import { Breakdown, Costs, Sides } from './comparison.js'
 * @import { Stack } from './profile.js'
 * @import { Markup } from '../report/markup.js'
 * @typedef {{ name: string, old: number, new: number, children: Map<string, Node> }} Node old, new: the costs with the children
 */
/**
 * @typedef {object} Box
 * @property {number} start the cost to its left
 * @property {number} depth 0 at the bottom
 * @property {Node} node
 */

const ROW_PIXELS = 18
// The narrowest box that can be seen, as a share of the whole.
const LEAST_SHARE = 0.002
// Changes below this share of the whole are noise.
const SHOWN_SHARE = 0.0005
// Standard deviations of the samples on both sides: one of 400 unchanged boxes is coloured by chance.
const SHOWN_DEVIATIONS = 3

/**
 * Renders a page with a table of all rows and, for each sidecar of both sides, its flame graph and its breakdown.
 * @param {import('./text.js').LabResults & { counts: Sides, style: string }} options counts: for the flame graphs;
 *   style: CSS
 * @returns {string} HTML
 */
export function renderLabPage({ counts, style, ...results }) {
  const { labels, breakdowns } = results
  const body = html`<header><h1>Pipeline lab</h1>
<p class="answer">${labels.new} against ${labels.old}</p>
<p class="muted">${listDefinitions(results.rows).map(line => html`${line}. `)}${results.notes.map(line => html`${line}. `)}</p></header>
<main>
${renderTable(tabulateRows(results.rows))}
${breakdowns.map(breakdown => renderSidecar(breakdown, counts))}
</main>`
  // The page runs no script.
  const assets = { style, scripts: [], library: '' }
  return renderPage({ title: `Pipeline lab: ${labels.new}`, body, charts: [], assets })
}

/**
 * Renders the section of a sidecar: its flame graph and the tables of its breakdown.
 * @param {Breakdown} breakdown
 * @param {Sides} counts
 * @returns {Markup}
 */
function renderSidecar(breakdown, counts) {
  const { link, service, unit } = breakdown
  const findCosts = (/** @type {Costs[]} */ costs) =>
    costs.find(count => count.link === link && count.service === service) ?? { stacks: [] }
  const [old, next] = [findCosts(counts.old), findCosts(counts.new)]
  const grain = Math.max(computeSampleCost(old), computeSampleCost(next))
  const root = createFlameTree({ old: old.stacks, new: next.stacks })
  const title = `${service} of ${link}`
  return html`<section aria-label="${title}"><h2>${title}</h2>
<figure><figcaption>A box is a function, as wide as its ${unit} with all that it calls${grain === 0 ? ` within ${CALLERS} calls` : ''}. Red: costs more than the old, blue: less${grain === 0 ? '' : ', by more than chance'}. A function that only the old scripts call has no box; it is in the table of functions.</figcaption>
<div class="scroll">${renderFlameGraph({ title, root, grain })}</div></figure>
${tabulateBreakdown(breakdown).map(table => renderTable(table))}</section>`
}

/**
 * Computes the cost of one sample, the grain of sampled costs.
 * @param {Pick<Costs, 'stacks' | 'samples'>} costs
 * @returns {number} in the unit of the stacks; 0: all was counted
 */
function computeSampleCost({ stacks, samples }) {
  return samples ? sumSelfCosts(stacks) / samples : 0
}

/**
 * Creates one tree of the stacks of both sides: first the filter, then the functions from the outermost to the
 * innermost.
 * @param {{ old: Stack[], new: Stack[] }} stacks
 * @returns {Node} the root, with the cost of all stacks
 */
export function createFlameTree(stacks) {
  /** @type {Node} */
  const root = { name: 'all', old: 0, new: 0, children: new Map() }
  for (const side of /** @type {const} */ (['old', 'new'])) {
    for (const stack of stacks[side]) {
      const { filter, frames } = cutAtFilter(stack)
      let node = root
      node[side] += stack.self
      for (const name of [filter, ...frames.toReversed()]) {
        const child = node.children.get(name) ?? { name, old: 0, new: 0, children: new Map() }
        node.children.set(name, child)
        child[side] += stack.self
        node = child
      }
    }
  }
  return root
}

/**
 * Renders a tree as a flame graph in HTML. A box is a function, as wide as its cost with all that it calls, above its
 * caller; the filter of the script is at the bottom. Widths are shares of the new side; the colour marks a changed
 * cost.
 * @param {{ title: string, root: Node, grain?: number }} options root: with a new cost above 0; grain: the cost of a sample; 0, absent:
 *   all was counted
 * @returns {Markup}
 */
export function renderFlameGraph({ title, root, grain = 0 }) {
  const boxes = listBoxes(root)
  const rows = 1 + Math.max(...boxes.map(({ depth }) => depth))
  const share = (/** @type {number} */ cost) => `${((100 * cost) / root.new).toFixed(3)}%`
  const drawn = boxes.map(({ start, depth, node }) => {
    const place = `left: ${share(start)}; width: ${share(node.new)}; bottom: ${ROW_PIXELS * depth}px`
    // The last two parts of a C++ name are the specific ones.
    const label = node.name.split('::').slice(-2).join('::')
    return html`<div class="${chooseColourClass(node, { root, grain })}" style="${place}" title="${node.name}">${label}</div>\n`
  })
  const about = `${title}: ${boxes.length} functions, ${rows} deep; the tables beside it have the numbers.`
  return html`<div class="flames" role="img" aria-label="${about}" style="height: ${ROW_PIXELS * rows}px">${drawn}</div>`
}

/**
 * Chooses the colour class of a box by the change of its cost.
 * @param {Node} node
 * @param {{ root: Node, grain: number }} area grain: the cost of a sample; 0: all was counted
 * @returns {'same' | 'costlier' | 'cheaper'} same: the change may be noise
 */
function chooseColourClass(node, { root, grain }) {
  const change = node.new - node.old
  const chance = SHOWN_DEVIATIONS * Math.sqrt((node.old + node.new) * grain)
  if (Math.abs(change) < Math.max(SHOWN_SHARE * root.new, chance)) return 'same'
  return change > 0 ? 'costlier' : 'cheaper'
}

/**
 * Lists the boxes that are at least LEAST_SHARE of the whole wide, siblings by name.
 * @param {Node} root
 * @returns {Box[]} at least that of the root, which comes first
 */
function listBoxes(root) {
  /** @type {Box[]} */
  const boxes = []
  const place = (/** @type {Box} */ box) => {
    boxes.push(box)
    let { start } = box
    for (const child of [...box.node.children.values()].sort((a, b) => a.name.localeCompare(b.name))) {
      if (child.new >= LEAST_SHARE * root.new) place({ start, depth: box.depth + 1, node: child })
      start += child.new
    }
  }
  place({ start: 0, depth: 0, node: root })
  return boxes
}
