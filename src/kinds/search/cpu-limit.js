import { createSearchResult, tryStep, withCpu, withoutOutcomes } from './step.js'

/** @import { Arm, SearchResult, SearchStep } from '../../model/types.ts' */
/** @import { Search, TriedStep } from './step.js' */

/** The grid of CPU limits: each is `factor` times the one before. */
const CPU_GRID = { least: 0.02, factor: 1.15 }

/**
 * Finds the smallest CPU limit of the grid that holds. It starts just above what the sidecar uses with all the CPU,
 * moves up or down in growing steps, then bisects. The last place of the grid is all the CPU of the machine.
 * @param {{ template: Arm, cpus: number, known: Map<number, TriedStep> }} options known: steps by their place on the
 *   grid, to which it adds; empty: it tries all the CPU first
 * @returns {Search<SearchResult>} isFound: false: all the CPU does not hold, or a step could not be judged
 */
export function* findCpu({ template, cpus, known }) {
  // The last place is all of the machine.
  const last = findCapIndex(cpus)
  const computeCoresAt = (/** @type {number} */ i) => Math.min(cpus, computeCapAt(i))
  let used = Math.max(0, ...[...known.values()].flatMap(step => step.outcomes.map(o => o.coresMost)))
  /**
   * Tries a place on the grid, unless its step is known.
   * @param {number} i
   * @returns {Search<TriedStep>}
   */
  function* tryIndex(i) {
    const knownStep = known.get(i)
    if (knownStep) return knownStep
    const step = yield* tryStep(withCpu(template, computeCoresAt(i)), computeCoresAt(i))
    used = Math.max(used, ...step.outcomes.map(o => o.coresMost))
    known.set(i, step)
    return step
  }
  const end = (/** @type {string | null} */ obstacle) => {
    const steps = [...known.values()].map(withoutOutcomes).toSorted((a, b) => a.value - b.value)
    const held =
      steps.find(s => s.held === true && !steps.some(t => t.held === false && t.value >= s.value))?.value ?? null
    const failed = steps.findLast(s => s.held === false)?.value ?? null
    return createSearchResult({
      template,
      looksFor: 'cpu',
      held,
      failed,
      steps,
      why: obstacle ?? steps.find(s => s.value === failed)?.why ?? 'nothing failed',
      isFound: obstacle === null,
    })
  }
  const listHeldIndexes = () => [...known].filter(([, s]) => s.held).map(([i]) => i)
  const listFailedIndexes = () => [...known].filter(([, s]) => s.held === false).map(([i]) => i)
  if (known.size === 0) yield* tryIndex(last)
  const lastStep = known.get(last)
  if (known.size === 1 && lastStep && lastStep.held !== true)
    return end(`at ${computeCoresAt(last)} cores: ${lastStep.why}`)
  for (let stride = 1; ; ) {
    const low = Math.max(-1, ...listFailedIndexes())
    const high = Math.min(last + 1, ...listHeldIndexes().filter(i => i > low))
    if (high - low <= 1) return end(null)
    const guess = used > 0 && listHeldIndexes().length === 1 ? findCapIndex(used) + 1 : null
    let index = Math.floor((low + high) / 2)
    if (guess !== null && guess > low && guess < high) index = guess
    else if (low === -1) index = Math.max(0, high - stride)
    else if (high > last || high - low > 4 * stride) index = Math.min(high - 1, low + stride)
    stride *= 2
    const step = yield* tryIndex(index)
    if (step.held === null) return end(step.why)
  }
}

/**
 * Computes the CPU limit at a place on the grid. It is not clamped to a machine.
 * @param {number} index from 0
 * @returns {number} cores, with four decimals
 */
export function computeCapAt(index) {
  return Number((CPU_GRID.least * CPU_GRID.factor ** index).toFixed(4))
}

/**
 * Computes the place on the grid of a CPU limit, or the next one above, with a tolerance for the rounding of
 * `computeCapAt`.
 * @param {number} cores
 * @returns {number} at least 0
 */
export function findCapIndex(cores) {
  return Math.max(0, Math.ceil(Math.log(cores / CPU_GRID.least) / Math.log(CPU_GRID.factor) - 0.01))
}
