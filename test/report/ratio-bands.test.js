import { describe, expect, it } from 'vitest'
import { renderRatioBands } from '../../src/report/ratio-bands.js'
import { createArm } from '../fakes/fake-records.js'
import { createResult, createSummary } from '../fakes/fake-summary.js'

/** @import { Summary } from '../../src/model/types.ts' */

const interleaved = {
  kind: /** @type {const} */ ('interleaved'),
  isInterleaved: /** @type {const} */ (true),
  users: 32,
}
/**
 * @param {[number, number, number]} interval ratio, low, high @param {Parameters<typeof createArm>[0]['load']} load
 * @param {number | null} [cpuLimitCores]
 */
const condition = ([ratio, low, high], load, cpuLimitCores = null) => ({
  ...{ ratio, low, high, cpuLimitCores, load: createArm({ load }).load },
})
/** @param {ReturnType<typeof condition>[]} measured @param {boolean | null} isContradicted */
function render(measured, isContradicted) {
  const { link, conditions } = createArm({})
  const ratios = measured.map(({ ratio }) => ratio)
  const band = { a: 'pipy', b: 'envoy', link, conditions, low: Math.min(...ratios), high: Math.max(...ratios) }
  return renderRatioBands(createSummary([], { carries: [{ ...band, measured, isContradicted }] }))
}

describe('renderRatioBands', () => {
  it('names the condition of one ratio, and the command that tries others', () => {
    const [line, ...others] = render([condition([0.5, 0.49, 0.51], interleaved)], null)
    expect(others).toEqual([])
    expect(line).toMatch(/at 32 users, no CPU limit, unpinned, driven by k6, .* conditions/)
  })

  it('prints the band over the conditions of a run', () => {
    const ratios = [0.5, 0.43, 0.58]
    const loads = [
      interleaved,
      { ...interleaved, placement: /** @type {const} */ ('apart') },
      { ...interleaved, users: 200 },
    ]
    const measured = ratios.map((ratio, i) => condition([ratio, ratio - 0.01, ratio + 0.01], loads[i]))
    expect(render(measured, null)).toEqual([
      'pipy against envoy: 42 to 57 % less CPU per request over the 3 conditions of this run (32 users, unpinned; 32 users, the generator on CPUs of its own; 200 users, unpinned).',
    ])
  })

  it('prints a band on both sides of 1, and one above it', () => {
    const bandOf = (/** @type {number[]} */ ratios) =>
      render(
        ratios.map((r, i) => condition([r, r, r], { ...interleaved, users: i + 1 })),
        null,
      )[0]
    expect(bandOf([0.9, 1.2])).toContain('from 10 % less to 20 % more CPU per request')
    expect(bandOf([1.1, 1.2])).toContain('10 to 20 % more CPU per request')
  })

  it('says where the two measurements of a run exclude each other', () => {
    const measured = [
      condition([0.426, 0.421, 0.432], interleaved),
      condition([0.56, 0.5, 0.65], { kind: 'closed', users: 200 }, 1),
    ]
    expect(render(measured, true)).toEqual([
      'CPU per request of pipy over envoy is 0.43 [0.42, 0.43] interleaved (32 users, no CPU limit, unpinned) and 0.56 [0.50, 0.65] alone (200 users, a limit of 1 CPU): the intervals exclude each other, so the gap depends on load and limit. Quote each with its condition.',
    ])
    expect(render(measured, false)).toHaveLength(1)
    expect(render(measured, false)[0]).not.toContain('exclude')
  })

  it('says of a run whose arms were all pinned that they were', () => {
    const { link, conditions } = createArm({})
    const measured = [condition([0.52, 0.51, 0.53], interleaved)]
    const band = { a: 'pipy', b: 'envoy', link, conditions, low: 0.52, high: 0.52, measured, isContradicted: null }
    const result = createResult({ kind: 'cost', cpus: { generator: 1, arms: 1 }, connections: [] })
    const summary = { ...createSummary([], { carries: [band] }), results: [result] }
    expect(renderRatioBands(summary)[0]).toContain('32 users, no CPU limit, the generator on CPUs of its own')
  })

  it('has nothing to say of a run by an older kit', () => {
    expect(renderRatioBands(createSummary([]))).toEqual([])
  })
})
