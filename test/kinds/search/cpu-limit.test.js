import { describe, expect, it } from 'vitest'
import { computeCpuLimitAt, computeCpuLimitPlace, findCpuLimit } from '../../../src/kinds/search/cpu-limit.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, isJudgedRightly, renderStep, runSearch } from '../../fakes/fake-search.js'

/** @import { TriedStep } from '../../../src/kinds/search/step.js' */

const template = createArm({ id: 'link-pipy', load: { kind: 'open', ratePerSecond: 200 } })
/**
 * @param {Parameters<typeof createFakeSidecar>[0]} truth
 * @param {{ cpus?: number, known?: Map<number, TriedStep> }} [fields]
 */
const search = (truth, { cpus = 2, known = new Map() } = {}) =>
  runSearch(findCpuLimit({ template, cpus, known }), createFakeSidecar(truth))
/** @param {{ trials: { arm: { cpuLimitCores: number | null } }[] }} run */
const capsOf = ({ trials }) => [...new Set(trials.map(({ arm }) => arm.cpuLimitCores))]
/** @param {[number, boolean][]} places @returns {Map<number, TriedStep>} */
const knowing = places =>
  new Map(places.map(([i, held]) => [i, { value: computeCpuLimitAt(i), held, why: 'known', trials: [], outcomes: [] }]))

describe('the grid of CPU limits', () => {
  it('has each 15 % above the one before, from 0.02 cores', () => {
    expect([0, 1, 2, 3].map(computeCpuLimitAt)).toEqual([0.02, 0.023, 0.0264, 0.0304])
    expect([19, 20, 21, 32].map(computeCpuLimitAt)).toEqual([0.2846, 0.3273, 0.3764, 1.7513])
  })

  it('has the place of each limit, and of one between at the next', () => {
    for (let i = 0; i < 60; i++) expect(computeCpuLimitPlace(computeCpuLimitAt(i))).toBe(i)
    expect([0, 0.001, 0.02, 0.0201, 0.0231, 0.3].map(computeCpuLimitPlace)).toEqual([0, 0, 0, 1, 2, 20])
  })
})

describe('findCpuLimit', () => {
  it('begins with all CPUs, then a step above what that used, and takes growing steps', () => {
    const run = search({ cores: 0.3 })
    // Of 2 CPUs the most is all of them, place 33. 0.3 is just below place 20: 21 holds, two below fails, 20 is between.
    expect(capsOf(run)).toEqual([2, 0.3764, 0.2846, 0.3273])
    expect(run.result).toMatchObject({
      ...{
        plane: 'pipy',
        variant: null,
        profile: null,
        link: 'link',
        looksFor: 'cpu',
        unit: 'cores',
        unchargedBytes: null,
      },
      ...{ held: 0.3273, failed: 0.2846, isFound: true, why: 'p99 over the limit' },
    })
    expect(run.trials[0].arm.id).toBe('link-pipy@2cores')
  })

  it('lists its steps from the least limit up, each held or failed twice, or clearly once', () => {
    const { result, trials } = search({ cores: 0.3 })
    expect(result.steps.map(s => [s.value, s.held, renderStep(s, trials)])).toEqual([
      [0.2846, false, '--'],
      [0.3273, true, '++'],
      [0.3764, true, '++'],
      [2, true, '++'],
    ])
    expect(Object.keys(result.steps[0])).toEqual(['value', 'held', 'why', 'trials'])
  })

  it('goes up in growing steps if it needs far more than it uses', () => {
    // It uses 0.1 cores and needs 0.8 (place 27: 0.8707): guess 13, then 1, 2, 4, … above what failed, or the middle.
    const isEnough = (/** @type {number | null} */ cap) => Number(cap) >= 0.8
    const run = search({ cores: 0.1, disturb: ({ arm }) => isEnough(arm.cpuLimitCores) })
    expect(run.result).toMatchObject({ held: computeCpuLimitAt(27), failed: computeCpuLimitAt(26), isFound: true })
    expect(run.trials.length).toBeLessThanOrEqual(16)
    expect(run.result.steps.every(s => isJudgedRightly(s, run.trials))).toBe(true)
  })

  it('says that nothing holds here', () => {
    const { result, trials } = search({ cores: 3 })
    expect(result).toMatchObject({
      ...{ held: null, failed: 2, isFound: false, why: 'at 2 cores: bound by the sidecar' },
    })
    expect(trials).toHaveLength(1)
  })

  it('ends at the least limit if everything holds', () => {
    const { result } = search({ cores: 0.001 })
    expect(result).toMatchObject({ held: 0.02, failed: null, isFound: true, why: 'nothing failed' })
  })

  it('ends if everything is spoiled, at first or later', () => {
    expect(search({ spoiledEvery: 1 }).result).toMatchObject({
      ...{ held: null, failed: null, isFound: false, why: 'at 2 cores: a busy neighbour' },
    })
    const { result, trials } = search({ cores: 0.3, disturb: ({ nth }) => (nth > 4 ? null : undefined) })
    expect(result).toMatchObject({ held: 0.3764, failed: null, isFound: false, why: 'disturbed' })
    expect(trials).toHaveLength(10)
  })

  it('tries nothing twice that is known, and fills in what it finds', () => {
    const known = knowing([
      [32, true],
      [22, true],
      [19, false],
    ])
    const run = search({ cores: 0.3 }, { known })
    expect(capsOf(run)).toEqual([0.3273])
    expect([...known.keys()].toSorted()).toEqual([19, 20, 22, 32])
    expect(run.result).toMatchObject({ held: 0.3273, failed: 0.2846, isFound: true })
  })

  it('looks above what has failed when it was checked, though less once held', () => {
    const known = knowing([
      [18, true],
      [20, false],
      [32, true],
    ])
    const run = search({ cores: 0.3 }, { known })
    expect(run.result).toMatchObject({ held: 0.3764, failed: 0.3273, why: 'known' })
    expect(run.trials.every(({ arm }) => Number(arm.cpuLimitCores) > 0.3273)).toBe(true)
  })

  it('finds nothing if the most has failed when it was checked', () => {
    const { result, trials } = search({}, { known: knowing([[33, false]]) })
    expect(result).toMatchObject({ held: null, failed: 2.014, isFound: false })
    expect(trials).toHaveLength(0)
  })

  it.each([1, 2, 4, 16])('finds, on %i CPUs, the first place of the grid that is enough, for any need', cpus => {
    const random = createRandom(31 + cpus)
    const last = computeCpuLimitPlace(cpus * 0.999) - 1
    for (let i = 0; i < 100; i++) {
      const cores = Math.exp(Math.log(0.02) + random() * Math.log(computeCpuLimitAt(last) / 0.02))
      const run = search({ cores, spoiledEvery: 2 + Math.floor(random() * 9) }, { cpus })
      const place = [...Array(60).keys()].findIndex(j => computeCpuLimitAt(j) >= cores)
      expect(run.result).toMatchObject({
        ...{ held: computeCpuLimitAt(place), failed: place > 0 ? computeCpuLimitAt(place - 1) : null, isFound: true },
      })
      expect(run.result.steps.every(s => isJudgedRightly(s, run.trials))).toBe(true)
      expect(capsOf(run).length).toBeLessThanOrEqual(9)
    }
  })

  it('always ends, with no step held below one that failed', () => {
    const random = createRandom(32)
    for (let i = 0; i < 200; i++) {
      const { result, trials } = search({ disturb: () => [true, true, false, null][Math.floor(4 * random())] })
      expect(result.steps.every(s => isJudgedRightly(s, trials))).toBe(true)
      if (result.held !== null && result.failed !== null) expect(result.failed).toBeLessThan(result.held)
    }
  })
})
