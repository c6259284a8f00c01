import { createSearchResult, tryStep, withCpu, withoutOutcomes } from './step.js'

/** The smallest CPU limit that holds, on a grid of limits. Pure. */
/** @import { Arm, SearchResult } from '../../model/types.ts' */
/** @import { Search, TriedStep } from './step.js' */

/** The grid of CPU limits: `least` cores, and each next limit `factor` times the one before. */
const CPU_GRID = { least: 0.02, factor: 1.15 }

/**
 * Finds the smallest CPU limit of the grid that holds. It starts just above what the sidecar uses with all the CPU,
 * moves up or down in growing steps, then bisects. The last place of the grid is all the CPU of the machine.
 * @param {{ template: Arm, cpus: number, known: Map<number, TriedStep> }} options cpus: of the machine; known: steps by their place
 *   on the grid, to which it adds; empty: it tries all the CPU first
 * @returns {Search<SearchResult>} isFound: false: all the CPU does not hold, or a step could not be judged
 */
export function* findCpuLimit({ template, cpus, known }) {
  const last = computeCpuLimitPlace(cpus)
  /**
   * Tries a place on the grid, unless its step is known.
   * @param {number} place
   * @returns {Search<TriedStep>}
   */
  function* tryPlace(place) {
    const cores = computeCoresAt(place, cpus)
    const step = known.get(place) ?? (yield* tryStep(withCpu(template, cores), cores))
    known.set(place, step)
    return step
  }
  if (known.size === 0) yield* tryPlace(last)
  const lastStep = known.get(last)
  if (known.size === 1 && lastStep && lastStep.held !== true) {
    const obstacle = `at ${computeCoresAt(last, cpus)} cores: ${lastStep.why}`
    return createCpuResult({ template, known, obstacle })
  }
  for (let stride = 1; ; stride *= 2) {
    const place = chooseNextPlace({ known, last, stride })
    if (place === null) return createCpuResult({ template, known, obstacle: null })
    const step = yield* tryPlace(place)
    if (step.held === null) return createCpuResult({ template, known, obstacle: step.why })
  }
}

/**
 * Chooses the place to try next, between the highest that failed and the lowest above it that held: first the one just above the use,
 * then one stride from the end that is known, or from the lower one if both are over four strides apart, else the middle.
 * @param {{ known: Map<number, TriedStep>, last: number, stride: number }} options last: the last place of the grid; stride: in places
 * @returns {number | null} null: there is no place between them
 */
function chooseNextPlace({ known, last, stride }) {
  const heldPlaces = [...known].filter(([, step]) => step.held).map(([place]) => place)
  const failedPlaces = [...known].filter(([, step]) => step.held === false).map(([place]) => place)
  const low = Math.max(-1, ...failedPlaces)
  const high = Math.min(last + 1, ...heldPlaces.filter(place => place > low))
  if (high - low <= 1) return null
  const usedCores = Math.max(0, ...[...known.values()].flatMap(step => step.outcomes.map(o => o.coresMost)))
  const aboveUse = computeCpuLimitPlace(usedCores) + 1
  const isFirstMove = usedCores > 0 && heldPlaces.length === 1
  if (isFirstMove && aboveUse > low && aboveUse < high) return aboveUse
  if (low === -1) return Math.max(0, high - stride)
  const isWide = high > last || high - low > 4 * stride
  return isWide ? Math.min(high - 1, low + stride) : Math.floor((low + high) / 2)
}

/**
 * Creates the result of the steps so far.
 * @param {{ template: Arm, known: Map<number, TriedStep>, obstacle: string | null }} options obstacle: the reason why the search
 *   ended without an answer; null: it has one
 * @returns {SearchResult} held: the smallest limit above all that failed; null: none held there
 */
function createCpuResult({ template, known, obstacle }) {
  const steps = [...known.values()].map(withoutOutcomes).toSorted((a, b) => a.value - b.value)
  const failed = steps.findLast(step => step.held === false)?.value ?? null
  const held = steps.find(step => step.held === true && (failed === null || step.value > failed))?.value ?? null
  return createSearchResult({
    template,
    looksFor: 'cpu',
    held,
    failed,
    steps,
    why: obstacle ?? steps.find(step => step.value === failed)?.why ?? 'nothing failed',
    isFound: obstacle === null,
  })
}

/**
 * Computes the CPU limit at a place on the grid, also beyond the CPUs of a machine.
 * @param {number} place from 0
 * @returns {number} cores, with four decimals
 */
export function computeCpuLimitAt(place) {
  return Number((CPU_GRID.least * CPU_GRID.factor ** place).toFixed(4))
}

/**
 * Computes the CPU limit at a place on the grid, at most the machine's CPUs.
 * @param {number} place
 * @param {number} cpus
 * @returns {number} cores
 */
export const computeCoresAt = (place, cpus) => Math.min(cpus, computeCpuLimitAt(place))

/**
 * Computes the place on the grid of a CPU limit, or the next one above, with a tolerance for the rounding of `computeCpuLimitAt`.
 * @param {number} cores
 * @returns {number} from 0, which is also the place of every smaller limit
 */
export function computeCpuLimitPlace(cores) {
  return Math.max(0, Math.ceil(Math.log(cores / CPU_GRID.least) / Math.log(CPU_GRID.factor) - 0.01))
}
