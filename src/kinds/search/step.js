import { P99_REQUESTS } from '../../judge/record/measures.js'
import { pickPlaneChoice } from '../../model/arms.js'
import { computeUsersLeast } from '../../model/requests.js'

/** Parts of all searches: one step, an arm at another value, and the result. Pure. */
/** @import { Arm, SearchResult, SearchSpec, SearchStep } from '../../model/types.ts' */
/** @import { Outcome } from './outcome.js' */

// The number of trials that must agree.
const WINS = 2
// Other users of a shared machine may spoil one trial in three: a step with this many spoiled trials is not judged.
const SPOILED_MOST = 6

/** @typedef {SearchStep & { outcomes: Outcome[] }} TriedStep */
/**
 * A search yields the arm to try next, is sent the outcome of its trial, and returns its result.
 * @template T
 * @typedef {Generator<Arm, T, Outcome>} Search
 */
/** @typedef {{ template: Arm, spec: SearchSpec, cpus: number }} SearchOptions cpus: of the machine */

/**
 * Tries an arm until it has held or failed `wins` times, failed clearly, or been spoiled SPOILED_MOST times.
 * @param {Arm} arm
 * @param {number} value of the arm on the searched axis, for the result
 * @param {{ by?: 'held' | 'survived', wins?: number }} [options] by: the field of outcomes that decides; `survived`: only the memory
 *   counts
 * @returns {Search<TriedStep>} held: null: it was spoiled too often
 */
export function* tryStep(arm, value, { by = 'held', wins = WINS } = {}) {
  /** @type {Outcome[]} */
  const outcomes = []
  const countOutcomes = (/** @type {boolean | null} */ held) => outcomes.filter(o => o[by] === held).length
  for (;;) {
    const outcome = yield arm
    outcomes.push(outcome)
    const held = outcome[by]
    const isFailed = held === false && (outcome.isClear || countOutcomes(false) === wins)
    if (!isFailed && held !== null && countOutcomes(true) < wins) continue
    if (held === null && countOutcomes(null) < SPOILED_MOST) continue
    const why = by === 'survived' && held ? 'survived' : outcome.why
    return { value, held: isFailed ? false : held, why, trials: outcomes.map(o => o.trial), outcomes }
  }
}

/**
 * Copies a step without its outcomes, which a result does not record.
 * @param {TriedStep} step
 * @returns {SearchStep}
 */
export function withoutOutcomes({ value, held, why, trials }) {
  return { value, held, why, trials }
}

/**
 * Creates the result of a search; by default, nothing was found.
 * @param {Pick<SearchResult, 'looksFor'> & Partial<SearchResult> & { template: Arm }} options fields of the result
 * @returns {SearchResult} isFound: also false if no value held
 */
export function createSearchResult({ template, looksFor, held = null, isFound = false, ...fields }) {
  const unit = /** @type {const} */ ({ knee: 'requests/s', cpu: 'cores', memory: 'bytes' })[looksFor]
  return {
    ...pickPlaneChoice(template),
    link: template.link,
    looksFor,
    unit,
    held,
    failed: null,
    why: '',
    isFound: isFound && held !== null,
    steps: [],
    unchargedBytes: null,
    ...fields,
  }
}

/**
 * Creates an open-loop arm at a rate, with enough users for slow answers, and a window that is long enough for a p99; its id names the
 * rate.
 * @type {(arm: Arm, ratePerSecond: number) => Arm}
 */
export const withRate = (arm, ratePerSecond) => ({
  ...arm,
  id: `${arm.id}@${ratePerSecond}rps`,
  load: {
    ...arm.load,
    kind: 'open',
    ratePerSecond,
    // A slow application has more requests under way: with too few users, these would bound the rate.
    users: Math.max(arm.load.users, computeUsersLeast(arm.load, ratePerSecond)),
    windowSeconds: Math.max(arm.load.windowSeconds, P99_REQUESTS / ratePerSecond),
  },
})

/**
 * Says whether the CPU of an arm is a request without a limit: beside a neighbour, on a full node.
 * @param {Pick<Arm, 'conditions'>} arm
 */
export const hasOnlyCpuRequest = ({ conditions }) => conditions.neighbourCores !== undefined

/**
 * Reads the CPU of an arm: its limit, or its request beside a neighbour.
 * @param {Arm} arm
 * @returns {number | null} cores; null: it has none
 */
export const readCpuCores = arm =>
  hasOnlyCpuRequest(arm) ? (arm.conditions.cpuRequestCores ?? null) : arm.cpuLimitCores

/**
 * Creates an arm with a CPU limit, or beside a neighbour with a CPU request; its id names the cores.
 * @type {(arm: Arm, cores: number) => Arm}
 */
export const withCpu = (arm, cores) =>
  hasOnlyCpuRequest(arm)
    ? {
        ...arm,
        id: `${arm.id}@${cores}requested`,
        cpuLimitCores: null,
        conditions: { ...arm.conditions, cpuRequestCores: cores },
      }
    : { ...arm, id: `${arm.id}@${cores}cores`, cpuLimitCores: cores }

/**
 * Creates an arm with a memory limit, or without one (null); its id names the limit.
 * @type {(arm: Arm, memoryLimitBytes: number | null) => Arm}
 */
export const withMemory = (arm, memoryLimitBytes) => ({
  ...arm,
  id: `${arm.id}@${memoryLimitBytes === null ? 'unlimited' : `${Math.round(memoryLimitBytes / 1024)}KiB`}`,
  conditions: { ...arm.conditions, memoryLimitBytes },
})
