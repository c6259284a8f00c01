import { medianSorted } from 'simple-statistics'
import { countDroppedRequests } from '../../judge/gates/load.js'
import { findRoundValue, listSidecars, sumValues } from '../../judge/record/measures.js'
import { createRowFactory } from '../../judge/record/quantity-row.js'
import { MIB } from '../../lib/units.js'

/** Quantities of configuration changes under load, idle pairs, loud pairs, bursts, and sidecars that end. Pure. */
/** @import { LoadPoint, ProcessRecord, TrialRecord } from '../../model/types.ts' */
/** @import { QuantityRow } from '../../judge/record/quantity-row.js' */

const createChangeRow = createRowFactory({ group: 'changes', unit: 'ms', digits: 1, use: 'memory' })
// A p99 has recovered when it is at most P99_TIMES_MOST times the highest before the burst, or, since a scheduler can add so much, at
// most P99_ADDED_MOST_MS over the lowest.
const P99_TIMES_MOST = 2
const P99_ADDED_MOST_MS = 5
// Half seconds with less than this share of the due requests have not recovered: some requests still waited for a free user.
const RECOVERED_RATE_LEAST = 0.95

/** @type {QuantityRow[]} */
export const CHANGE_ROWS = [
  {
    ...createChangeRow('effectMs', 'time to effect ms'),
    definition:
      "From the commit of a change of configuration until a new connection was served by it; the median of the window's changes.",
    measure({ record }) {
      const effects = listEffectsMs(record)
      return effects && medianSorted(effects)
    },
  },
  {
    ...createChangeRow('effectMostMs', 'longest time to effect ms'),
    definition: "The longest time to effect of the window's changes.",
    measure: ({ record }) => listEffectsMs(record)?.at(-1) ?? null,
  },
  {
    ...createChangeRow('failedPerChange', 'failed requests a change'),
    unit: 'requests',
    definition: 'Requests that failed in the window over the changes of configuration in it.',
    measure: ({ record: { load, changes } }) => (load && changes?.length ? load.failed / changes.length : null),
  },
  {
    ...createChangeRow('cpuMillisPerChange', 'CPU a change, ms'),
    definition: 'CPU time of all sidecars minus that of the arm without changes, over the number of changes.',
    measure: ({ record, unchanged }) => computeCpuMillisPerChange(record, unchanged ?? []),
  },
]

const createPairRow = createRowFactory({ group: 'pairs', unit: 'MiB', digits: 1, use: 'memory' })

/** @type {QuantityRow[]} */
export const PAIR_ROWS = [
  {
    ...createPairRow('pairMillicores', 'mCPU a pair'),
    unit: 'thousandths of a core',
    digits: 2,
    use: 'cpuPerRequest',
    definition: 'Without a load: CPU of all sidecars over the number of pairs, in thousandths of a core.',
    measure: ({ record }) => computeMeanPerPair(record, p => 1000 * p.cpuCores),
  },
  {
    ...createPairRow('pairPss', 'PSS MiB a pair', 'pairPssBytes'),
    scale: MIB,
    definition:
      'Without a load: PSS of all sidecars over the number of pairs. Pages of the program that all share are counted once.',
    measure: ({ record }) => computeMeanPerPair(record, p => p.memory.pssBytes),
  },
]

const createLoudRow = createRowFactory({ group: 'loud', unit: 'requests/s', digits: 0, use: 'throughput' })

/** @type {QuantityRow[]} */
export const LOUD_ROWS = [
  {
    ...createLoudRow('loudThroughput', 'requests/s of the loud pair', 'loudThroughputPerSecond'),
    short: 'loud req/s',
    definition:
      'Verified requests per second to the loud pair (`--loud`), which no throughput and no latency of the others counts.',
    measure: ({ record: { load, window } }) => (load?.loud && window ? load.loud.verified / window.seconds : null),
  },
  {
    ...createLoudRow('loudFailed', 'failed requests of the loud pair', 'loudFailedFraction'),
    short: 'loud failed',
    unit: '%',
    scale: 0.01,
    digits: 1,
    definition:
      'Requests to the loud pair that failed, over all that were sent to it in the window. Those that found no free user were not sent.',
    measure: ({ record: { load } }) => computeLoudFailedFraction(load),
  },
]

const createBurstRow = createRowFactory({ group: 'burst', unit: 'requests', digits: 0, use: 'throughput' })

/** @type {QuantityRow[]} */
export const BURST_ROWS = [
  {
    ...createBurstRow('burstDue', 'due in the burst', 'burstDueRequests'),
    definition: 'Requests that were due in the burst: its rate times its length.',
    measure: ({ record }) => record.load?.burst?.due ?? null,
  },
  {
    ...createBurstRow('burstServed', 'served of them', 'burstServedRequests'),
    definition: 'Requests that started in the burst and were answered rightly, however late.',
    measure: ({ record }) => record.load?.burst?.verified ?? null,
  },
  {
    ...createBurstRow('burstDropped', 'dropped of them', 'burstDroppedRequests'),
    definition: 'Requests that were due in the burst and never started, for no user was free to send them.',
    measure: ({ record }) => countBurstDrops(record),
  },
  {
    ...createBurstRow('burstP99', 'p99 in the burst ms', 'burstP99Ms'),
    unit: 'ms',
    digits: 1,
    definition:
      'The time that 99 % of the requests that started in the burst took at most. Dropped requests have none: compare it only between planes that dropped alike.',
    use: 'latency',
    measure: ({ record }) => record.load?.burst?.p99Ms ?? null,
  },
  {
    name: 'recoverySeconds',
    header: 'recoverySeconds',
    label: 'recovered after s',
    unit: 's',
    digits: 1,
    definition:
      'From the end of a burst until requests are answered as before it, but for single half seconds. A trial that never recovers counts as the rest of its window.',
    use: 'latency',
    measure: ({ record }) => computeRecoverySeconds(record),
  },
]

const createEndingRow = createRowFactory({ group: 'ending', unit: 'ms', scale: 0.001, digits: 0, use: 'memory' })

/** @type {QuantityRow[]} */
export const ENDING_ROWS = [
  {
    ...createEndingRow('lostRequests', 'requests lost'),
    unit: 'requests',
    scale: 1,
    digits: 1,
    definition:
      'Requests that failed, or found no free user, in a window in which a sidecar ended and its successor started.',
    measure: ({ record }) => (record.ending ? countLostRequests(record) : null),
  },
  {
    ...createEndingRow('goneMs', 'gone after ms', 'goneSeconds'),
    definition:
      'From the first step to the end of a sidecar until its process was gone. No value where it had to be killed.',
    measure: ({ record: { ending } }) => ending?.goneSeconds ?? null,
  },
  {
    ...createEndingRow('successorMs', 'successor answers after ms', 'answerSeconds'),
    definition:
      'From the start of the process that follows a sidecar under load until it answers a new connection, with its handshake.',
    measure: ({ record: { ending } }) => ending?.answerSeconds ?? null,
  },
]

/**
 * Computes the sum of a value over all sidecars, divided by the number of pairs.
 * @param {TrialRecord} record
 * @param {(p: ProcessRecord) => number | null} readValue null: the sidecar has none
 * @returns {number | null} null: there are no pairs, no sidecars, or one has no value
 */
function computeMeanPerPair(record, readValue) {
  const { pairs } = record.trial.arm.conditions
  const sum = sumValues(listSidecars(record), readValue)
  return pairs === undefined || sum === null ? null : sum / pairs
}

/**
 * Computes the failed share of the loud pair's requests.
 * @param {TrialRecord['load']} load
 * @returns {number | null} a fraction; null: there is no loud pair, none was sent, or failed ones were not counted
 */
function computeLoudFailedFraction(load) {
  const { verified = 0, failed } = load?.loud ?? {}
  return failed !== undefined && verified + failed > 0 ? failed / (verified + failed) : null
}

/**
 * Computes the CPU time that a change takes, beyond that of the same round without changes.
 * @param {TrialRecord} record
 * @param {TrialRecord[]} unchanged records of the arm without changes
 * @returns {number | null} milliseconds, negative if the round without changes took more; null: there are no changes, no window or
 *   no sidecars, or no such round is good for memory
 */
function computeCpuMillisPerChange(record, unchanged) {
  const { changes, window } = record
  if (!window || !changes?.length) return null
  const cores = sumSidecarCores(record)
  const coresWithout = findRoundValue(unchanged, 'memory', sumSidecarCores)
  if (cores === null || coresWithout === null) return null
  return (1000 * (cores - coresWithout) * window.seconds) / changes.length
}

/**
 * Lists the times to effect of the window's changes.
 * @param {TrialRecord} record
 * @returns {number[] | null} milliseconds, rising; null: there are no changes, or one took no effect
 */
function listEffectsMs({ changes }) {
  const effects = (changes ?? []).map(c => c.effectSeconds)
  if (effects.length === 0 || effects.includes(null)) return null
  return effects.map(seconds => 1000 * Number(seconds)).sort((a, b) => a - b)
}

/** Sums the CPU use of all sidecars. @param {TrialRecord} record @returns {number | null} cores; null: there are no sidecars */
function sumSidecarCores(record) {
  return sumValues(listSidecars(record), p => p.cpuCores)
}

/**
 * Counts the requests of a window with an ending that failed, or found no free user.
 * @param {TrialRecord} record
 * @returns {number | null} null: there was no load
 */
function countLostRequests(record) {
  if (!record.load) return null
  const measured = /** @type {import('../../judge/gates/gate.js').GatedRecord} */ (record)
  return record.load.failed + countDroppedRequests(measured, 0)
}

/**
 * Counts the requests that were due in a burst and never started, at most all that were dropped.
 * @param {Pick<TrialRecord, 'load'>} record
 * @returns {number | null} null: there was no load or no burst, or its requests were not counted, as by older kits
 */
function countBurstDrops({ load }) {
  if (!load?.burst) return null
  const { due, verified, failed } = load.burst
  return Math.min(load.dropped, Math.max(0, due - verified - failed))
}

/**
 * Computes the time from a burst's end to recovery; without recovery, to the end of the window.
 * @param {Pick<TrialRecord, 'trial' | 'load'>} record
 * @returns {number | null} seconds; null: there is no burst, no load with a series, or no p99 before the burst; in records of
 *   older kits also: no recovery
 */
function computeRecoverySeconds({ trial, load }) {
  const { burst, ratePerSecond = 0 } = trial.arm.load
  const series = load?.series ?? null
  if (burst === null || series === null) return null
  const before = series.filter(point => point.atSeconds + point.seconds <= burst.beginsSeconds)
  const p99sBefore = before.flatMap(({ p99Ms }) => p99Ms ?? [])
  if (p99sBefore.length === 0) return null
  const limitMs = Math.max(P99_TIMES_MOST * Math.max(...p99sBefore), Math.min(...p99sBefore) + P99_ADDED_MOST_MS)
  const isAsBefore = (/** @type {LoadPoint} */ { count, seconds, p99Ms }) =>
    p99Ms !== null && p99Ms <= limitMs && count >= RECOVERED_RATE_LEAST * ratePerSecond * seconds
  const endSeconds = burst.beginsSeconds + burst.seconds
  const after = series.filter(({ atSeconds }) => atSeconds >= endSeconds)
  const areBad = after.map(point => !isAsBefore(point))
  // Records of older versions have no counts of the burst: keep the rule by which their numbers were published.
  if (!load?.burst) {
    const recovered = after[areBad.lastIndexOf(true) + 1]
    return recovered ? recovered.atSeconds - endSeconds : null
  }
  // The p99 of half a second is its slowest request: only two bad half seconds in a row delay the recovery, or a bad one right after
  // the burst, whose requests still wait.
  const lastBad = areBad.findLastIndex((isBad, i) => isBad && (areBad[i - 1] ?? true))
  const secondsAfter = after.reduce((sum, { seconds }) => sum + seconds, 0)
  const recoveredAtSeconds = after[lastBad + 1]?.atSeconds ?? endSeconds + secondsAfter
  return recoveredAtSeconds - endSeconds
}
