import { describe, expect, it } from 'vitest'
import { replaySearch, startSearch } from '../../../src/kinds/search/searches.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../fakes/fake-search.js'

/** @import { Arm, SizeResult } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
const P99_MS = 50
/** @param {Parameters<typeof createFakeSidecar>[0]} truth @param {{ isExtrapolated?: boolean, ratePerSecond?: number, neighbourCores?: number }} [fields] */
const search = (truth, { isExtrapolated = false, ratePerSecond = 1000, neighbourCores } = {}) => {
  const template = createArm({
    id: 'link-pipy',
    load: { kind: 'open', ratePerSecond, windowSeconds: 3.5 },
    ...(neighbourCores && { cpuLimitCores: null, conditions: { neighbourCores } }),
  })
  const spec = {
    kind: /** @type {const} */ ('size'),
    p99Ms: P99_MS,
    precision: 0.05,
    isExtrapolated,
    trialsToConfirm: 3,
  }
  const run = runSearch(startSearch({ template, spec, cpus: 2 }), createFakeSidecar(truth))
  return { ...run, size: /** @type {SizeResult} */ (run.result) }
}
/** @param {ReturnType<typeof search>} run */
const answerOf = ({ size }) => /** @type {NonNullable<SizeResult['answer']>} */ (size.answer)
/** Trials at the limits of the answer. @param {ReturnType<typeof search>} run */
const atAnswer = run => {
  const { limits } = answerOf(run)
  return run.trials.filter(
    ({ arm }) => arm.cpuLimitCores === limits?.cores && arm.conditions.memoryLimitBytes === limits?.bytes,
  )
}
const truth = { cores: 0.3, bytes: 5e6, peakBytes: 1e7, unchargedBytes: 3e6 }

describe('the search of size', () => {
  it('tries all the CPU, limits with room, and smaller ones, and confirms those one step above the smallest that hold', () => {
    const run = search(truth)
    // 0.3 cores are place 20 of the grid, 0.3273: within 15 % of it nothing is tried. Two above it is 0.4329.
    expect(run.trials.map(({ arm }) => arm.cpuLimitCores)).toEqual([2, 0.4329, 0.3764, 0.4329, 0.4329])
    expect(answerOf(run)).toMatchObject({ state: 'confirmed', met: 3, missed: 0, notJudged: 0, p99Ms: 5 })
    expect(answerOf(run).limits).toEqual({ cores: 0.4329, bytes: 75 * (MIB / 4) })
    expect(run.size).toMatchObject({ isChecked: true, isOver: true, cpu: { held: 0.4329, isFound: true } })
  })

  it('tries CPU requests without a limit beside a neighbour, and gives one step above the smallest that holds', () => {
    const run = search(truth, { neighbourCores: 2 })
    expect(run.trials.map(({ arm }) => [arm.cpuLimitCores, arm.conditions.cpuRequestCores])).toEqual(
      [2, 0.4329, 0.3764, 0.4329, 0.4329].map(cores => [null, cores]),
    )
    expect(run.trials.every(({ arm }) => arm.conditions.neighbourCores === 2)).toBe(true)
    expect(answerOf(run)).toMatchObject({ state: 'confirmed', met: 3, requestCores: 0.4329 })
    expect(run.size).toMatchObject({ neighbourCores: 2, cpu: { held: 0.4329 } })
    expect(run.size.trials?.map(({ cpuCores }) => cpuCores)).toEqual([2, 0.4329, 0.3764, 0.4329, 0.4329])
    expect(search(truth).size).not.toHaveProperty('neighbourCores')
  })

  it('gives as CPU request what the sidecar used and 15 % more, and no more than the limit', () => {
    expect(answerOf(search(truth)).requestCores).toBeCloseTo(0.345, 9)
    // It uses 0.1 and needs 0.3: p99s are over the limit below.
    const disturb = (/** @type {{ arm: Arm }} */ { arm }) => (Number(arm.cpuLimitCores) < 0.3 ? false : undefined)
    const run = search({ ...truth, cores: 0.1, disturb })
    expect(answerOf(run).requestCores).toBeCloseTo(0.115, 9)
    expect(Number(answerOf(run).limits?.cores)).toBeGreaterThan(0.3)
  })

  it('counts every trial at its limits, in the order of the trials and of any chance', () => {
    const random = createRandom(7)
    for (let i = 0; i < 200; i++) {
      const cores = 0.03 + 1.2 * random() ** 2
      const chance = 0.4 * random()
      const disturb = () => (random() < chance ? (random() < 0.5 ? false : null) : undefined)
      const run = search({ ...truth, cores, disturb })
      const answer = answerOf(run)
      const outcomes = atAnswer(run).map(({ outcome }) => outcome)
      const count = (/** @type {boolean | null} */ held) => outcomes.filter(o => o.held === held).length
      if (answer.limits === null) continue
      expect([answer.met, answer.missed, answer.notJudged]).toEqual([count(true), count(false), count(null)])
      expect(answer.trials).toEqual(outcomes.map(o => o.trial))
      if (answer.state === 'confirmed') {
        expect(answer.missed).toBe(0)
        expect(answer.met).toBeGreaterThanOrEqual(3)
      } else expect(answer.why).not.toBe('')
    }
  })

  it('goes up from limits that one trial missed, also after others met them', () => {
    let trials = 0
    const run = search({
      ...truth,
      disturb: ({ arm }) => (arm.cpuLimitCores === 0.4329 && ++trials === 2 ? false : undefined),
    })
    expect(run.trials.map(({ arm }) => arm.cpuLimitCores)).toEqual([
      ...[2, 0.4329, 0.3764, 0.4329, 0.5725, 0.4978, 0.5725, 0.5725],
    ])
    expect(answerOf(run)).toMatchObject({ state: 'confirmed', met: 3, missed: 0 })
    expect(answerOf(run).limits?.cores).toBe(0.5725)
    expect(run.size.cpu.failed).toBe(0.4329)
  })

  it('gives more memory, and not more CPU, if the kernel kills for memory', () => {
    // It needs 40 MiB, and without a limit showed 10 MB.
    const run = search({ ...truth, bytes: 40 * MIB, peakBytes: 1e7 })
    expect(answerOf(run)).toMatchObject({ state: 'confirmed' })
    expect(answerOf(run).limits?.cores).toBe(0.4329)
    expect(Number(answerOf(run).limits?.bytes)).toBeGreaterThanOrEqual(40 * MIB)
  })

  it('has no limits, and says why, if all the CPU misses the p99', () => {
    const run = search({ ...truth, cores: 3 })
    expect(answerOf(run)).toMatchObject({ state: 'none', limits: null, why: 'with 2 CPUs: bound by the sidecar' })
    expect(run.size.extrapolated).toBeNull()
  })

  it('extrapolates by a line through lower rates if requested', () => {
    const busy = { ...truth, cores: 0.1, coresPerRequestPerSecond: 0.0025 }
    const { size } = search(busy, { ratePerSecond: 4000, isExtrapolated: true })
    expect(size.extrapolated?.cores).toBeCloseTo(10.1, 9)
    expect(size.extrapolated?.points.map(p => p.ratePerSecond)).toEqual([592, 394, 262, 174, 116])
    expect(
      search({ capacityPerSecond: 60 }, { ratePerSecond: 2000, isExtrapolated: true }).size.extrapolated,
    ).toBeNull()
  })
})

describe('an answer beside a program that uses a CPU all the time', () => {
  const beside = (/** @type {number} */ cores) =>
    search({ ...truth, disturb: ({ arm }) => (Number(arm.cpuLimitCores) < cores ? null : true), isBeside: true })

  it('is confirmed if every trial at its limits met the p99 all the same', () => {
    expect(answerOf(beside(0))).toMatchObject({ state: 'confirmed', met: 3, missed: 0, notJudged: 0 })
  })

  it('is an estimate if none did at the limits that were tried', () => {
    expect(answerOf(beside(1))).toMatchObject({ state: 'estimated', met: 0, notJudged: 4 })
  })

  it('is no smaller for trials that missed the p99 and were not judged', () => {
    let nth = 0
    const run = search({ ...truth, disturb: () => (++nth % 2 === 0 ? null : true), isBeside: true })
    expect(answerOf(run)).toMatchObject({ state: 'estimated' })
    expect(answerOf(run).limits?.cores).toBe(0.4329)
    expect(run.trials.length).toBeLessThan(8)
  })
})

describe('an answer on a busy machine', () => {
  const busy = search({ ...truth, spoiledEvery: 1 })

  it('is an estimate from what the load took, with why it is not confirmed, after few trials', () => {
    expect(answerOf(busy)).toMatchObject({ state: 'estimated', met: 0, missed: 0, notJudged: 4 })
    expect(answerOf(busy).why).toBe('no trial at these limits could be judged: a busy neighbour')
    expect(answerOf(busy).limits?.cores).toBe(0.4329)
    expect(busy.trials).toHaveLength(6)
    expect(busy.size.isChecked).toBe(false)
  })

  it('lists every trial, and why it was not judged', () => {
    expect(busy.size.trials).toHaveLength(6)
    expect(busy.size.trials?.every(({ state, why }) => state === 'not judged' && why === 'a busy neighbour')).toBe(true)
  })

  it('is confirmed if one trial in four is spoiled', () => {
    expect(answerOf(search({ ...truth, spoiledEvery: 4 }))).toMatchObject({ state: 'confirmed' })
  })
})

describe('an answer of a search that was cut short', () => {
  it('is what its trials show, whenever it ends', () => {
    const template = createArm({ id: 'link-pipy', load: { kind: 'open', ratePerSecond: 1000, windowSeconds: 3.5 } })
    const spec = /** @type {const} */ ({
      kind: 'size',
      p99Ms: 50,
      precision: 0.05,
      isExtrapolated: false,
      trialsToConfirm: 3,
    })
    const cut = replaySearch({ template, spec, cpus: 2 }, [])
    expect(cut).toMatchObject({ isOver: false, answer: { state: 'none', why: 'no trial was made' } })
  })
})
