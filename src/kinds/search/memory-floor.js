import { toLimits } from '../../model/container-limits.js'
import { createSearchResult, tryStep, withMemory, withoutOutcomes } from './step.js'

/** @import { Arm, SearchResult, SearchStep, SizeResult } from '../../model/types.ts' */
/**
 * @import { Limits } from '../../model/container-limits.js'
 * @import { Outcome } from './outcome.js'
 */
/** @import { Search, SearchOptions } from './step.js' */

const MEMORY_STEP_BYTES = 256 * 1024
// A sidecar that fails with more than this multiple of what it took without a limit lacks something else.
const UNLIMITED_TIMES = 4

/**
 * Finds the smallest memory limit under which sidecars survive the load. It tries without a limit first, then from 10
 * % above what that took, by bisection.
 * @param {SearchOptions & { unlimited?: Outcome[] }} options unlimited: outcomes without a limit, if they are known
 * @returns {Search<SearchResult>} isFound: false: sidecars do not survive without a limit, their memory was not read,
 *   a limit could not be judged, or none held
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
  const mostBytes = needed * UNLIMITED_TIMES
  return yield* bisectMemory({
    template,
    spec,
    unchargedBytes,
    steps: [],
    from: roundUp(needed * 1.1),
    most: mostBytes,
  })
}

/**
 * Continues a search below a limit that held, although a larger one had failed by chance.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & { memory: SearchResult, survived: SearchStep }}
 *   options memory: the result so far; survived: the step below it that held
 * @returns {Search<SearchResult>}
 */
export function* findLowerMemoryFloor({ template, spec, memory, survived }) {
  const { unchargedBytes } = memory
  const { value: held } = survived
  const steps = [...memory.steps, survived]
  return yield* bisectMemory({ template, spec, unchargedBytes, steps, from: roundUp(held / 2), most: held, held })
}

/**
 * Bisects a range of memory limits, down to the precision of the search or MEMORY_STEP_BYTES.
 * @param {Pick<SearchOptions, 'template' | 'spec'> & Pick<SearchResult, 'steps' | 'unchargedBytes'> & { from: number,
 *   most: number, held?: number | null }} options from: bytes of the first try; most: if a limit above it fails, the
 *   sidecar lacks something else; held: the smallest limit that is known to hold; null (by default): none is
 * @returns {Search<SearchResult>} isFound: false: a limit could not be judged, or none held
 */
function* bisectMemory({ template, spec, unchargedBytes, steps, from, most, held = null }) {
  const end = (/** @type {{ held: number | null, failed: number | null, why: string, isFound: boolean }} */ result) =>
    createSearchResult({ template, looksFor: 'memory', unchargedBytes, steps, ...result })
  /** @type {number | null} */
  let failed = null
  for (let bytes = from; ; ) {
    const step = yield* tryStep(withMemory(template, bytes), bytes, { by: 'survived' })
    steps.push(withoutOutcomes(step))
    if (step.held === null) return end({ held, failed, why: step.why, isFound: false })
    if (step.held) held = bytes
    else failed = bytes
    // `held` and `failed` are multiples of MEMORY_STEP_BYTES: a wider range has another multiple in it.
    const least = failed ?? 0
    if (held !== null && (held / Math.max(1, least) <= 1 + spec.precision || held - least <= MEMORY_STEP_BYTES)) break
    if (held === null && bytes > most) return end({ held, failed, why: step.why, isFound: false })
    // Until a limit holds, each try has half as much memory again: doubling would leave twice the range to bisect.
    bytes = held === null ? roundUp(bytes * 1.5) : roundUp((held + least) / 2)
  }
  const why = steps.findLast(s => s.held === false)?.why ?? 'nothing failed'
  return end({ held, failed, why, isFound: true })
}

/**
 * Computes the limit to recommend: the smallest that held above all that failed, plus uncharged file pages.
 * @param {Pick<SearchResult, 'held' | 'steps' | 'unchargedBytes'>} memory
 * @returns {number} bytes, a multiple of MEMORY_STEP_BYTES
 */
export function computeRecommendedBytes({ held, steps, unchargedBytes }) {
  const killed = Math.max(0, ...steps.filter(s => s.held === false).map(s => s.value))
  const safe = steps.filter(s => s.held && s.value > killed).map(s => s.value)
  return roundUp(Math.max(Number(held), safe.length > 0 ? Math.min(...safe) : 0) + (unchargedBytes ?? 0))
}

/**
 * Computes the limits that were found, in whole units, rounded up.
 * @param {Pick<SizeResult, 'cpu' | 'memory' | 'neighbourCores'>} size
 * @returns {Limits | null} beside a neighbour, the CPU is a request; null: no CPU limit or no memory limit was found
 */
export function computeLimitsFound({ cpu, memory, neighbourCores }) {
  if (!cpu.isFound || cpu.held === null || !memory?.isFound) return null
  const limits = toLimits({ cores: cpu.held, bytes: computeRecommendedBytes(memory) })
  return neighbourCores === undefined ? limits : { ...limits, isRequest: true }
}

/**
 * Rounds up to a multiple of MEMORY_STEP_BYTES: the kernel counts a limit in whole pages.
 * @param {number} bytes
 * @returns {number} bytes
 */
export function roundUp(bytes) {
  return Math.ceil(bytes / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES
}
