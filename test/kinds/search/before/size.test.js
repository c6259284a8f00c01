import { describe, expect, it } from 'vitest'
import { findSmallestLimits } from '../../../../src/kinds/search/before/size.js'
import { computeRecommendedBytes } from '../../../../src/kinds/search/memory-floor.js'
import { createRandom } from '../../../../src/lib/random.js'
import { createArm } from '../../../fakes/fake-records.js'
import { createFakeSidecar, isJudgedRightly, runSearch } from '../../../fakes/fake-search.js'

const STEP = 256 * 1024
/**
 * @param {Parameters<typeof createFakeSidecar>[0]} truth
 * @param {{ isExtrapolated?: boolean, ratePerSecond?: number }} [fields]
 */
const search = (truth, { isExtrapolated = false, ratePerSecond = 1000 } = {}) => {
  const template = createArm({ id: 'link-pipy', load: { kind: 'open', ratePerSecond, windowSeconds: 3.5 } })
  const spec = { kind: /** @type {const} */ ('size'), p99Ms: 50, precision: 0.05, isExtrapolated }
  return runSearch(findSmallestLimits({ template, spec, cpus: 2 }), createFakeSidecar(truth))
}
// By hand in cpu-limit.test.js and memory-floor.test.js: 0.3273 cores, and 20 steps of memory.
const truth = { cores: 0.3, bytes: 5e6, peakBytes: 1e7, unchargedBytes: 3e6 }
/** @param {ReturnType<typeof search>} run */
const checksOf = ({ result }) => result.checks.map(c => [c.what, c.mustHold, c.held])
/** @param {ReturnType<typeof search>} run */
const areAllJudgedRightly = ({ result, trials }) =>
  [...result.cpu.steps, ...(result.memory?.steps ?? []), ...result.checks]
    .filter(step => step.trials.length > 0)
    .every(step => isJudgedRightly(step, trials))

describe('findSmallestLimits', () => {
  it('finds the CPU limit, then the memory limit at it, and checks both', () => {
    const run = search(truth)
    expect(run.result).toMatchObject({
      ...{ plane: 'pipy', variant: null, profile: null, isChecked: true, extrapolated: null },
      cpu: { looksFor: 'cpu', held: 0.3273, failed: 0.2846, isFound: true },
      memory: { looksFor: 'memory', held: 20 * STEP, failed: 19 * STEP, isFound: true, unchargedBytes: 3e6 },
    })
    expect(checksOf(run)).toEqual([
      ['at the answer', true, true],
      ['at 0.7 × the CPU', false, false],
      ['at 0.7 × the memory floor', false, false],
    ])
    expect(areAllJudgedRightly(run)).toBe(true)
  })

  it('checks under the limits that it says, in trials of their own', () => {
    const { trials } = search(truth)
    const checks = trials.filter(({ arm }) => arm.id.endsWith('-check'))
    const limits = checks.map(({ arm }) => [arm.cpuLimitCores, (arm.conditions.memoryLimitBytes ?? 0) / STEP])
    // Held twice; at 0.7 × 0.3273 failed clearly, once; 5242880 + 3000000 bytes are 32 steps, 0.7 × 20 are 14.
    expect(limits).toEqual([
      [0.3273, 0],
      [0.3273, 0],
      [0.2291, 0],
      [0.3273, 14],
      [0.3273, 32],
      [0.3273, 32],
    ])
  })

  it('tries all memory limits under the CPU limit, and none without a limit again', () => {
    const { trials } = search(truth)
    const limited = trials.filter(({ arm }) => arm.conditions.memoryLimitBytes !== null && !arm.id.endsWith('-first'))
    expect(limited.every(({ arm }) => arm.cpuLimitCores === 0.3273)).toBe(true)
    expect(trials.some(({ arm }) => arm.id.includes('@unlimited'))).toBe(false)
  })

  it('looks above a CPU limit that does not hold when it is checked', () => {
    // 0.3273 holds in the search, and not in the check.
    const disturb = (/** @type {{ arm: { id: string, cpuLimitCores: number | null } }} */ { arm }) =>
      arm.id.endsWith('-check') && arm.cpuLimitCores === 0.3273 ? false : undefined
    const run = search({ ...truth, disturb })
    expect(run.result).toMatchObject({ cpu: { held: 0.3764, failed: 0.3273, isFound: true }, isChecked: true })
    expect(run.result.cpu.why).toBe('when checked: disturbed')
    expect(run.result.cpu.steps.filter(s => s.value === 0.3273)).toMatchObject([{ held: false }])
    expect(checksOf(run).map(([, , held]) => held)).toEqual([true, false, false])
  })

  it('looks below a CPU limit of which 0.7 hold, if what failed was not the CPU', () => {
    // It needs 0.15; the first six trials fail below 0.3, so that 0.2846 is found, then 0.2152: 0.7 of each hold.
    const run = search({
      ...{ ...truth, cores: 0.15 },
      disturb: ({ arm, nth }) => (nth <= 6 ? Number(arm.cpuLimitCores) >= 0.3 : undefined),
    })
    expect(run.result).toMatchObject({ cpu: { held: 0.1627, failed: 0.1415, isFound: true }, isChecked: true })
    expect(areAllJudgedRightly(run)).toBe(true)
  })

  it('looks again if the answer does not hold with its memory limit, and gives up after four rounds', () => {
    const disturb = (/** @type {{ arm: import('../../../../src/model/types.ts').Arm }} */ { arm }) =>
      arm.id.endsWith('-check') && arm.conditions.memoryLimitBytes === 32 * STEP ? false : undefined
    const once = search({
      ...truth,
      disturb: trial => (trial.arm.cpuLimitCores === 0.3273 ? disturb(trial) : undefined),
    })
    expect(once.result).toMatchObject({ cpu: { held: 0.3764, failed: 0.3273 }, isChecked: true })
    const always = search({ ...truth, disturb })
    expect(always.result.isChecked).toBe(false)
    expect(always.result.checks[0]).toMatchObject({ what: 'at the answer', mustHold: true, held: false })
    // Four rounds: 0.3273, 0.3764, 0.4328, of which 0.7 hold, and so 0.3273 once more.
    expect(always.result.cpu.held).toBe(0.3273)
    const answers = always.trials.filter(({ arm }) => arm.conditions.memoryLimitBytes === 32 * STEP)
    expect([...new Set(answers.map(({ arm }) => arm.cpuLimitCores))]).toEqual([0.3273, 0.3764])
  })

  it('is not checked if a check was spoiled', () => {
    const spoil = (/** @type {number | null} */ bytes, /** @type {number} */ cores) =>
      search({
        ...truth,
        disturb: ({ arm }) =>
          arm.id.endsWith('-check') &&
          arm.conditions.memoryLimitBytes === bytes &&
          Math.abs(Number(arm.cpuLimitCores) - cores) < 1e-9
            ? null
            : undefined,
      })
    expect(spoil(null, 0.3273).result).toMatchObject({ isChecked: false, memory: null, checks: [{ held: null }] })
    for (const [bytes, place] of [
      [32 * STEP, 0],
      [14 * STEP, 2],
    ]) {
      const { result } = spoil(bytes, 0.3273)
      expect(result).toMatchObject({ isChecked: false, memory: { isFound: true } })
      expect(result.checks.map(c => c.held === null)).toEqual([0, 1, 2].map(i => i === place))
    }
    expect(spoil(null, 0.2291).result.checks.map(c => c.held)).toEqual([true, null, false])
  })

  it('looks for a lower memory limit if 0.7 of one holds: above it, one failed by chance', () => {
    // 10 steps are needed; the first trial at 17 is killed by chance, so that the floor seems to be 18.
    let isUnlucky = true
    const { result } = search({
      ...{ ...truth, bytes: 10 * STEP, peakBytes: 30 * STEP },
      disturb: ({ arm }) => {
        if (!isUnlucky || arm.conditions.memoryLimitBytes !== 17 * STEP) return undefined
        isUnlucky = false
        return 'killed'
      },
    })
    expect(result.isChecked).toBe(true)
    expect(result.memory).toMatchObject({ isFound: true, held: 10 * STEP, failed: 9 * STEP })
  })

  it('gives no memory limit if no CPU limit holds, and extrapolates only if requested', () => {
    const { result } = search({ ...truth, cores: 3 })
    expect(result).toMatchObject({ memory: null, checks: [], isChecked: false, extrapolated: null })
    expect(result.cpu).toMatchObject({ held: null, isFound: false, why: 'at 2 cores: bound by the sidecar' })
  })

  it('extrapolates by a line through five lower rates', () => {
    // 0.1 cores and 2.5 millicores a request/s: 10.1 cores at 4000.
    const busy = { ...truth, cores: 0.1, coresPerRequestPerSecond: 0.0025 }
    const run = search(busy, { ratePerSecond: 4000, isExtrapolated: true })
    const rates = [...new Set(run.trials.slice(1).map(({ arm }) => arm.load.ratePerSecond))]
    // Halved once, then by 1.5; on 2 CPUs up to 760/s hold.
    expect(rates).toEqual([2000, 1333, 888, 592, 394, 262, 174, 116])
    const { extrapolated, isChecked } = run.result
    expect(isChecked).toBe(false)
    expect(extrapolated?.cores).toBeCloseTo(10.1, 9)
    expect(extrapolated?.baseMillicores).toBeCloseTo(100, 6)
    expect(extrapolated?.slopeMillicoresPerRequestPerSecond).toBeCloseTo(2.5, 9)
    expect(extrapolated?.points.map(p => p.ratePerSecond)).toEqual([592, 394, 262, 174, 116])
    for (const p of extrapolated?.points ?? []) expect(p.residualMillicores).toBeCloseTo(0, 6)
  })

  it('extrapolates from no fewer than three rates', () => {
    // All of 1000, 667, 444, … fail above 60: 59, and then less than a fiftieth of 2000 is tried.
    const { result } = search({ capacityPerSecond: 60 }, { ratePerSecond: 2000, isExtrapolated: true })
    expect(result.extrapolated).toBeNull()
  })

  // Of 40/s: 20, 13, 9, 6, 4, 3, 2, 1, 1, 1, … for ever.
  it('ends if no rate holds, however low the requested one', () => {
    const { result } = search({ capacityPerSecond: 0 }, { ratePerSecond: 40, isExtrapolated: true })
    expect(result.extrapolated).toBeNull()
  })

  it('ends if everything is spoiled', () => {
    const { result, trials } = search({ spoiledEvery: 1 })
    expect(result).toMatchObject({ isChecked: false, memory: null, checks: [], cpu: { isFound: false } })
    expect(trials).toHaveLength(6)
  })

  it('ends if everything holds: the least limit, which 0.7 of it refute', () => {
    const { result } = search({ cores: 0.001, bytes: 5e6, peakBytes: 1e7 })
    expect(result).toMatchObject({ cpu: { held: 0.02, failed: null }, isChecked: false })
    expect(result.checks).toMatchObject([{ held: true }, { mustHold: false, held: true }, { held: false }])
  })

  it('gives, for whatever a sidecar needs, limits that are enough, and not much more than enough', () => {
    const random = createRandom(41)
    for (let i = 0; i < 150; i++) {
      const cores = 0.03 + 1.5 * random() ** 2
      const bytes = 2e6 + random() * 1e8
      const unchargedBytes = random() < 0.5 ? 0 : 1e6 * random()
      const spoiledEvery = 2 + Math.floor(random() * 9)
      const run = search({ cores, bytes, peakBytes: bytes * (1 + random()), unchargedBytes, spoiledEvery })
      const { cpu, memory, isChecked } = run.result
      expect(isChecked).toBe(true)
      expect(cpu.held).toBeGreaterThanOrEqual(cores)
      expect(cpu.failed).toBeLessThan(cores)
      expect(Number(cpu.held)).toBeLessThan(1.16 * cores)
      expect(memory && computeRecommendedBytes(memory)).toBeGreaterThanOrEqual(bytes)
      expect(Number(memory?.held)).toBeLessThanOrEqual(Math.max(1.06 * bytes, bytes + STEP))
      expect(areAllJudgedRightly(run)).toBe(true)
      expect(run.trials.length).toBeLessThan(150)
    }
  })

  it('is close and always ends, even if trials at the edge hold or fail at random', () => {
    const random = createRandom(42)
    for (let i = 0; i < 100; i++) {
      const cores = 0.03 + 1.2 * random()
      const noise = createRandom(i)
      const isNear = (/** @type {number | null} */ cap) => Math.abs(Number(cap) / cores - 1) < 0.1
      const run = search({
        ...truth,
        cores,
        disturb: ({ arm }) => (isNear(arm.cpuLimitCores) ? noise() < 0.5 : undefined),
      })
      const { cpu, isChecked } = run.result
      expect(Number(cpu.held) / cores).toBeGreaterThan(0.9)
      // 0.7 of it must fail, and does so for sure below 0.9 only.
      if (isChecked) expect(Number(cpu.held) / cores).toBeLessThan(1.1 / 0.7)
    }
  })

  // By chance 0.2846 holds without a memory limit, where 0.3 are needed: with any it fails, and is grown for ever.
  it('ends if a CPU limit held by chance, and no memory limit holds under it', () => {
    const { result } = search({
      ...truth,
      disturb: ({ arm }) =>
        arm.cpuLimitCores === 0.2846 && arm.conditions.memoryLimitBytes === null ? true : undefined,
    })
    expect(result).toMatchObject({ cpu: { held: 0.3273 }, isChecked: true })
  })
})
