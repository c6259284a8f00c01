import { describe, expect, it } from 'vitest'
import { summariseValues } from '../../src/lib/stats.js'
import { QUANTITIES, QUANTITY_NAMES } from '../../src/model/quantities.js'
import { createSummaryArm } from '../fakes/fake-summary.js'

/** @import { Quantiles, SummaryArm, SummarySidecar } from '../../src/model/types.ts' */

const MIB = 2 ** 20
const NOTHING = summariseValues([])
/** @param {Partial<Omit<SummarySidecar, 'memory'>> & { memory?: Partial<SummarySidecar['memory']> }} fields @returns {SummarySidecar} */
const sidecar = ({ memory, ...fields }) => {
  const [empty] = createSummaryArm({ plane: 'pipy' }).sidecars
  return { ...empty, ...fields, memory: { ...empty.memory, ...memory } }
}
/** @param {SummarySidecar[]} sidecars @returns {SummaryArm} */
const armOf = sidecars => ({ ...createSummaryArm({ plane: 'pipy', cpuPerRequest: [300] }), sidecars })
const of = (/** @type {string} */ name, /** @type {SummaryArm} */ arm, service = /** @type {string | null} */ (null)) =>
  QUANTITIES[name].of(arm, service)
/** @param {Partial<Quantiles>} times @returns {Quantiles} */
const timesOf = times => ({ p50: NOTHING, p90: NOTHING, p95: NOTHING, p99: NOTHING, p999: NOTHING, ...times })

describe('QUANTITIES', () => {
  it('are null or empty where an arm has none of them', () => {
    const arm = createSummaryArm({ plane: 'none' })
    for (const name of QUANTITY_NAMES) expect(of(name, arm)?.median ?? null).toBeNull()
  })

  it('add memory and CPU up over sidecars, round by round: the median of the sums', () => {
    const arm = armOf([
      sidecar({
        cpuCores: summariseValues([0.1, 0.2, 0.6]),
        memory: { rssBytes: summariseValues([MIB, 2 * MIB, 9 * MIB]) },
      }),
      sidecar({
        ...{ service: 'ratings', cpuCores: summariseValues([0.5, 0.1, 0.1]) },
        memory: { rssBytes: summariseValues([8 * MIB, MIB, MIB]) },
      }),
    ])
    // The medians of the parts are 2 and 1 MiB; the sums are 9, 3 and 10.
    expect(of('rss', arm)).toMatchObject({ median: 9 * MIB, values: [9 * MIB, 3 * MIB, 10 * MIB] })
    expect(of('cpuCores', arm)?.values).toEqual([0.6, 0.3, 0.7].map(v => expect.closeTo(v, 9)))
    expect(of('rss', arm, 'ratings')?.median).toBe(MIB)
    expect(of('rss', arm, 'nobody')).toBeNull()
  })

  it('have no sum of a round in which a sidecar has no value', () => {
    const parts = [
      [1, null],
      [2, 3],
    ].map((values, i) => sidecar({ service: `s${i}`, memory: { anonBytes: summariseValues(values) } }))
    expect(of('anon', armOf(parts))?.values).toEqual([3, null])
  })

  it('take the share of the cap and throttling of the sidecar with the most', () => {
    const arm = armOf(
      [0.5, 0.9, null].map((value, i) =>
        sidecar({
          ...{ service: `s${i}`, cpuOfCap: summariseValues([value]), throttledFraction: summariseValues([value]) },
        }),
      ),
    )
    expect([of('cpuOfCap', arm)?.median, of('throttled', arm)?.median]).toEqual([0.9, 0.9])
    expect(of('cpuOfCap', arm, 's0')?.median).toBe(0.5)
  })

  it('take CPU per request of the arm, or of one sidecar', () => {
    const arm = armOf([sidecar({ cpuPerRequestMicros: summariseValues([120]) })])
    expect(of('cpuPerRequest', arm)?.median).toBe(300)
    expect(of('cpuPerRequest', arm, 'gateway')?.median).toBe(120)
    expect(of('cpuPerRequest', arm, 'nobody')).toBeNull()
  })

  it('take quantiles of the open loop from latency, and of the closed from response time', () => {
    expect(of('p99', createSummaryArm({ plane: 'pipy', p99: [7] }))?.median).toBe(7)
    expect(of('p99', createSummaryArm({ plane: 'pipy', load: { ratePerSecond: 5 }, p99: [8] }))?.median).toBe(8)
    const added = { ...createSummaryArm({ plane: 'pipy' }), addedLatencyMs: timesOf({ p50: summariseValues([0.25]) }) }
    expect(of('addedP50', added)?.median).toBe(0.25)
  })

  it('say the time to effect in milliseconds, its interval too', () => {
    const changes = {
      ...{ effectSeconds: summariseValues([0.25, 0.5, 0.75, 1, 1.25, null, 1.5]), effectMostSeconds: NOTHING },
      ...{ failedPerChange: NOTHING, cpuMillisPerChange: summariseValues([3]) },
    }
    const arm = { ...createSummaryArm({ plane: 'pipy' }), changes }
    expect(of('effectMs', arm)).toEqual({
      ...{ median: 875, low: 250, high: 1500, values: [250, 500, 750, 1000, 1250, null, 1500] },
    })
    expect(of('effectMostMs', arm)).toEqual(NOTHING)
    expect(of('cpuMillisPerChange', arm)?.median).toBe(3)
  })

  it.each([
    ['throughput', 1234.5, 'requests/s', '1235'],
    ['cpuCores', 0.12345, 'CPU cores', '0.123'],
    ['cpuOfCap', 0.954, 'CPU of cap', '95 %'],
    ['p999', 12.34, 'p99.9 ms', '12.3'],
    ['addedP99', 0.123, 'added p99 ms', '0.12'],
    ['rss', 12.25 * MIB, 'RSS MiB', '12.3'],
    ['startSeconds', 0.456, 'first answer after s', '0.46'],
  ])('are shown with their unit: %s', (name, value, label, shown) => {
    expect([QUANTITIES[name].label, QUANTITIES[name].format(value)]).toEqual([label, shown])
  })
})
