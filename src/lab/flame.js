import { html } from '../report/markup.js'
import { cutAtFilter } from './groups.js'

/**
 * Draws a flame graph: a box is a function, as wide as its cost with all it calls, above its caller; the filter of the
 * script is at the bottom. The colour marks a changed cost. Pure.
 * @import { Stack } from './profile.js'
 * @typedef {{ name: string, old: number, new: number, children: Map<string, Node> }} Node instructions a request
 * @typedef {{ start: number, depth: number, node: Node }} Box
 */

const ROW_PIXELS = 18
// The narrowest box that can be seen, as a share of the whole.
const LEAST_SHARE = 0.002
// Changes below this share of the whole are noise.
const SHOWN_SHARE = 0.0005
// Standard deviations of the samples on both sides: one of 400 unchanged boxes is coloured by chance.
const SHOWN_DEVIATIONS = 3

/** Makes one tree of the stacks of both sides: filter, then functions from the outermost to the innermost. @param {{ old: Stack[], new: Stack[] }} stacks */
export function growTree(stacks) {
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

/** Draws a tree as HTML; widths are shares of the new side. @param {{ title: string, root: Node, grain?: number }} options grain: cost of a sample; 0: all was counted */
export function drawFlames({ title, root, grain = 0 }) {
  const boxes = listBoxes(root)
  const rows = 1 + Math.max(...boxes.map(({ depth }) => depth))
  const share = (/** @type {number} */ cost) => `${((100 * cost) / root.new).toFixed(3)}%`
  const drawn = boxes.map(({ start, depth, node }) => {
    const place = `left: ${share(start)}; width: ${share(node.new)}; bottom: ${ROW_PIXELS * depth}px`
    // The last two parts of a C++ name are the specific ones.
    const label = node.name.split('::').slice(-2).join('::')
    return html`<div class="${changeOf(node, { root, grain })}" style="${place}" title="${node.name}">${label}</div>\n`
  })
  const about = `${title}: ${boxes.length} functions, ${rows} deep; the tables beside it have the numbers.`
  return html`<div class="flames" role="img" aria-label="${about}" style="height: ${ROW_PIXELS * rows}px">${drawn}</div>`
}

/** Finds the colour class of a box by the change of its cost. @param {Node} node @param {{ root: Node, grain: number }} area */
function changeOf(node, { root, grain }) {
  const change = node.new - node.old
  const chance = SHOWN_DEVIATIONS * Math.sqrt((node.old + node.new) * grain)
  if (Math.abs(change) < Math.max(SHOWN_SHARE * root.new, chance)) return 'same'
  return change > 0 ? 'costlier' : 'cheaper'
}

/** Lists the boxes that can be seen, siblings by name. start: cost to the left; depth: 0 at the bottom. @param {Node} root @returns {Box[]} */
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
