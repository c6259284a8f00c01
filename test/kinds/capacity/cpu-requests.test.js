import { describe, expect, it } from 'vitest'
import { renderP99Doublings } from '../../../src/kinds/capacity/cpu-requests.js'
import { listArms } from '../../../src/model/results.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @param {[number, number | null][]} points requests in cores, each with its p99 @param {number} [neighbourCores] */
const render = (points, neighbourCores = 2) => renderP99Doublings(summarise(points, neighbourCores))

/** @param {[number, number | null][]} points @param {number} [neighbourCores] */
function summarise(points, neighbourCores = 2) {
  const summary = createSummary(
    points.map(([cpuRequestCores, p99Ms]) => ({
      plane: 'pipy',
      load: { kind: 'open', ratePerSecond: 100 },
      conditions: { cpuRequestCores, ...(neighbourCores && { neighbourCores }) },
      p99: [p99Ms, p99Ms],
    })),
  )
  return listArms(summary)
}

describe('the answer of CPU requests', () => {
  it('is between the requests above and below which the p99 is twice that at the largest of all', () =>
    expect(
      render([
        [0.01, 90],
        [1, 5],
        [0.1, 10],
        [0.3, 9.9],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 doubles between a CPU request of 300m and 100m: 9.9 and 10.0 ms, against 5.0 ms at 1000m.',
    ]))

  it('is wider if noise turned the order of two requests, and begins at the largest if the next has doubled', () => {
    const p99s = [90, 9, 11, 9, 5]
    expect(render([0.05, 0.1, 0.2, 0.3, 1].map((cores, i) => [cores, p99s[i]]))).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 doubles between a CPU request of 300m and 50m: 9.0 and 90.0 ms, against 5.0 ms at 1000m.',
    ])
    expect(
      render([
        [0.1, 12],
        [1, 5],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 doubles between a CPU request of 1000m and 100m: 5.0 and 12.0 ms.',
    ])
  })

  it('says where it doubled, although it did not at the smallest', () => {
    expect(
      render([
        [0.05, 9],
        [0.1, 14],
        [0.2, 12],
        [1, 5],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 doubles at a CPU request of 200m and 100m, and not at 50m: 9.0 ms, against 5.0 ms at 1000m.',
    ])
  })

  it('says that it does not double, and why there is no p99 at a request', () => {
    const cold = '64 users had not done three requests when the window opened'
    const arms = summarise([
      [0.01, null],
      [0.02, null],
      [0.1, 9],
      [1, 5],
    ])
    for (const arm of arms.slice(0, 2))
      arm.spoiled = [
        { gate: 'spare-cpu', trials: 2, reason: '15 % of 2 CPUs were idle' },
        { gate: 'answers', trials: 2, reason: cold },
        { gate: 'failed', trials: 1, reason: 'a sidecar did not start' },
      ]
    const start =
      'pipy: beside a neighbour of 2 CPUs the p99 does not double down to a CPU request of 100m: 9.0 ms, against 5.0 ms at 1000m; no p99 at'
    expect(renderP99Doublings(arms)).toEqual([`${start} 20m, 10m: ${cold}.`])
    arms[0].spoiled = [{ gate: 'failed', trials: 2, reason: 'the sidecar of ratings did not start\nits log' }]
    expect(renderP99Doublings(arms)).toEqual([
      `${start} 20m: ${cold}; no p99 at 10m: the sidecar of ratings did not start.`,
    ])
  })

  it('says that one request alone has a p99, if the windows of others have too few requests', () =>
    expect(
      render([
        [0.01, null],
        [1, 5],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 was measured at one CPU request alone: 5.0 ms at 1000m; no p99 at 10m: 100 requests in a window, and a p99 takes 1050 (--rate 1050, or --profile full).',
    ]))

  it('says why there is no p99 at all', () => {
    const arms = summarise([
      [0.01, null],
      [1, null],
    ])
    for (const arm of arms)
      arm.spoiled = [{ gate: 'neighbour', trials: 2, reason: 'something else used 0.50 cores of this machine' }]
    expect(renderP99Doublings(arms)).toEqual([
      'pipy: beside a neighbour of 2 CPUs there is no p99 at 1000m, 10m: something else used 0.50 cores of this machine.',
    ])
  })

  it('is left out for a single request, or without a neighbour', () => {
    expect(render([[0.1, 9]])).toEqual([])
    const [few, many] = [0.1, 1].map(cores => /** @type {[number, number]} */ ([cores, 9 / cores]))
    expect(render([few, many])).toHaveLength(1)
    expect(render([few, many], 0)).toEqual([])
  })
})
