import { describe, expect, it } from 'vitest'
import { fitCpuLines, fitSlopes } from '../../src/analysis/fits.js'
import { summariseValues } from '../../src/lib/stats.js'
import { createRecord } from '../fakes/fake-records.js'
import { createSummaryArm } from '../fakes/fake-summary.js'

/**
 * @import { ArmFields } from '../fakes/fake-summary.js'
 * @import { GateFinding, SummaryArm, TrialRecord } from '../../src/model/types.ts'
 */

const MIB = 2 ** 20
const RATES = [100, 200, 300, 400, 500]
/** 50 millicores and 0.2 a request/s. */
const line = (/** @type {number} */ rate) => 0.05 + 0.0002 * rate
/** @param {Partial<ArmFields>} fields @param {(rate: number) => number | null} [cores] @param {number[]} [rates] */
const ladder = (fields = {}, cores = line, rates = RATES) =>
  rates.map(ratePerSecond =>
    createSummaryArm({ plane: 'pipy', load: { ratePerSecond }, cores: [cores(ratePerSecond)], ...fields }),
  )
/** @param {SummaryArm} arm @param {Record<string, (number | null)[]>} cores of its sidecars @returns {SummaryArm} */
const withSidecars = (arm, cores) => ({
  ...arm,
  ...{ cpuCores: summariseValues([Object.values(cores).reduce((sum, [value]) => sum + Number(value), 0)]) },
  sidecars: Object.entries(cores).map(([service, values]) => ({
    ...arm.sidecars[0],
    ...{ service, copyOf: COPIES[service] ?? null },
    cpuCores: summariseValues(values),
  })),
})

/** @type {Record<string, string>} */
const COPIES = { 'server-2': 'server' }

describe('fitCpuLines', () => {
  it('gives base, slope and how far each point is off, for all sidecars and for each', () => {
    const lines = fitCpuLines(ladder())
    expect(lines.map(l => l.service)).toEqual([null, 'gateway'])
    expect(lines[0]).toMatchObject({ plane: 'pipy', variant: null, profile: null, link: 'pair', services: 1 })
    expect(lines[0].baseMillicores).toBeCloseTo(50, 9)
    expect(lines[0].slopeMillicoresPerRequestPerSecond).toBeCloseTo(0.2, 9)
    expect(lines[0].points.map(p => [p.ratePerSecond, p.millicores])).toEqual(
      [70, 90, 110, 130, 150].map((millicores, i) => [RATES[i], expect.closeTo(millicores, 9)]),
    )
  })

  it('ignores a single outlier', () => {
    const [all] = fitCpuLines(ladder({}, rate => line(rate) + (rate === 300 ? 0.03 : 0)))
    expect(all.baseMillicores).toBeCloseTo(50, 9)
    expect(all.slopeMillicoresPerRequestPerSecond).toBeCloseTo(0.2, 9)
    expect(all.points.map(p => p.residualMillicores)).toEqual([0, 0, 30, 0, 0].map(off => expect.closeTo(off, 9)))
  })

  it('adds sidecars up, and does not distinguish copies of a service', () => {
    const arms = ladder().map((arm, i) =>
      withSidecars(arm, { client: [line(RATES[i])], server: [0.01], 'server-2': [0.02] }),
    )
    const lines = fitCpuLines(arms)
    expect(lines.map(l => [l.service, Math.round(l.baseMillicores)])).toEqual([
      [null, 80],
      ['client', 50],
      ['server', 10],
    ])
  })

  it('has a line of its own for every plane, link and number of services', () => {
    const arms = [...ladder(), ...ladder({ plane: 'envoy' }), ...ladder({ link: 'ratings' })]
    const more = ladder({ conditions: { services: 10 } })
    expect(fitCpuLines([...arms, ...more]).map(l => [l.plane, l.link, l.services, l.service])).toEqual(
      [
        ['pipy', 'pair', 1],
        ['envoy', 'pair', 1],
        ['pipy', 'ratings', 1],
        ['pipy', 'pair', 10],
      ].flatMap(key => [
        [...key, null],
        [...key, 'gateway'],
      ]),
    )
  })

  it('draws no line through fewer than five rates that have a value', () => {
    expect(fitCpuLines(ladder({}, line, RATES.slice(1)))).toEqual([])
    expect(fitCpuLines(ladder({}, rate => (rate === 500 ? null : line(rate))))).toEqual([])
  })

  it('takes neither closed loops, nor arms without sidecars, nor A/A', () => {
    expect(fitCpuLines(ladder({ load: {} }))).toEqual([])
    expect(fitCpuLines(ladder({ plane: 'none' }))).toEqual([])
    expect(fitCpuLines(ladder({ fields: { repeatOf: 'x' } }))).toEqual([])
  })
})

describe('fitSlopes', () => {
  const HALF_HOUR_MS = 1_800_000
  /** @param {(number | null)[]} rss MiB @param {(number | null)[]} p99 @returns {SummaryArm} */
  const armOf = (rss, p99 = []) => {
    const arm = createSummaryArm({ plane: 'pipy', load: { ratePerSecond: 200 }, p99 })
    const rssBytes = summariseValues(rss.map(v => v && v * MIB))
    return /** @type {SummaryArm} */ ({ ...arm, id: 'link-pipy', ...{ memory: { rssBytes } } })
  }
  /** @param {number} count @param {Record<number, GateFinding[]>} [gates] by round @returns {TrialRecord[]} */
  const halfHours = (count, gates = {}) =>
    Array.from({ length: count }, (_, i) =>
      createRecord({
        ...{ round: i + 1, gates: gates[i + 1] ?? [] },
        window: { startMs: i * HALF_HOUR_MS, endMs: 0, seconds: 60, startLateMs: 0, endLateMs: 0 },
      }),
    )

  it('says what memory and p99 grow by in an hour, by when each window began', () => {
    const arm = armOf([10, 11, 12, 13, 14, 15], [4, 3.5, 3, 2.5, 2, 1.5])
    expect(fitSlopes({ arms: [arm], records: halfHours(6) })).toEqual([
      {
        ...{ plane: 'pipy', variant: null, profile: null, armId: 'link-pipy', quantity: 'p99' },
        ...{ perHour: -1, low: -1, high: -1, rounds: 6 },
      },
      {
        ...{ plane: 'pipy', variant: null, profile: null, armId: 'link-pipy', quantity: 'rss' },
        ...{ perHour: 2 * MIB, low: 2 * MIB, high: 2 * MIB, rounds: 6 },
      },
    ])
  })

  it('has no interval below six windows, and nothing below two', () => {
    const [rss] = fitSlopes({ arms: [armOf([10, 11, 12, 13, 14])], records: halfHours(5) })
    expect(rss).toMatchObject({ perHour: 2 * MIB, low: null, high: null, rounds: 5 })
    expect(fitSlopes({ arms: [armOf([10])], records: halfHours(1) })).toEqual([])
  })

  it('leaves out windows without a value, and keeps the time of the others', () => {
    const [rss] = fitSlopes({ arms: [armOf([10, null, 12, 13])], records: halfHours(4) })
    expect(rss).toMatchObject({ perHour: 2 * MIB, rounds: 3 })
  })

  it('takes the time of the window that gave the value, if one was run again', () => {
    const spoiled = /** @type {GateFinding[]} */ ([{ gate: 'clock', spoils: ['memory'], reason: '' }])
    const records = halfHours(4, { 2: spoiled })
    // Round 2 once more, after 1.25 hours.
    const again = { ...records[1], gates: [], window: { ...records[1].window, startMs: 2.5 * HALF_HOUR_MS } }
    const arm = armOf([10, 12.5, 12, 13])
    const [rss] = fitSlopes({ arms: [arm], records: /** @type {TrialRecord[]} */ ([...records, again]) })
    expect(rss).toMatchObject({ perHour: 2 * MIB, rounds: 4 })
  })

  it('has no slope of arms without sidecars', () => {
    expect(fitSlopes({ arms: [createSummaryArm({ plane: 'none' })], records: halfHours(6) })).toEqual([])
  })
})
