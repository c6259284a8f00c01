import { describe, expect, it } from 'vitest'
import { listDistinctLoads } from '../../../src/kinds/search/distinct-loads.js'
import { startSearch } from '../../../src/kinds/search/searches.js'
import { createRequestKind } from '../../../src/model/requests.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../fakes/fake-search.js'

/** @import { SizeResult } from '../../../src/model/types.ts' */

const service = (/** @type {string} */ name, /** @type {number} */ ratePerSecond, p99Ms = 50) => ({
  ...{ name, ratePerSecond, payloadBytes: 1024, p99Ms },
})
const template = createArm({
  id: 'link-pipy',
  load: { kind: 'open', ratePerSecond: 1000, windowSeconds: 3.5, payloadBytes: 1024 },
})
/** @param {ReturnType<typeof service>[]} services @param {Parameters<typeof createFakeSidecar>[0]} truth */
const search = (services, truth) => {
  const spec = { kind: /** @type {const} */ ('services'), precision: 0.05, services, trialsToConfirm: 3 }
  const run = runSearch(startSearch({ template, spec, cpus: 2 }), createFakeSidecar(truth))
  return { ...run, sizes: /** @type {SizeResult[]} */ (run.result) }
}
// 20 millicores and 0.5 a request/s.
const truth = { cores: 0.02, coresPerRequestPerSecond: 0.0005, bytes: 1e7, peakBytes: 2e7 }

describe('the search for the limits of services', () => {
  it('measures the lowest and the highest rate, and confirms limits of each load by three trials', () => {
    const { sizes, trials } = search(
      [service('a', 1000), service('b', 100), service('c', 400), service('d', 400)],
      truth,
    )
    // By hand: 0.07, 0.22 and 0.52 cores are the places 9, 18 and 24 of the grid; two above them.
    expect(trials.map(({ arm }) => [arm.load.ratePerSecond, arm.cpuLimitCores])).toEqual([
      ...[
        [100, 2],
        [1000, 2],
      ],
      ...[100, 100, 100].map(rate => [rate, 0.093]),
      ...[400, 400, 400].map(rate => [rate, 0.3273]),
      ...[1000, 1000, 1000].map(rate => [rate, 0.7571]),
    ])
    expect(sizes.map(({ services, answer }) => [services, answer?.state, answer?.met])).toEqual([
      [['b'], 'confirmed', 3],
      [['c', 'd'], 'confirmed', 3],
      [['a'], 'confirmed', 3],
    ])
    expect(sizes[0].line).toMatchObject({ baseMillicores: expect.closeTo(20, 6) })
  })

  it('counts a service under its payload, also where options define the other fields of a request', () => {
    const services = [service('a', 100), { ...service('b', 200), payloadBytes: 8192 }]
    const names = (/** @type {any} */ load) =>
      listDistinctLoads({ services }, createArm({ load })).flatMap(distinct => distinct.names)
    const request = (/** @type {any} */ options, /** @type {number} */ payloadBytes) => ({
      requests: [createRequestKind(options, payloadBytes)],
    })
    expect(names({ payloadBytes: 8192 })).toEqual(['b'])
    expect(names(request({ serviceTime: '30ms' }, 1024))).toEqual(['a'])
    expect(names(request({ method: 'GET' }, 8192))).toEqual(['b'])
  })

  it('confirms no limits at which one trial missed the p99, even if the next ones meet it', () => {
    let nth = 0
    const run = search([service('a', 1000)], {
      ...truth,
      disturb: ({ arm }) => (arm.conditions.memoryLimitBytes !== null && ++nth === 1 ? false : undefined),
    })
    const [{ answer }] = run.sizes
    expect(answer).toMatchObject({ state: 'confirmed', met: 3, missed: 0 })
    expect(run.trials[1].arm.cpuLimitCores).toBeLessThan(Number(answer?.limits?.cores))
  })

  it('says why a rate has no limits, and gives those of the others', () => {
    const { sizes } = search([service('a', 100), service('b', 5000)], truth)
    expect(sizes.map(({ answer }) => answer?.state)).toEqual(['confirmed', 'none'])
    expect(sizes[1].answer?.why).toBe('with 2 CPUs: bound by the sidecar')
  })
})
