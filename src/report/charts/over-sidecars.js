import { MIB } from '../../lib/units.js'
import { createAxisBelow, createAxisBeside, createFittedLine, createSeries, drawLines, shorten } from './style.js'

/**
 * Draws the memory of a control plane over the number of its sidecars: after each step, and the line through it. Pure.
 * @import { GrowthFit } from '../../model/types.ts'
 */

/** @typedef {{ label: string, colour: number, memory: NonNullable<GrowthFit['memory']> }} MemoryLine */

/** Draws the chart. @param {{ title: string, lines: MemoryLine[] }} given */
export function drawOverSidecars({ title, lines }) {
  return drawLines(
    { title, lines, say: sayLine },
    {
      xAxis: createAxisBelow('sidecars'),
      yAxis: createAxisBeside('MiB of the control plane'),
      series: lines.flatMap(drawLine),
    },
  )
}

/** @param {MemoryLine} line */
function drawLine({ label, colour, memory: { points, baseBytes, bytesPerSidecar } }) {
  const data = points.map(({ sidecars, bytes }) => ({
    value: [sidecars, shorten(bytes / MIB)],
    name: `${label}, ${sidecars} sidecars: ${(bytes / MIB).toFixed(1)} MiB`,
  }))
  const at = (/** @type {number} */ sidecars) => shorten((baseBytes + bytesPerSidecar * sidecars) / MIB)
  const ends = [points[0], points[points.length - 1]].map(({ sidecars }) => [sidecars, at(sidecars)])
  return [
    createSeries('scatter', { label, colour, symbolSize: 7, data }),
    createFittedLine({ label, colour, data: ends }),
  ]
}

/** @param {MemoryLine} line */
function sayLine({ label, memory: { baseBytes, bytesPerSidecar, points } }) {
  const last = points[points.length - 1]
  return `${label}: ${(baseBytes / MIB).toFixed(1)} MiB and ${(bytesPerSidecar / 1000).toFixed(1)} kB a sidecar, ${(last.bytes / MIB).toFixed(1)} MiB at ${last.sidecars}`
}
