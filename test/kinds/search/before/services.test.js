import { describe, expect, it } from 'vitest'
import { findServiceLimits } from '../../../../src/kinds/search/before/services.js'
import { findP99LimitMs } from '../../../../src/kinds/search/services.js'
import { createArm } from '../../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../../fakes/fake-search.js'

const service = (/** @type {string} */ name, /** @type {number} */ ratePerSecond, payloadBytes = 1024, p99Ms = 50) => ({
  ...{ name, ratePerSecond, payloadBytes, p99Ms },
})
const template = createArm({
  id: 'link-pipy',
  load: { kind: 'open', ratePerSecond: 1000, windowSeconds: 3.5, payloadBytes: 1024 },
})
/** @param {ReturnType<typeof service>[]} services */
const specOf = services => ({ kind: /** @type {const} */ ('services'), precision: 0.05, services })
/** @param {ReturnType<typeof service>[]} services @param {Parameters<typeof createFakeSidecar>[0]} truth */
const search = (services, truth) =>
  runSearch(findServiceLimits({ template, spec: specOf(services), cpus: 2 }), createFakeSidecar(truth))
/** @param {ReturnType<typeof search>} run */
const listTrials = ({ trials }) => trials.map(({ arm }) => [arm.load.ratePerSecond, arm.cpuLimitCores])

// 20 millicores and 0.5 a request/s.
const truth = { cores: 0.02, coresPerRequestPerSecond: 0.0005, bytes: 1e7, peakBytes: 2e7 }

describe('findServiceLimits', () => {
  it('measures the lowest and the highest rate, and checks every answer twice', () => {
    const run = search([service('a', 1000), service('b', 100), service('c', 400), service('d', 400)], truth)
    // By hand: 0.07, 0.22 and 0.52 cores are the places 9, 18 and 24 of the grid; two above them.
    expect(listTrials(run)).toEqual([
      [100, 2],
      [1000, 2],
      ...[100, 100].map(rate => [rate, 0.093]),
      ...[400, 400].map(rate => [rate, 0.3273]),
      ...[1000, 1000].map(rate => [rate, 0.7571]),
    ])
    expect(run.result.map(size => [size.services, size.cpu.held, size.isChecked])).toEqual([
      [['b'], 0.093, true],
      [['c', 'd'], 0.3273, true],
      [['a'], 0.7571, true],
    ])
    expect(run.result[0].line?.baseMillicores).toBeCloseTo(20, 6)
    expect(run.result[0].line?.slopeMillicoresPerRequestPerSecond).toBeCloseTo(0.5, 9)
    // Half as much again as the most that was taken.
    expect(run.result.every(size => Number(size.memory?.held) >= 3e7 && Number(size.memory?.held) < 3.1e7)).toBe(true)
  })

  it('counts the pages that were not charged once, though they are resident', () => {
    const truthful = createFakeSidecar({ ...truth, peakBytes: 4e6, bytes: 0, unchargedBytes: 11e6 })
    const spec = specOf([service('a', 1000)])
    const { result } = runSearch(findServiceLimits({ template, spec, cpus: 2 }), arm => ({
      ...truthful(arm),
      rssBytesMost: 14e6,
    }))
    // 1.5 × 15000000 bytes, in whole steps.
    expect(result[0].memory?.held).toBe(86 * 256 * 1024)
  })

  it('needs no line for one rate', () => {
    const run = search([service('a', 1000)], truth)
    expect(listTrials(run).map(([, cores]) => cores)).toEqual([2, 0.7571, 0.7571])
    expect(run.result[0].line).toBeNull()
  })

  it('gives more if an answer does not hold: of the CPU, or of the memory', () => {
    const slow = search([service('a', 1000)], {
      ...truth,
      disturb: ({ arm }) => (Number(arm.cpuLimitCores) < 0.9 ? false : undefined),
    })
    expect(slow.result[0]).toMatchObject({ cpu: { held: 1.0013, failed: 0.7571 }, isChecked: true })
    const large = search([service('a', 1000)], { ...truth, bytes: 4e7 })
    expect(large.result[0].cpu.held).toBe(0.7571)
    expect(Number(large.result[0].memory?.held)).toBeGreaterThan(4e7)
  })

  it('says for which service no limit holds, and sizes the others', () => {
    const run = search([service('a', 1000), service('b', 100)], { ...truth, capacityPerSecond: 500 })
    const [small, large] = run.result
    expect(small).toMatchObject({ services: ['b'], isChecked: true, line: null })
    expect(large).toMatchObject({
      services: ['a'],
      isChecked: false,
      memory: null,
      cpu: { held: null, isFound: false },
    })
    expect(large.cpu.why).toBe('at 2 cores: p99 over the limit')
  })

  it('gives up if no limit is enough', () => {
    const run = search([service('a', 1000)], {
      ...truth,
      disturb: ({ arm }) => (arm.cpuLimitCores === 2 ? undefined : false),
    })
    expect(run.trials.length).toBeLessThan(20)
  })
})

describe('p99LimitOf', () => {
  const at = (/** @type {number} */ ratePerSecond, payloadBytes = 1024) =>
    createArm({ load: { kind: 'open', ratePerSecond, windowSeconds: 3.5, payloadBytes } })

  it('is the strictest of the services with the same load', () => {
    const spec = specOf([service('a', 100, 1024, 50), service('b', 100, 1024, 20), service('c', 100, 9, 5)])
    expect([at(100), at(100, 9), at(7)].map(arm => findP99LimitMs(spec, arm))).toEqual([20, 5, null])
  })
})
