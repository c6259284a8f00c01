import { describe, expect, it } from 'vitest'
import { renderCpuRequests } from '../../../src/kinds/capacity/cpu-requests.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @param {[number, number | null][]} points requests in cores, each with its p99 @param {number} [neighbourCores] */
function render(points, neighbourCores = 2) {
  const { arms } = createSummary(
    points.map(([cpuRequestCores, p99Ms]) => ({
      plane: 'pipy',
      load: { kind: 'open', ratePerSecond: 100 },
      conditions: { cpuRequestCores, ...(neighbourCores && { neighbourCores }) },
      p99: [p99Ms, p99Ms],
    })),
  )
  return renderCpuRequests(arms)
}

describe('the answer of CPU requests', () => {
  it('is the largest request at which the p99 is twice that at the largest of all', () =>
    expect(
      render([
        [0.01, 90],
        [1, 5],
        [0.1, 10],
        [0.3, 9.9],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 doubles at a CPU request of 100m: 10.0 ms, and 5.0 at 1000m.',
    ]))

  it('says that it does not double, and where no p99 could be judged', () =>
    expect(
      render([
        [0.01, null],
        [0.1, 9],
        [1, 5],
      ]),
    ).toEqual([
      'pipy: beside a neighbour of 2 CPUs the p99 does not double down to a CPU request of 100m: 9.0 ms, and 5.0 at 1000m; no p99 at 10m.',
    ]))

  it('is none of a single request, or without a neighbour', () => {
    expect(render([[0.1, 9]])).toEqual([])
    const [few, many] = [0.1, 1].map(cores => /** @type {[number, number]} */ ([cores, 9 / cores]))
    expect(render([few, many])).toHaveLength(1)
    expect(render([few, many], 0)).toEqual([])
  })
})
