import { MIB } from '../../lib/units.js'
import { colourOf } from './palette.js'
import { createFittedLine, createLinesChart, shorten } from './style.js'

/**
 * Memory of a control plane over the number of its sidecars: after each step, and the line through it. Pure.
 * @import { GrowthFit } from '../../model/types.ts'
 * @import { Chart } from './style.js'
 * @import { Table } from '../../lib/text-table.js'
 */

/** @typedef {{ label: string, colour: number, memory: NonNullable<GrowthFit['memory']> }} MemoryLine */

/** @param {{ title: string, lines: MemoryLine[] }} given @returns {Chart} */
export function drawOverSidecars({ title, lines }) {
  return createLinesChart({
    title,
    lines,
    say: sayLine,
    x: { min: 0, name: 'sidecars' },
    y: { min: 0, name: 'MiB of the control plane' },
    series: lines.flatMap(({ label, colour, memory: { points, baseBytes, bytesPerSidecar } }) => [
      {
        type: 'scatter',
        name: label,
        color: colourOf(colour),
        symbolSize: 7,
        data: points.map(({ sidecars, bytes }) => ({
          value: [sidecars, shorten(bytes / MIB)],
          name: `${label}, ${sidecars} sidecars: ${(bytes / MIB).toFixed(1)} MiB`,
        })),
      },
      createFittedLine({
        label,
        colour: colourOf(colour),
        ends: [points[0], points[points.length - 1]].map(({ sidecars }) => [
          sidecars,
          shorten((baseBytes + bytesPerSidecar * sidecars) / MIB),
        ]),
      }),
    ]),
  })
}

/** @param {string} caption @param {MemoryLine[]} lines @returns {Table} */
export function tabulateMemory(caption, lines) {
  const counts = [...new Set(lines.flatMap(({ memory }) => memory.points.map(p => p.sidecars)))].sort((a, b) => a - b)
  return {
    caption: `${caption}, MiB`,
    columns: [['sidecars', 'right'], ...lines.map(({ label }) => /** @type {[string, 'right']} */ ([label, 'right']))],
    rows: counts.map(count => [
      `${count}`,
      ...lines.map(({ memory: { points } }) => {
        const point = points.find(p => p.sidecars === count)
        return point ? (point.bytes / MIB).toFixed(1) : '-'
      }),
    ]),
  }
}

/** @param {MemoryLine} line */
function sayLine({ label, memory: { baseBytes, bytesPerSidecar, points } }) {
  const last = points[points.length - 1]
  return `${label}: ${(baseBytes / MIB).toFixed(1)} MiB and ${(bytesPerSidecar / 1000).toFixed(1)} kB a sidecar, ${(last.bytes / MIB).toFixed(1)} MiB at ${last.sidecars}`
}
