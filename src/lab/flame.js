import { createOption } from '../report/charts/style.js'
import { cutAtFilter } from './groups.js'

/**
 * Draws a flame graph: a box is a function, as wide as its cost with all it calls, above its caller; the filter of the
 * script is at the bottom. The colour marks a changed cost. The kit has ECharts already, which needs no browser. Pure.
 * @import { Chart } from '../report/charts/style.js'
 * @import { Stack } from './profile.js'
 */

/** @typedef {{ name: string, old: number, new: number, children: Map<string, Node> }} Node instructions a request */

const ROW = 18
const CHARACTER = 6.2
// The narrowest box that can be seen, as a share.
const LEAST_SHARE = 0.002
// Changes below this share of the whole are noise.
const SHOWN_SHARE = 0.0005
// Standard deviations of the samples on both sides: one of 400 unchanged boxes is coloured by chance.
const SHOWN_DEVIATIONS = 3
// Boxes keep their light colours in a dark scheme.
const TEXT = '#111111'
const COLOURS = { dearer: '#e8a598', cheaper: '#9cc3e6', same: '#e3ddc8' }

/** Makes one tree of the stacks of both sides. @param {{ old: Stack[], new: Stack[] }} stacks */
export function growTree(stacks) {
  /** @type {Node} */
  const root = { name: 'all', old: 0, new: 0, children: new Map() }
  for (const side of /** @type {const} */ (['old', 'new'])) {
    for (const stack of stacks[side]) {
      const { filter, frames } = cutAtFilter(stack)
      const { self } = stack
      let node = root
      node[side] += self
      for (const name of [filter, ...frames.toReversed()]) {
        const child = node.children.get(name) ?? { name, old: 0, new: 0, children: new Map() }
        node.children.set(name, child)
        child[side] += self
        node = child
      }
    }
  }
  return root
}

/**
 * Draws a tree.
 * @param {{ title: string, root: Node, width: number, grain?: number }} given width: pixels; grain: cost of one sample;
 *   0: all was counted
 * @returns {Chart}
 */
export function drawFlames({ title, root, width, grain = 0 }) {
  const boxes = listBoxes(root)
  const depth = Math.max(...boxes.map(box => box.depth))
  const height = (depth + 2) * ROW
  return {
    title,
    description: `${title}: ${boxes.length} functions, ${depth + 1} deep; the tables beside it have the numbers.`,
    height,
    option: createOption({
      tooltip: { show: false },
      grid: { left: 0, right: 0, top: 0, bottom: 0 },
      xAxis: { type: 'value', min: 0, max: root.new, show: false },
      yAxis: { type: 'value', min: 0, max: depth + 2, show: false },
      series: [
        {
          type: 'custom',
          data: boxes.map(({ start, depth, node }) => ({ name: node.name, value: [start, depth, node.new] })),
          renderItem: (/** @type {any} */ { dataIndex }) => drawBox(boxes[dataIndex], { root, width, height, grain }),
        },
      ],
    }),
  }
}

/** @param {Box} box @param {{ root: Node, width: number, height: number, grain: number }} area */
function drawBox({ start, depth, node }, { root, width, height, grain }) {
  const scale = width / root.new
  const shape = { x: start * scale, y: height - (depth + 1) * ROW, width: node.new * scale, height: ROW - 1 }
  const letters = Math.floor((shape.width - 4) / CHARACTER)
  const label = letters >= 4 ? shortenTo(node.name, letters) : ''
  return {
    type: 'rect',
    shape,
    style: { fill: colourOf(node, { root, grain }), stroke: '#ffffff', lineWidth: 0.5 },
    textContent: { style: { text: label, fontSize: 11, fontFamily: 'monospace', fill: TEXT } },
    textConfig: { position: 'insideLeft' },
  }
}

/** Keeps the end of a name, which says most. @param {string} name @param {number} letters */
function shortenTo(name, letters) {
  const parts = name.split('::')
  while (parts.length > 1 && parts.join('::').length > letters) parts.shift()
  const end = parts.join('::')
  return end.length <= letters ? end : `${end.slice(0, letters - 1)}…`
}

/** @param {Node} node @param {{ root: Node, grain: number }} area */
function colourOf(node, { root, grain }) {
  const change = node.new - node.old
  const chance = SHOWN_DEVIATIONS * Math.sqrt((node.old + node.new) * grain)
  if (Math.abs(change) < Math.max(SHOWN_SHARE * root.new, chance)) return COLOURS.same
  return change > 0 ? COLOURS.dearer : COLOURS.cheaper
}

/** @typedef {{ start: number, depth: number, node: Node }} Box */

/** @param {Node} root @returns {Box[]} */
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
