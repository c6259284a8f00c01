import { describe, expect, it } from 'vitest'
import { findKnee } from '../../../src/kinds/search/knee.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, isJudgedRightly, renderStep, runSearch } from '../../fakes/fake-search.js'

const template = createArm({ id: 'link-pipy', load: { windowSeconds: 3.5 } })
/**
 * @param {Parameters<typeof createFakeSidecar>[0]} truth
 * @param {{ precision?: number, startPerSecond?: number }} [fields]
 */
const search = (truth, { precision = 0.05, startPerSecond = 400 } = {}) =>
  runSearch(
    findKnee({ template, spec: { kind: 'knee', p99Ms: 50, precision, startPerSecond }, cpus: 2 }),
    createFakeSidecar(truth),
  )

describe('findKnee', () => {
  it('doubles the rate while it holds, then goes by the geometric mean down to 5 %', () => {
    const { result, trials } = search({ capacityPerSecond: 1000 })
    // √(800 × 1600) = 1131, √(800 × 1131) = 951, √(951 × 1131) = 1037, √(951 × 1037) = 993; 1037 / 993 = 1.044.
    expect(result.steps.map(s => [s.value, s.held])).toEqual([
      [400, true],
      [800, true],
      [1600, false],
      [1131, false],
      [951, true],
      [1037, false],
      [993, true],
    ])
    expect(result).toMatchObject({
      ...{
        plane: 'pipy',
        variant: null,
        profile: null,
        link: 'link',
        looksFor: 'knee',
        unit: 'requests/s',
        unchargedBytes: null,
      },
      ...{ held: 993, failed: 1037, isFound: true, why: 'p99 over the limit' },
    })
    expect(result.steps.map(s => renderStep(s, trials))).toEqual(['++', '++', '--', '--', '++', '--', '++'])
  })

  it('halves the rate until it holds', () => {
    const { result } = search({ capacityPerSecond: 110 }, { precision: 0.5 })
    expect(result.steps.map(s => s.value)).toEqual([400, 200, 100, 141])
    expect(result).toMatchObject({ held: 100, failed: 141, isFound: true })
  })

  it('makes an open loop of the rate, named by it, with a window of at least 1050 requests', () => {
    const { trials } = search({ capacityPerSecond: 110 })
    const [first] = trials.filter(({ arm }) => arm.id === 'link-pipy@100rps')
    expect(first.arm.load).toMatchObject({ kind: 'open', ratePerSecond: 100, windowSeconds: 10.5 })
    expect(trials[0].arm.load.windowSeconds).toBe(3.5)
  })

  it('fails a rate at once if it fails clearly', () => {
    const { result, trials } = search({ coresPerRequestPerSecond: 0.25 / 1000 })
    expect(result).toMatchObject({ held: 993, failed: 1037, isFound: true })
    expect(result.steps.map(s => renderStep(s, trials))).toEqual(['++', '++', '!', '!', '++', '--', '++'])
  })

  it('tries again what was spoiled, and comes to the same', () => {
    const { result, trials } = search({ capacityPerSecond: 1000, spoiledEvery: 3 })
    expect(result).toMatchObject({ held: 993, failed: 1037, isFound: true })
    expect(renderStep(result.steps[1], trials)).toBe('?++')
    expect(result.steps.every(s => isJudgedRightly(s, trials))).toBe(true)
  })

  it('lets one trial of three go wrong', () => {
    const wrong = (/** @type {{ nth: number }} */ { nth }) => (nth === 2 ? false : nth === 6 ? true : undefined)
    const { result, trials } = search({ capacityPerSecond: 1000, disturb: wrong })
    expect(result.steps.slice(0, 3).map(s => renderStep(s, trials))).toEqual(['+-+', '++', '+--'])
    expect(result).toMatchObject({ held: 993, failed: 1037 })
  })

  it('says, of a rate that six spoiled trials left open, nothing', () => {
    const { result, trials } = search({ capacityPerSecond: 1000, disturb: ({ nth }) => (nth > 4 ? null : undefined) })
    expect(result).toMatchObject({ held: 800, failed: null, isFound: false, why: 'disturbed' })
    expect(result.steps.map(s => [s.value, s.held])).toEqual([
      [400, true],
      [800, true],
      [1600, null],
    ])
    expect(trials).toHaveLength(10)
  })

  it('ends if everything is spoiled', () => {
    const { result, trials } = search({ spoiledEvery: 1 })
    expect(result).toMatchObject({ held: null, failed: null, isFound: false, why: 'a busy neighbour' })
    expect(trials).toHaveLength(6)
  })

  it('ends if nothing holds, at a twentieth of the first rate', () => {
    const { result } = search({ capacityPerSecond: 0 })
    expect(result.steps.map(s => s.value)).toEqual([400, 200, 100, 50, 25])
    expect(result).toMatchObject({ held: null, failed: 25, isFound: false, why: 'p99 over the limit' })
  })

  it('ends if everything holds, at a million', () => {
    const { result } = search({})
    expect(result).toMatchObject({ held: 819200, failed: null, isFound: false, why: 'nothing failed' })
  })

  it('ends between two whole rates', () => {
    const { result } = search({ capacityPerSecond: 5 }, { startPerSecond: 4 })
    expect(result).toMatchObject({ held: 5, failed: 6, isFound: true })
  })

  it('finds any capacity within 5 %, by steps that are judged rightly, in few trials', () => {
    const random = createRandom(11)
    for (let i = 0; i < 200; i++) {
      const capacityPerSecond = Math.exp(Math.log(30) + random() * Math.log(800_000 / 30))
      const { result, trials } = search({ capacityPerSecond, spoiledEvery: 2 + Math.floor(random() * 9) })
      const { held, failed, steps } = result
      expect(result.isFound).toBe(true)
      expect(held).toBeLessThanOrEqual(capacityPerSecond)
      expect(failed).toBeGreaterThan(capacityPerSecond)
      expect(Number(failed) <= 1.05 * Number(held) || Number(failed) === Number(held) + 1).toBe(true)
      expect(steps.every(s => isJudgedRightly(s, trials))).toBe(true)
      expect(trials.length).toBeLessThan(80)
    }
  })

  it('always ends, with a bracket that its steps show', () => {
    const random = createRandom(12)
    for (let i = 0; i < 200; i++) {
      const { result, trials } = search({ disturb: () => [true, false, false, null][Math.floor(4 * random())] })
      expect(result.steps.every(s => isJudgedRightly(s, trials))).toBe(true)
      expect(result.steps.findLast(s => s.held === true)?.value ?? null).toBe(result.held)
      expect(result.steps.findLast(s => s.held === false)?.value ?? null).toBe(result.failed)
    }
  })
})
