import { createSearchResult, tryStep, withMemory, withoutOutcomes } from './step.js'

/** The smallest memory limit under which sidecars survive a load. Pure. */
/**
 * @import { SearchResult, SearchStep } from '../../model/types.ts'
 * @import { Outcome } from './outcome.js'
 */
/** @import { Search, SearchOptions } from './step.js' */

const MEMORY_STEP_BYTES = 256 * 1024
// A sidecar that fails with more than this multiple of what it took without a limit lacks something else.
const UNLIMITED_TIMES = 4

/**
 * Finds the smallest memory limit under which sidecars survive the load. It tries without a limit first, then from 10 % above what
 * that took, by bisection.
 * @param {SearchOptions & { unlimited?: Outcome[] }} options unlimited: outcomes without a limit, if they are known
 * @returns {Search<SearchResult>} isFound: false: sidecars do not survive without a limit, that could not be judged, their memory
 *   was not read, a limit could not be judged, or none held
 */
export function* findMemoryFloor({ template, spec, unlimited = [] }) {
  const first =
    unlimited.length > 0
      ? { held: true, why: '', outcomes: unlimited.filter(o => o.held) }
      : yield* tryStep(withMemory(template, null), 0, { by: 'survived' })
  const unchargedBytes = Math.max(...first.outcomes.map(o => o.unchargedBytes))
  const createNoResult = (/** @type {string} */ why) =>
    createSearchResult({ template, looksFor: 'memory', why, unchargedBytes })
  if (!first.held) return createNoResult(`without a limit: ${first.why}`)
  const needed = Math.max(...first.outcomes.map(o => o.peakBytesMost || o.rssBytesMost))
  if (!(needed > 0)) return createNoResult('nobody read how much memory it takes')
  const from = roundUpBytes(needed * 1.1)
  return yield* bisectMemory({ template, spec, unchargedBytes, steps: [], from, most: needed * UNLIMITED_TIMES })
}

/**
 * Continues a search below a limit that held, although a larger one had failed by chance.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & { memory: SearchResult, survived: SearchStep }}
 *   options memory: the result so far; survived: the step below it that held
 * @returns {Search<SearchResult>} isFound: false: a limit could not be judged
 */
export function* findLowerMemoryFloor({ template, spec, memory, survived }) {
  const { unchargedBytes } = memory
  const { value: held } = survived
  const steps = [...memory.steps, survived]
  return yield* bisectMemory({ template, spec, unchargedBytes, steps, from: roundUpBytes(held / 2), most: held, held })
}

/**
 * Bisects a range of memory limits, down to the precision of the search or MEMORY_STEP_BYTES.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & Pick<SearchResult, 'steps' | 'unchargedBytes'> & { from: number,
 *   most: number, held?: number | null }} options steps: those so far, to which it adds; from: bytes of the first try; most: if a
 *   limit above it fails before any holds, the sidecar lacks something else; held: the smallest limit that is known to hold; null (by
 *   default): none is
 * @returns {Search<SearchResult>} isFound: false: a limit could not be judged, or none held
 */
function* bisectMemory({ template, spec, unchargedBytes, steps, from, most, held = null }) {
  const createResult = (/** @type {Pick<SearchResult, 'held' | 'failed' | 'why' | 'isFound'>} */ fields) =>
    createSearchResult({ template, looksFor: 'memory', unchargedBytes, steps, ...fields })
  /** @type {number | null} */
  let failed = null
  for (let bytes = from; ; ) {
    const step = yield* tryStep(withMemory(template, bytes), bytes, { by: 'survived' })
    steps.push(withoutOutcomes(step))
    if (step.held === null) return createResult({ held, failed, why: step.why, isFound: false })
    if (step.held) held = bytes
    else failed = bytes
    // `held` and `failed` are multiples of MEMORY_STEP_BYTES: a wider range has another multiple in it.
    const low = failed ?? 0
    const isNarrow = held !== null && (held / Math.max(1, low) <= 1 + spec.precision || held - low <= MEMORY_STEP_BYTES)
    if (isNarrow) break
    if (held === null && bytes > most) return createResult({ held, failed, why: step.why, isFound: false })
    // Until a limit holds, each try has half as much memory again: doubling would leave twice the range to bisect.
    bytes = held === null ? roundUpBytes(bytes * 1.5) : roundUpBytes((held + low) / 2)
  }
  const why = steps.findLast(s => s.held === false)?.why ?? 'nothing failed'
  return createResult({ held, failed, why, isFound: true })
}

/**
 * Computes the limit to recommend: the smallest that held above all that failed, but at least `held`, plus uncharged file pages.
 * @param {Pick<SearchResult, 'held' | 'steps' | 'unchargedBytes'>} memory
 * @returns {number} bytes, a multiple of MEMORY_STEP_BYTES
 */
export function computeRecommendedBytes({ held, steps, unchargedBytes }) {
  const killed = Math.max(0, ...steps.filter(s => s.held === false).map(s => s.value))
  const safe = steps.filter(s => s.held && s.value > killed).map(s => s.value)
  return roundUpBytes(Math.max(Number(held), safe.length > 0 ? Math.min(...safe) : 0) + (unchargedBytes ?? 0))
}

/**
 * Rounds up to a multiple of MEMORY_STEP_BYTES: whole pages of any kernel, and finer than a search needs.
 * @param {number} bytes
 * @returns {number} bytes
 */
export function roundUpBytes(bytes) {
  return Math.ceil(bytes / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES
}
