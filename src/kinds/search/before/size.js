import { pickChoice } from '../../../model/arms.js'
import { computeCapAt, findCapIndex, findCpu } from '../cpu-limit.js'
import { fitCpu } from '../lower-rates.js'
import { computeRecommendedBytes, findLowerMemoryFloor, findMemoryFloor, roundUp } from '../memory-floor.js'
import { createSearchResult, tryStep, withCpu, withMemory, withRate } from '../step.js'
import { computeStepNeed, findHighestP99, findHoldingLimits } from './first-answer.js'

/** @import { Arm, SearchResult, SearchSpec, SizeResult } from '../../../model/types.ts' */
/** @import { Search, SearchOptions, TriedStep } from '../step.js' */

const LESS = 0.7
const CHECK_ROUNDS_MOST = 4
const LINE_POINTS = 5
const LINE_REACH = 50

/**
 * Finds the smallest CPU and memory limits at which the load holds, and checks them: the load must hold there again,
 * and must not hold with LESS times either. If a limit fails its check, the search for it continues, in at most
 * CHECK_ROUNDS_MOST rounds.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'size' }> }} options
 * @returns {Search<SizeResult>}
 */
export function* findSize({ template, spec, cpus }) {
  const known = yield* findFirstLimits({ template, cpus })
  /** @type {SizeResult} */
  let size = {
    ...pickChoice(template),
    ratePerSecond: template.load.ratePerSecond ?? 0,
    p99LimitMs: spec.p99Ms,
    p99Ms: null,
    services: [],
    line: null,
    memory: null,
    checks: [],
    isChecked: false,
    extrapolated: null,
    cpu: createSearchResult({ template, looksFor: 'cpu' }),
  }
  const refuteCpu = (/** @type {number} */ cores, /** @type {SizeResult['checks'][0]} */ { why, trials }) =>
    known.set(findCapIndex(cores), { value: cores, held: false, why: `when checked: ${why}`, trials, outcomes: [] })
  for (let round = 0; round < CHECK_ROUNDS_MOST; round++) {
    const cpu = yield* findCpu({ template, cpus, known })
    size = { ...size, cpu, memory: null, checks: [] }
    if (!cpu.isFound || cpu.held === null) {
      return spec.isExtrapolated ? { ...size, extrapolated: yield* extrapolateTemplate({ template, cpus }) } : size
    }
    const atCpu = withCpu(template, cpu.held)
    const again = yield* checkArm(atCpu, 'at the CPU limit alone', true)
    size = { ...size, checks: [again] }
    if (again.held === null) return size
    if (!again.held) {
      refuteCpu(cpu.held, again)
      continue
    }
    const lessCpu = Number((LESS * cpu.held).toFixed(4))
    const less = yield* checkArm(withCpu(template, lessCpu), `at ${LESS} × the CPU`, false)
    size = { ...size, checks: [again, less] }
    const place = findCapIndex(LESS * cpu.held)
    if (less.held === true && place < findCapIndex(cpu.held)) {
      // The load holds with less CPU: the failures there and above had another cause.
      for (const [i, step] of known) if (i >= place && !step.held) known.delete(i)
      const { why, trials } = less
      known.set(place, { value: computeCapAt(place), held: true, why: `with less: ${why}`, trials, outcomes: [] })
      continue
    }
    const memory = yield* findMemoryFloor({
      template: atCpu,
      spec: { ...spec, kind: 'memory-floor' },
      cpus,
      unlimited: known.get(findCapIndex(cpu.held))?.outcomes,
    })
    size = { ...size, memory }
    if (memory.held === null && memory.failed !== null) {
      // No memory helps: the CPU limit held by chance.
      refuteCpu(cpu.held, { ...again, why: memory.why })
      continue
    }
    const floor = yield* refuteSmallerMemory({ template: atCpu, spec, memory })
    size = { ...size, memory: floor.memory }
    if (floor.less === null) return size
    const { p99Ms, ...answer } = yield* checkAnswer(withMemory(atCpu, computeRecommendedBytes(floor.memory)))
    size = { ...size, p99Ms, checks: [answer, less, floor.less] }
    if (answer.held !== false) return { ...size, isChecked: size.checks.every(c => c.held === c.mustHold) }
    refuteCpu(cpu.held, answer)
  }
  return size
}

/**
 * Tries the load with all the CPU and, if that held, limits with room.
 * @param {Pick<SearchOptions, 'template' | 'cpus'>} options
 * @returns {Search<Map<number, TriedStep>>} the steps that show whether the load holds at a CPU limit, by their place on the grid
 */
function* findFirstLimits({ template, cpus }) {
  const stepWithAllCpu = yield* tryStep(withCpu(template, cpus), cpus)
  const known = new Map([[findCapIndex(cpus), stepWithAllCpu]])
  if (!stepWithAllCpu.held) return known
  const { steps } = yield* findHoldingLimits({ template, cpus, need: computeStepNeed(stepWithAllCpu) })
  for (const step of steps) if (step.held !== null && step.value < cpus) known.set(findCapIndex(step.value), step)
  return known
}

/**
 * Finds a memory floor of which LESS times as much does not hold. A limit above may have failed by chance, since a
 * sidecar takes more memory when more requests wait in it.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & { memory: SearchResult }} options
 * @returns {Search<{ memory: SearchResult, less: SizeResult['checks'][0] | null }>} less: the check; null: no floor was found
 */
function* refuteSmallerMemory({ template, spec, memory }) {
  let floor = memory
  while (floor.isFound && floor.held !== null) {
    const bytes = roundUp(LESS * floor.held)
    const less = yield* checkArm(withMemory(template, bytes), `at ${LESS} × the memory floor`, false)
    if (!less.held || bytes >= floor.held) return { memory: floor, less }
    const survived = { value: bytes, held: true, why: `with less: ${less.why}`, trials: less.trials }
    floor = yield* findLowerMemoryFloor({ template, spec, memory: floor, survived })
  }
  return { memory: floor, less: null }
}

/**
 * Estimates the CPU of the busiest sidecar by a line through lower rates.
 * @param {{ template: Arm, cpus: number }} options
 * @returns {Search<SizeResult['extrapolated']>} null: fewer than three rates held
 */
function* extrapolateTemplate({ template, cpus }) {
  const fullRate = template.load.ratePerSecond ?? 0
  /** @type {[number, number][]} */
  const points = []
  for (let rate = Math.floor(fullRate / 2); rate >= 1 && points.length < LINE_POINTS; rate = Math.floor(rate / 1.5)) {
    const { held, outcomes } = yield* tryStep(withRate(withCpu(template, cpus), rate), rate)
    if (held) points.push([rate, 1000 * Math.max(...outcomes.map(o => o.coresMost))])
    if (rate < fullRate / LINE_REACH) break
  }
  return fitCpu(points, fullRate)
}

/**
 * Checks that the answer holds.
 * @param {Arm} arm at the limits of the answer
 * @returns {Search<SizeResult['checks'][0] & { p99Ms: number | null }>} p99Ms: the highest; null: none was measured
 */
function* checkAnswer(arm) {
  const step = yield* tryStep({ ...arm, id: `${arm.id}-check` }, 0)
  const { held, why, trials } = step
  return { what: 'at the answer', mustHold: true, held, why, trials, p99Ms: findHighestP99(step) }
}

/**
 * Checks whether an arm holds.
 * @param {Arm} arm
 * @param {string} what is checked, in words
 * @param {boolean} mustHold the outcome that the check expects
 * @returns {Search<SizeResult['checks'][0]>}
 */
function* checkArm(arm, what, mustHold) {
  const { held, why, trials } = yield* tryStep({ ...arm, id: `${arm.id}-check` }, 0)
  return { what, mustHold, held, why, trials }
}
