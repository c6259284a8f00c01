import { describe, expect, it } from 'vitest'
import { renderCpuLines, renderSlopes } from '../../src/report/fits.js'
import { createResult } from '../fakes/fake-summary.js'

/** @import { CpuLine, Slope } from '../../src/model/types.ts' */

const MIB = 2 ** 20
/** @type {CpuLine} */
const line = {
  ...{ plane: 'pipy', variant: null, profile: null, link: 'pair', service: null, services: 1 },
  ...{ baseMillicores: 50.4, slopeMillicoresPerRequestPerSecond: 0.2 },
  points: [
    { ratePerSecond: 100, millicores: 70.4, residualMillicores: 0 },
    { ratePerSecond: 200, millicores: 120.4, residualMillicores: 30 },
    { ratePerSecond: 300, millicores: 78.4, residualMillicores: -32 },
  ],
}
/** @type {Slope} */
const slope = {
  ...{ plane: 'pipy', variant: null, profile: null, armId: 'pair-pipy-1', quantity: 'rss', rounds: 6 },
  ...{ perHour: 2 * MIB, low: MIB, high: 3 * MIB },
}

/** @param {CpuLine[]} lines */
const renderLines = (...lines) => renderCpuLines({ results: [createResult({ lines })] })

describe('renderCpuLines', () => {
  it('says the line, how far off it is at most, and every point', () => {
    expect(renderLines(line)).toEqual([
      'CPU over the rate, a robust line through the measured points (no more than that):',
      '  pipy, all sidecars: 50 millicores + 20.0 per 100 requests/s, off by at most 32',
      '    100/s 70 (+0)  200/s 120 (+30)  300/s 78 (-32)',
    ])
  })

  it('says whose it is', () => {
    const [, one, , two] = renderLines({ ...line, service: 'client' }, { ...line, variant: '/a/mine', services: 10 })
    expect(one).toMatch(/^ {2}pipy, client's sidecar: /)
    expect(two).toMatch(/^ {2}pipy=mine, all sidecars, 10 services: /)
  })

  it('says nothing without a line', () => expect(renderLines()).toEqual([]))
})

describe('renderSlopes', () => {
  const HEAD = 'Over the time of the run, an hour [95 % interval]:'

  it.each([
    [slope, 'RSS MiB +2.00 [1.00, 3.00]: it grows'],
    [{ ...slope, perHour: -2 * MIB, low: -3 * MIB, high: -MIB }, 'RSS MiB -2.00 [-3.00, -1.00]: it falls'],
    [{ ...slope, low: -MIB }, 'RSS MiB +2.00 [-1.00, 3.00]: no change shown'],
    [{ ...slope, perHour: 0, low: 0, high: MIB }, 'RSS MiB +0.00 [0.00, 1.00]: no change shown'],
    [{ ...slope, low: null, high: null, rounds: 4 }, 'RSS MiB +2.00: too few windows (4) for an interval'],
    [{ ...slope, quantity: 'p99', perHour: 0.5, low: 0.25, high: 1 }, 'p99 ms +0.50 [0.25, 1.00]: it grows'],
  ])('says what a quantity moves by, and whether that is shown: %#', (fields, words) => {
    expect(renderSlopes({ results: [createResult({ slopes: [fields] })] })).toEqual([HEAD, `  pair-pipy-1: ${words}`])
  })

  it('says nothing without a slope', () => expect(renderSlopes({ results: [createResult()] })).toEqual([]))
})
