import { ERRORS_MOST, findTrialBound, renderFinePercent } from './gate.js'

/** The gates of a loud pair (`--loud`): whether it was loud, and the others got their load. */
/** @import { BoundBy, LoadResult, ProcessRecord, TrialRecord } from '../../model/types.ts' */
/** @import { Gate, GatedRecord } from './gate.js' */

/** @typedef {NonNullable<LoadResult['loud']>} LoudLoad */

// Bounds of the gates below, which have them in words (`finds`). Shares are fractions.
/** The share of its rate from which a loud pair counts as served. */
export const LOUD_LEAST = 0.95
const DUE_LEAST = 0.5
const QUIET_LEAST = 0.5
const QUIET_REQUESTS_LEAST = 20

/** @type {Gate[]} */
export const LOUD_GATES = [
  {
    name: 'not-loud',
    finds:
      'a loud pair (`--loud`) none of whose requests were answered, fewer than half where no proxy was saturated, or no more than those of another pair where one was; nobody counted them',
    isOfLoad: true,
    words: 'no loud pair',
    find: record => {
      const { loudPerSecond } = record.trial.arm.load
      const { loud } = record.load
      if (loudPerSecond === undefined) return []
      if (!loud) return [`--loud ${loudPerSecond}: the generator counted no requests to the loud pair`]
      return [
        !isLoud(record, loud) &&
          `${renderLoudRequests(loud)}: nothing was loud beside the others, which answered ${Math.round(computeQuietRequests(record))} each`,
      ]
    },
  },
  {
    name: 'loud',
    finds:
      'a loud pair (`--loud`) that answered less than 95 % of its requests with no proxy saturated (an application of the kit may be): the others had less beside them than asked',
    isOfLoad: true,
    words: 'loud pair not served',
    spoils: ['latency'],
    find: record => {
      const { loud } = record.load
      return [
        loud !== undefined &&
          isLoud(record, loud) &&
          loud.verified < LOUD_LEAST * loud.due &&
          findLoudPairBound(record) === null &&
          `${renderLoudRequests(loud)}: give a smaller --loud`,
      ]
    },
  },
  {
    // Saturation of the loud pair is intended: the question is how long the others wait for a proxy that serves all.
    name: 'loud-saturated',
    finds:
      'a sidecar of the loud pair (`--loud`), or the one proxy of all pods, that was saturated: how long the others wait then is the answer; it spoils nothing',
    isOfLoad: true,
    words: 'loud pair saturated',
    spoils: [],
    find: record => {
      const { loud } = record.load
      if (loud === undefined) return []
      const bound = findLoudPairBound(record)
      if (bound === null) return []
      const isShared = record.processes.some(process => process.pods && isServingLoudPair(record, process))
      const subject = isShared ? 'the proxy of all pods' : 'the loud pair'
      return [`${subject} was saturated (${bound}): ${renderLoudRequests(loud)}`]
    },
  },
  {
    name: 'loud-errors',
    finds:
      'more than one failed request in a thousand of the loud pair (`--loud`): CPU time that no verified request stands for',
    isOfLoad: true,
    words: 'failing requests of the loud pair',
    spoils: ['cpuPerRequest'],
    find: ({ load: { loud } }) => {
      if (loud?.failed === undefined) return []
      const { failed, failures = [] } = loud
      const answered = loud.verified + failed
      return [
        failed > ERRORS_MOST * answered &&
          `${failed} requests to the loud pair failed (${renderFinePercent(failed / answered)}, at most 0.1 %): ${failures.join('; ') || 'no message'}`,
      ]
    },
  },
  {
    name: 'quiet-pairs',
    finds: 'a pair beside a loud one (`--loud`) that was sent less than half of its share of the requests',
    isOfLoad: true,
    words: 'load not spread over the pairs',
    spoils: ['latency', 'cpuPerRequest'],
    find: ({ load: { loud } }) => {
      const { quiet = [] } = loud ?? {}
      const share = quiet.reduce((sum, count) => sum + count, 0) / quiet.length
      // Pairs with few requests differ by chance.
      if (share < QUIET_REQUESTS_LEAST) return []
      return quiet.map(
        (count, i) =>
          count < QUIET_LEAST * share &&
          `pair ${i + 2} was sent ${count} requests, and its share is ${Math.round(share)}: give more --users`,
      )
    },
  },
]

/**
 * Renders the requests that the loud pair answered, and the failed ones unless they were not counted, as by older kits.
 * @param {LoudLoad} loud
 * @returns {string}
 */
function renderLoudRequests({ due, verified, failed }) {
  const failures = failed === undefined ? '' : `, and ${failed} failed`
  return `the loud pair answered ${verified} of ${due} requests that were due${failures}`
}

/**
 * Says whether the loud pair was loud: it answered at least half of the requests due or, at a saturated proxy, more than another
 * pair.
 * @param {GatedRecord} record
 * @param {LoudLoad} loud
 * @returns {boolean} false also: it answered none
 */
function isLoud(record, { due, verified }) {
  if (verified === 0) return false
  return findLoudPairBound(record) === null ? verified >= DUE_LEAST * due : verified > computeQuietRequests(record)
}

/**
 * Computes how many requests a pair beside the loud one answered, on average.
 * @param {GatedRecord} record
 * @returns {number} the requests of all others together if the arm has one pair
 */
function computeQuietRequests({ load, trial }) {
  return load.verified / Math.max(1, (trial.arm.conditions.pairs ?? 1) - 1)
}

/**
 * Finds what saturated the proxy of the loud pair, or the proxy that serves all pods. The machine and the generator are left
 * out.
 * @param {GatedRecord} record
 * @returns {BoundBy | null} null: nothing, or only the application of the kit
 */
function findLoudPairBound(record) {
  const { processes, generatorCpus, trial } = record
  const bound = findTrialBound({
    processes: processes.filter(p => isServingLoudPair(record, p)),
    generatorCpus,
    // The machine and the generator serve all pairs, so they are no bound of the loud one.
    idleFraction: 1,
    kind: 'open',
    podCpuCores: trial.arm.conditions.podCpuCores,
  })
  return bound === 'rate' || bound === 'application' ? null : bound
}

/**
 * Says whether a process belongs to the loud pair and serves no other pair.
 * @param {Pick<TrialRecord, 'trial'>} record
 * @param {ProcessRecord} process
 * @returns {boolean} false also: no pair is loud
 */
export function isInLoudPair(record, process) {
  return isServingLoudPair(record, process) && !process.pods
}

/**
 * Says whether all overflows of a process were requests to the loud pair, which counts them as failed. For a proxy of all pods
 * this holds if no other request failed: overflows are counted from its start and failed requests in the window, so the numbers
 * cannot be compared.
 * @param {GatedRecord} record
 * @param {ProcessRecord} process
 * @returns {boolean} false also: no pair is loud
 */
export function areOverflowsOfLoudPair(record, process) {
  if (!isServingLoudPair(record, process)) return false
  return !process.pods || (record.load.failed === 0 && (record.load.loud?.failed ?? 0) > 0)
}

/**
 * Splits processes or pods into those of the loud pair and those of the others, with the load of each group. The loud pair is
 * the first one of the link; the others are copies of it.
 * @template {Pick<ProcessRecord, 'copyOf'>} P
 * @param {Pick<TrialRecord, 'trial'> & { load: LoadResult }} record
 * @param {P[]} members
 * @returns {{ members: P[], verified: number, ratePerSecond?: number }[]} the quiet group, then the loud one; one group if no
 *   pair is loud; verified: requests in the window; ratePerSecond: undefined for a closed loop
 */
export function splitLoudPair({ load, trial }, members) {
  const { loudPerSecond, ratePerSecond } = trial.arm.load
  const quiet = { members, verified: load.verified, ratePerSecond }
  if (loudPerSecond === undefined) return [quiet]
  return [
    { ...quiet, members: members.filter(({ copyOf }) => copyOf !== null) },
    {
      members: members.filter(({ copyOf }) => copyOf === null),
      verified: load.loud?.verified ?? 0,
      ratePerSecond: loudPerSecond,
    },
  ]
}

/**
 * Says whether a process belongs to the loud pair, or serves it together with other pairs. Such a process may be saturated.
 * @param {Pick<TrialRecord, 'trial'>} record
 * @param {ProcessRecord} process
 * @returns {boolean} false also: no pair is loud
 */
export function isServingLoudPair({ trial }, { role, copyOf }) {
  return trial.arm.load.loudPerSecond !== undefined && copyOf === null && (role === 'sidecar' || role === 'application')
}
