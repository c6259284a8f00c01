import { describe, expect, it } from 'vitest'
import { drawCrossings, listCrossings, renderCrossings } from '../../../src/kinds/capacity/crossings.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { MIB } from '../../../src/lib/units.js'
import { listArms } from '../../../src/model/results.js'
import { createResult, createSummary } from '../../fakes/fake-summary.js'

/** @import { Summary } from '../../../src/model/types.ts' */

/** @param {Record<string, Record<number, number[]>>} planes MiB of each round by pairs */
function createRun(planes) {
  const arms = Object.entries(planes).flatMap(([plane, byPairs]) =>
    Object.entries(byPairs).map(([pairs, rounds]) => ({
      plane,
      load: { kind: /** @type {const} */ ('idle') },
      conditions: { pairs: Number(pairs) },
      fields: /** @type {any} */ ({ memory: { pssBytes: summariseValues(rounds.map(mib => mib * MIB)) } }),
    })),
  )
  const shows = { quantities: ['pss'], across: /** @type {const} */ ('pairs'), contrasts: [] }
  return createSummary(arms, { shows: { ...shows, hasCpuLine: false, hasSlopes: false, crossings: ['pss'] } })
}

/** @param {Summary} run */
const measuredIn = run => ({ arms: listArms(run), shows: run.shows })
/** @param {Summary} run */
const render = run => renderCrossings(run.results[0], run)

describe('a crossing', () => {
  it('is where one begins to take less, between measured values in proportion, with its rounds', () => {
    // Of six rounds, each crosses at 3: 5 + 5 × pairs, and 14 + 2 × pairs.
    const six = (/** @type {number} */ mib) => Array.from({ length: 6 }, () => mib)
    const run = createRun({ pipy: { 1: six(10), 5: six(30) }, ztunnel: { 5: six(24), 1: six(16) } })
    const [{ at, isOnce, lines }] = listCrossings(measuredIn(run))
    expect(isOnce).toBe(true)
    expect(at).toMatchObject({ median: 3, low: 3, high: 3 })
    expect(lines.map(([{ arm }]) => arm.plane)).toEqual(['ztunnel', 'pipy'])
    expect(render(run)).toEqual([
      'PSS MiB: ztunnel takes less than pipy from 3.0 [3.0, 3.0] pairs on, and more below (pairs 1: 16.0 and 10.0; 5: 24.0 and 30.0).',
    ])
  })

  it('does not exist if one takes less everywhere, or if the order changes twice', () => {
    const less = createRun({ envoy: { 1: [60], 5: [300] }, ztunnel: { 1: [16], 5: [24] } })
    expect(render(less)).toEqual([
      'PSS MiB: ztunnel takes less than envoy at every number of pairs (pairs 1: 16.0 and 60.0; 5: 24.0 and 300.0).',
    ])
    const twice = createRun({ pipy: { 1: [10], 3: [30], 5: [20] }, ztunnel: { 1: [12], 3: [13], 5: [24] } })
    expect(render(twice)[0]).toContain('pipy and ztunnel change places more than once')
    expect(render(createRun({ pipy: { 1: [10] }, ztunnel: { 1: [12] } }))).toEqual([])
  })

  it('has no interval if a round does not cross, and no winner everywhere if two are alike somewhere', () => {
    const six = [10, 10, 10, 10, 10, 18]
    const run = createRun({
      pipy: { 1: six, 5: six.map(mib => mib + 20) },
      ztunnel: { 1: six.map(() => 16), 5: six.map(() => 24) },
    })
    expect(listCrossings(measuredIn(run))[0].at).toMatchObject({ low: null, high: null })
    const alike = createRun({ pipy: { 1: [10], 5: [30] }, ztunnel: { 1: [9.9], 5: [24] } })
    expect(render(alike)[0]).toContain('ztunnel and pipy are within 3 % at some number of pairs, and neither')
  })

  it('is drawn as a line of each plane in the unit of the quantity', () => {
    const run = createRun({ pipy: { 5: [30], 1: [10] }, ztunnel: { 1: [16], 5: [24] } })
    const [chart] = drawCrossings({
      result: createResult(),
      summary: run,
      arms: listArms(run),
      records: [],
      colourFor: () => 1,
    })
    expect(chart).toMatchObject({ form: 'overAxis', title: 'PSS MiB over pairs', axes: ['pairs', 'MiB'] })
    expect(chart.lines.map(({ points }) => points)).toEqual([
      [
        { at: 1, value: 10 },
        { at: 5, value: 30 },
      ],
      [
        { at: 1, value: 16 },
        { at: 5, value: 24 },
      ],
    ])
  })
})
