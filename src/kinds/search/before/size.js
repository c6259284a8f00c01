import { pickPlaneChoice } from '../../../model/arms.js'
import { computeCpuLimitAt, computeCpuLimitPlace, findCpuLimit } from '../cpu-limit.js'
import { extrapolateToRate } from '../lower-rates.js'
import { computeRecommendedBytes, findLowerMemoryFloor, findMemoryFloor, roundUpBytes } from '../memory-floor.js'
import { createSearchResult, tryStep, withCpu, withMemory, withRate } from '../step.js'
import { computeStepNeed, findHighestP99Ms, findHoldingLimits } from './first-answer.js'

/** The smallest limits for a load, each checked: the search of older kits. Pure. */
/** @import { Arm, SearchResult, SearchSpec, SizeResult } from '../../../model/types.ts' */
/** @import { Search, SearchOptions, TriedStep } from '../step.js' */

// The share of a limit at which the load must not hold.
const LESS = 0.7
const CHECK_ROUNDS_MOST = 4
// The line through lower rates ends at this many rates, or at the first below the rate divided by LINE_REACH.
const LINE_POINTS = 5
const LINE_REACH = 50

/** @typedef {SizeResult['checks'][0]} Check */

/**
 * Finds the smallest CPU and memory limits at which the load holds, and checks them: the load must hold there again,
 * and must not hold with LESS times either. Each of at most CHECK_ROUNDS_MOST rounds finds a CPU limit, then a memory floor at it; a
 * check that fails refutes the CPU limit in `known`, from which the next round continues.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'size' }> }} options
 * @returns {Search<SizeResult>} isChecked: false: no limits passed all checks; memory: null: none was
 *   tried, since no CPU limit was found, or the last one failed its check
 */
export function* findSmallestLimits({ template, spec, cpus }) {
  const known = yield* findFirstLimits({ template, cpus })
  let size = createUnfoundSize(template, spec.p99Ms)
  for (let round = 0; round < CHECK_ROUNDS_MOST; round++) {
    const cpu = yield* findCpuLimit({ template, cpus, known })
    size = { ...size, cpu, memory: null, checks: [] }
    if (!cpu.isFound || cpu.held === null) {
      return spec.isExtrapolated ? { ...size, extrapolated: yield* extrapolateTemplate({ template, cpus }) } : size
    }
    const { checks, verdict } = yield* checkCpuLimit({ template, known, cores: cpu.held })
    size = { ...size, checks }
    if (verdict === 'not judged') return size
    if (verdict === 'refuted') continue
    const [again, lessCpu] = checks
    const atCpu = withCpu(template, cpu.held)
    const memory = yield* findMemoryFloor({
      template: atCpu,
      spec: { ...spec, kind: 'memory-floor' },
      cpus,
      unlimited: known.get(computeCpuLimitPlace(cpu.held))?.outcomes,
    })
    size = { ...size, memory }
    if (memory.held === null && memory.failed !== null) {
      // No memory helps: the CPU limit held by chance.
      refuteCpuLimit({ known, cores: cpu.held, why: memory.why, trials: again.trials })
      continue
    }
    const floor = yield* lowerMemoryFloor({ template: atCpu, spec, memory })
    size = { ...size, memory: floor.memory }
    if (floor.less === null) return size
    const { p99Ms, ...answer } = yield* checkAnswer(withMemory(atCpu, computeRecommendedBytes(floor.memory)))
    size = { ...size, p99Ms, checks: [answer, lessCpu, floor.less] }
    if (answer.held !== false) return { ...size, isChecked: size.checks.every(c => c.held === c.mustHold) }
    refuteCpuLimit({ known, cores: cpu.held, ...answer })
  }
  return size
}

/**
 * Creates the result of a search that has found nothing yet.
 * @param {Arm} template
 * @param {number} p99LimitMs
 * @returns {SizeResult}
 */
function createUnfoundSize(template, p99LimitMs) {
  return {
    ...pickPlaneChoice(template),
    ratePerSecond: template.load.ratePerSecond ?? 0,
    p99LimitMs,
    p99Ms: null,
    services: [],
    line: null,
    memory: null,
    checks: [],
    isChecked: false,
    extrapolated: null,
    cpu: createSearchResult({ template, looksFor: 'cpu' }),
  }
}

/**
 * Checks a CPU limit: the load must hold there again, and must not hold with LESS times as much. Steps that a check refutes are
 * changed in `known`.
 * @param {{ template: Arm, known: Map<number, TriedStep>, cores: number }} options known: steps by their place on the grid
 * @returns {Search<{ checks: Check[], verdict: 'holds' | 'refuted' | 'not judged' }>} checks: both, or the first if that did not hold
 */
function* checkCpuLimit({ template, known, cores }) {
  const again = yield* checkArm(withCpu(template, cores), 'at the CPU limit alone', true)
  if (again.held === null) return { checks: [again], verdict: 'not judged' }
  if (!again.held) {
    refuteCpuLimit({ known, cores, ...again })
    return { checks: [again], verdict: 'refuted' }
  }
  const lessCores = Number((LESS * cores).toFixed(4))
  const less = yield* checkArm(withCpu(template, lessCores), `at ${LESS} × the CPU`, false)
  const place = computeCpuLimitPlace(LESS * cores)
  if (!less.held || place >= computeCpuLimitPlace(cores)) return { checks: [again, less], verdict: 'holds' }
  // The load holds with less CPU: the failures there and above had another cause.
  for (const [i, step] of known) if (i >= place && !step.held) known.delete(i)
  const { why, trials } = less
  known.set(place, { value: computeCpuLimitAt(place), held: true, why: `with less: ${why}`, trials, outcomes: [] })
  return { checks: [again, less], verdict: 'refuted' }
}

/**
 * Marks the step of a CPU limit in `known` as failed.
 * @param {{ known: Map<number, TriedStep>, cores: number } & Pick<Check, 'why' | 'trials'>} options why, trials: of the check
 */
function refuteCpuLimit({ known, cores, why, trials }) {
  const step = { value: cores, held: false, why: `when checked: ${why}`, trials, outcomes: [] }
  known.set(computeCpuLimitPlace(cores), step)
}

/**
 * Tries the load with all the CPU and, if that held, limits with room.
 * @param {Pick<SearchOptions, 'template' | 'cpus'>} options
 * @returns {Search<Map<number, TriedStep>>} the steps that show whether the load holds at a CPU limit, by their place on the grid
 */
function* findFirstLimits({ template, cpus }) {
  const stepWithAllCpu = yield* tryStep(withCpu(template, cpus), cpus)
  const known = new Map([[computeCpuLimitPlace(cpus), stepWithAllCpu]])
  if (!stepWithAllCpu.held) return known
  const { steps } = yield* findHoldingLimits({ template, cpus, need: computeStepNeed(stepWithAllCpu) })
  const judgedBelow = steps.filter(step => step.held !== null && step.value < cpus)
  for (const step of judgedBelow) known.set(computeCpuLimitPlace(step.value), step)
  return known
}

/**
 * Lowers a memory floor until LESS times as much does not hold. A limit above may have failed by chance, since a
 * sidecar takes more memory when more requests wait in it.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & { memory: SearchResult }} options
 * @returns {Search<{ memory: SearchResult, less: Check | null }>} less: the check with LESS times as much; null: no floor was found
 */
function* lowerMemoryFloor({ template, spec, memory }) {
  let floor = memory
  while (floor.isFound && floor.held !== null) {
    const bytes = roundUpBytes(LESS * floor.held)
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
 * @returns {Search<SizeResult['extrapolated']>} null: too few rates held, as `extrapolateToRate`
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
  return extrapolateToRate(points, fullRate)
}

/**
 * Checks that the answer holds.
 * @param {Arm} arm at the limits of the answer
 * @returns {Search<Check & { p99Ms: number | null }>} p99Ms: the highest of the trials that held; null: none did with a p99
 */
function* checkAnswer(arm) {
  const step = yield* tryStep({ ...arm, id: `${arm.id}-check` }, 0)
  const { held, why, trials } = step
  return { what: 'at the answer', mustHold: true, held, why, trials, p99Ms: findHighestP99Ms(step) }
}

/**
 * Checks whether an arm holds.
 * @param {Arm} arm
 * @param {string} limit that is checked, in words
 * @param {boolean} mustHold the outcome that the check expects
 * @returns {Search<Check>} held: null: it was spoiled too often
 */
function* checkArm(arm, limit, mustHold) {
  const { held, why, trials } = yield* tryStep({ ...arm, id: `${arm.id}-check` }, 0)
  return { what: limit, mustHold, held, why, trials }
}
