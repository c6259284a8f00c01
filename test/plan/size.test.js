import { describe, expect, it } from 'vitest'
import { fitOnNode, parseNode } from '../../src/analysis/node-fit.js'
import { createPlan } from '../../src/plan/plan.js'
import { createSizeExperiment } from '../../src/plan/size-experiment.js'
import { describeSearch } from '../../src/search/step.js'
import { createArm, hasSidecars } from '../fakes/fake-records.js'

/** @import { SizeResult } from '../../src/model/types.ts' */

const MIB = 2 ** 20
const asked = { ratePerSecond: 300, p99Ms: 20, link: 'pair', users: null, payloadBytes: null, isExtrapolated: false }
/** @param {'cpu' | 'memory'} looksFor @param {number | null} held */
const found = (looksFor, held) =>
  describeSearch({ template: createArm({}), looksFor, held, failed: null, steps: [], why: '', isFound: true })
/** @param {number | null} cores @param {number | null} bytes @returns {SizeResult} */
const sizeOf = (cores, bytes) => ({
  ...{ plane: 'pipy', variant: null, profile: null, checks: [], isChecked: true, extrapolated: null },
  cpu: found('cpu', cores),
  memory: bytes === null ? null : { ...found('memory', bytes), unchargedBytes: 3e6 },
})

describe('createSizeExperiment', () => {
  it('asks the question as an experiment of this machine, with a search', () => {
    expect(createSizeExperiment(asked)).toMatchObject({
      name: 'size',
      question: 'Which CPU and memory limit holds 300 requests/s with a p99 of at most 20 ms?',
      axes: { plane: ['pipy', 'envoy'], link: ['pair'], ratePerSecond: [300], capCores: [1] },
      ...{ trafficPolicy: 'open', targets: ['local'] },
      search: { kind: 'size', p99Ms: 20, isExtrapolated: false },
    })
  })

  it('leaves users and payload to their defaults where they were not asked for', () => {
    const { axes } = createSizeExperiment(asked)
    expect([axes.users, axes.payloadBytes]).toEqual([undefined, undefined])
    const own = createSizeExperiment({ ...asked, users: 10, payloadBytes: 100 })
    expect(own.axes).toMatchObject({ users: [10], payloadBytes: [100] })
  })

  it.each([1, 2, 16])('can be planned on %i CPUs, with windows that hold a p99', cpus => {
    const overrides = { planes: null, caps: null, axes: {}, rounds: null, profile: 'quick', seed: 1 }
    const plan = createPlan({
      ...{ experiment: createSizeExperiment(asked), cpus, missing: [], hasSidecars },
      overrides: { ...overrides, app: 'pipy', isPinned: true },
    })
    expect(plan.arms.map(a => [a.id, a.load.windowSeconds])).toEqual([
      ['pair-pipy-1-300rps', 3.5],
      ['pair-envoy-1-300rps', 3.5],
    ])
    expect(plan.trials).toEqual([])
  })

  it('refuses what is no limit', () => {
    expect(() => createSizeExperiment({ ...asked, p99Ms: 0 })).toThrow('search.p99Ms')
  })
})

describe('parseNode', () => {
  it.each([
    ['2c4g', 2, 4096 * MIB],
    ['0.5c0.25g', 0.5, 256 * MIB],
  ])('reads %s', (text, cores, bytes) => expect(parseNode(text)).toEqual({ cores, bytes }))

  it.each(['', '2c', '4g', '2c4', '0c4g', '2c0g', '2C4G', '-2c4g', '2c4gb', ' 2c4g'])('refuses "%s"', text =>
    expect(() => parseNode(text)).toThrow(`--node ${text}: write cores and GiB, such as 2c4g`))
})

describe('fitOnNode', () => {
  // 5 MiB and 3000000 bytes are 8 MiB, in whole limits.
  it('counts by what runs out first', () => {
    expect(fitOnNode(sizeOf(0.3273, 5 * MIB), parseNode('2c4g'))).toEqual({
      ...{ count: 6, limit: 'CPU', cpuShare: 0.16365, memoryShare: 8 / 4096 },
    })
    expect(fitOnNode(sizeOf(0.3273, 5 * MIB), parseNode('16c0.0625g'))).toMatchObject({
      ...{ count: 8, limit: 'memory', memoryShare: 8 / 64 },
    })
  })

  it('counts none where one does not fit', () => {
    expect(fitOnNode(sizeOf(3, 5 * MIB), parseNode('2c4g'))).toMatchObject({ count: 0, cpuShare: 1.5 })
  })

  it('says nothing where no answer was found', () => {
    expect(fitOnNode(sizeOf(null, 5 * MIB), parseNode('2c4g'))).toBeNull()
    expect(fitOnNode(sizeOf(1, null), parseNode('2c4g'))).toBeNull()
    const { memory, ...size } = sizeOf(1, 5 * MIB)
    expect(fitOnNode({ ...size, memory: memory && { ...memory, isFound: false } }, parseNode('2c4g'))).toBeNull()
  })
})
