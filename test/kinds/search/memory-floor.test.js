import { describe, expect, it } from 'vitest'
import { computeRecommendedBytes, findMemoryFloor, roundUpBytes } from '../../../src/kinds/search/memory-floor.js'
import { createSearchResult } from '../../../src/kinds/search/step.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, isJudgedRightly, renderStep, runSearch } from '../../fakes/fake-search.js'

/** @import { Outcome } from '../../../src/kinds/search/outcome.js' */

/** What limits are rounded to. */
const STEP = 256 * 1024
const template = createArm({ id: 'link-pipy', load: { kind: 'open', ratePerSecond: 200 } })
/**
 * @param {Parameters<typeof createFakeSidecar>[0]} truth
 * @param {{ precision?: number, unlimited?: Outcome[] }} [fields]
 */
const search = (truth, { precision = 0.05, unlimited } = {}) =>
  runSearch(
    findMemoryFloor({ template, spec: { kind: 'memory-floor', p99Ms: null, precision }, cpus: 2, unlimited }),
    createFakeSidecar(truth),
  )
// 10 MB × 1.1 are 41.96 steps; 5 MB are 19.07: 20 hold and 19 do not.
const truth = { bytes: 5e6, peakBytes: 1e7, unchargedBytes: 3e6 }

describe('findMemoryFloor', () => {
  it('begins without a limit, then a tenth above what that took, and goes on by halves', () => {
    const { result, trials } = search(truth)
    expect(trials.slice(0, 4).map(({ arm }) => [arm.id, arm.conditions.memoryLimitBytes])).toEqual([
      ['link-pipy@unlimited', null],
      ['link-pipy@unlimited', null],
      ['link-pipy@10752KiB', 42 * STEP],
      ['link-pipy@10752KiB', 42 * STEP],
    ])
    expect(result.steps.map(s => [s.value / STEP, s.held])).toEqual([
      [42, true],
      [21, true],
      [11, false],
      [16, false],
      [19, false],
      [20, true],
    ])
    expect(result).toMatchObject({
      ...{
        plane: 'pipy',
        variant: null,
        profile: null,
        link: 'link',
        looksFor: 'memory',
        unit: 'bytes',
        isFound: true,
      },
      ...{ held: 20 * STEP, failed: 19 * STEP, unchargedBytes: 3e6, why: 'killed for memory' },
    })
  })

  it('needs two trials to hold, and one to be killed', () => {
    const { result, trials } = search(truth)
    expect(result.steps.map(s => renderStep(s, trials))).toEqual(['++', '++', '!', '!', '!', '++'])
  })

  it('grows by half until it holds, if it took more than the peak', () => {
    const { result } = search({ bytes: 100 * STEP, peakBytes: 1e7 })
    expect(result.steps.map(s => [s.value / STEP, s.held])).toEqual([
      [42, false],
      [63, false],
      [95, false],
      [143, true],
      [119, true],
      [107, true],
      [101, true],
      [98, false],
    ])
    expect(result).toMatchObject({ held: 101 * STEP, failed: 98 * STEP, isFound: true })
  })

  it('tries nothing without a limit if that is known, and takes only what held', () => {
    const known = (/** @type {boolean} */ held, /** @type {number} */ peakBytesMost) => ({
      ...{
        trial: 'u',
        held,
        isClear: false,
        isDisturbed: false,
        why: '',
        coresMost: 0,
        peakBytesMost,
        ...{ rssBytesMost: 0, isNeedSeen: true },
        p99Ms: null,
        survived: held,
      },
      unchargedBytes: peakBytesMost / 10,
    })
    const { result, trials } = search(truth, { unlimited: [known(false, 9e7), known(true, 1e7), known(true, 9e6)] })
    expect(trials[0].arm.conditions.memoryLimitBytes).toBe(42 * STEP)
    expect(result).toMatchObject({ held: 20 * STEP, failed: 19 * STEP, unchargedBytes: 1e6 })
  })

  it('says what was the matter without a limit', () => {
    const { result } = search({ ...truth, spoiledEvery: 1 })
    expect(result).toMatchObject({ held: null, failed: null, isFound: false, steps: [] })
    expect(result.why).toBe('without a limit: a busy neighbour')
  })

  it('asks only whether it survives, at any throughput', () => {
    const { result } = search({ ...truth, disturb: ({ arm }) => (arm.conditions.memoryLimitBytes ? false : undefined) })
    expect(result).toMatchObject({ isFound: true })
  })

  it('ends if everything is spoiled, at first or later', () => {
    expect(search({ ...truth, spoiledEvery: 1 }).result).toMatchObject({
      ...{ isFound: false, why: 'without a limit: a busy neighbour' },
    })
    const { result } = search({ ...truth, disturb: ({ nth }) => (nth > 6 ? null : undefined) })
    expect(result).toMatchObject({ held: 21 * STEP, failed: null, isFound: false, why: 'disturbed' })
    expect(result.steps.at(-1)).toMatchObject({ value: 11 * STEP, held: null })
  })

  it('ends at the least limit if everything holds', () => {
    const { result } = search({ bytes: 0, peakBytes: 1e7 })
    expect(result.steps.map(s => s.value / STEP)).toEqual([42, 21, 11, 6, 3, 2, 1])
    expect(result).toMatchObject({ held: STEP, failed: null, isFound: true, why: 'nothing failed' })
  })

  // It grows by half for ever.
  it('ends if nothing survives, with far more than it took without a limit', () => {
    const { result } = search({ ...truth, bytes: 1e12, peakBytes: 1e7 })
    expect(result).toMatchObject({ held: null, isFound: false, why: 'killed for memory' })
    expect(result.failed).toBeGreaterThan(4e7)
  })

  // Linux before 5.19 has no memory.peak (cgroup v2): the peak is null, and an outcome says 0.
  it('tries no limit of 0 bytes if the peak was not read', () => {
    const { result, trials } = search({ bytes: 5e6, peakBytes: 0 })
    expect(trials.every(({ arm }) => arm.conditions.memoryLimitBytes !== 0)).toBe(true)
    expect(result.isFound).toBe(false)
  })

  it('finds any floor within 5 % or one step, by steps that are judged rightly', () => {
    const random = createRandom(21)
    for (let i = 0; i < 200; i++) {
      const bytes = 1e6 + random() * 2e8
      const peakBytes = bytes * (0.5 + 2 * random())
      const { result, trials } = search({ bytes, peakBytes, spoiledEvery: 2 + Math.floor(random() * 9) })
      const [held, failed] = [Number(result.held), result.failed ?? 0]
      expect(result.isFound).toBe(true)
      expect(held).toBeGreaterThanOrEqual(bytes)
      expect(failed).toBeLessThan(bytes)
      expect(held <= 1.05 * failed || held - failed <= STEP).toBe(true)
      expect(held % STEP).toBe(0)
      expect(result.steps.every(s => isJudgedRightly(s, trials))).toBe(true)
      expect(trials.length).toBeLessThan(80)
    }
  })
})

describe('recommendedBytes', () => {
  it('is the floor and what was not charged, in whole steps', () => {
    const fields = {
      template,
      looksFor: /** @type {const} */ ('memory'),
      failed: null,
      steps: [],
      why: '',
      isFound: true,
    }
    const result = createSearchResult({ ...fields, held: 20 * STEP })
    expect(computeRecommendedBytes(result)).toBe(20 * STEP)
    // 8242880 bytes are 31.4 steps.
    expect(computeRecommendedBytes({ ...result, unchargedBytes: 3e6 })).toBe(32 * STEP)
    // What was killed at 25, be it by chance, is not given; nor what failed above all that held.
    const step = (/** @type {number} */ n, /** @type {boolean} */ held) => ({
      value: n * STEP,
      held,
      why: '',
      trials: [],
    })
    const steps = [step(25, false), step(40, true), step(28, true), step(20, true)]
    expect(computeRecommendedBytes({ ...result, steps })).toBe(28 * STEP)
    expect(computeRecommendedBytes({ ...result, steps: [step(50, false), step(20, true)] })).toBe(20 * STEP)
  })
})

describe('roundUpBytes', () => {
  it.each([
    [0, 0],
    [1, STEP],
    [STEP, STEP],
    [STEP + 1, 2 * STEP],
  ])('makes of %i bytes %i', (bytes, rounded) => expect(roundUpBytes(bytes)).toBe(rounded))
})
