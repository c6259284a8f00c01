import { expect, it } from 'vitest'
import { drawProxies, hasAxisPoints } from '../../src/answer/proxies.js'
import { createArm } from '../fakes/fake-records.js'
import { createSummaryArm } from '../fakes/fake-summary.js'

/** @import { Comparison } from '../../src/model/types.ts' */

const load = { ratePerSecond: 200 }
const names = ['pipy', 'envoy', 'linkerd']
/** Draws three proxies that differ in their workers, one of each. @param {(plane: string) => number | undefined} workersOf */
function draw(workersOf) {
  const arms = names.map((plane, i) =>
    createSummaryArm({
      plane,
      load,
      conditions: { workers: workersOf(plane) },
      p99: [2 + i, 2 + i],
      cpuPerRequest: [400 * (i + 1), 400 * (i + 1)],
    }),
  )
  const { kind, link, cpuLimitCores, conditions } = createArm({})
  const comparisons = names.slice(1).map(
    (b, i) =>
      /** @type {Comparison} */ ({
        ...{
          kind,
          link,
          cpuLimitCores,
          conditions,
          load: arms[0].load,
          a: 'pipy',
          b,
          contrast: null,
          isControl: false,
        },
        ...{ gapLeast: 0.01, quantity: 'cpuPerRequest', service: null, aaSpread: 0.01, verdict: 'lower', reasons: [] },
        ratio: { median: 1 / (i + 2), low: 1 / (i + 2), high: 1 / (i + 2), values: [] },
      }),
  )
  return drawProxies({ arms, comparisons, quantities: ['p99', 'cpuPerRequest'] })
}

it('has a row for each proxy if each has one arm, though one has other workers', () => {
  const [{ rows }] = draw(plane => (plane === 'linkerd' ? 1 : 2))
  expect(rows.map(({ label }) => label)).toEqual(names)
})

it('puts ratios beside the quantity that they are of', () => {
  const [{ columns, rows }] = draw(() => 2)
  expect(columns.map(({ heading }) => heading)).toEqual(['p99', 'CPU per request', 'against pipy'])
  expect(rows.map(({ cells }) => cells.at(-1)?.text)).toEqual([
    '1',
    expect.stringMatching(/^2.00 ×/),
    expect.stringMatching(/^3.00 ×/),
  ])
})

it('has points only if a proxy has several arms', () => {
  const armOf = (/** @type {string} */ plane, /** @type {number} */ workers) =>
    createSummaryArm({ plane, load, conditions: { workers }, p99: [2, 2] })
  expect(hasAxisPoints([armOf('pipy', 2), armOf('linkerd', 1)])).toBe(false)
  expect(hasAxisPoints([armOf('pipy', 2), armOf('pipy', 1), armOf('linkerd', 1)])).toBe(true)
})
