import { medianSorted } from 'simple-statistics'
import { countDroppedRequests } from '../../judge/gates/load.js'
import { createRowFactory, findRoundValue, listSidecars, sumValues } from '../../judge/record/measures.js'
import { MIB } from '../../lib/units.js'

/** Quantities of configuration changes under load, idle pairs, loud pairs, bursts, and sidecars that end. Pure. */
/** @import { LoadPoint, ProcessRecord, TrialRecord } from '../../model/types.ts' */
/** @import { QuantityRow } from '../../judge/record/quantity-row.js' */

const milliseconds = createRowFactory({ group: 'changes', unit: 'ms', digits: 1, use: 'memory' })
// A p99 has recovered when it is at most twice the highest before, or at most 5 ms, which a scheduler can add, over the lowest.
const TIMES_MOST = 2
const MORE_MOST_MS = 5
// Half seconds with less than this share of the due requests have not recovered: some requests still waited for a free user.
const RATE_LEAST = 0.95

/** @type {QuantityRow[]} */
export const CHANGE_ROWS = [
  {
    ...milliseconds('effectMs', 'time to effect ms'),
    definition:
      "From the commit of a change of configuration until a new connection was served by it; the median of the window's changes.",
    measure({ record }) {
      const effects = listEffectsMs(record)
      return effects && medianSorted(effects)
    },
  },
  {
    ...milliseconds('effectMostMs', 'longest time to effect ms'),
    definition: "The longest time to effect of the window's changes.",
    measure: ({ record }) => listEffectsMs(record)?.at(-1) ?? null,
  },
  {
    ...milliseconds('failedPerChange', 'failed requests a change'),
    unit: 'requests',
    definition: 'Requests that failed in the window over the changes of configuration in it.',
    measure: ({ record: { load, changes } }) => (load && changes?.length ? load.failed / changes.length : null),
  },
  {
    ...milliseconds('cpuMillisPerChange', 'CPU a change, ms'),
    definition: 'CPU time of all sidecars minus that of the arm without changes, over the number of changes.',
    measure: ({ record, unchanged }) => computeCpuMillisPerChange(record, unchanged ?? []),
  },
]

/** @type {QuantityRow[]} */
export const PAIR_ROWS = [
  {
    ...createRowFactory({ group: 'pairs', unit: 'thousandths of a core', digits: 2, use: 'cpuPerRequest' })(
      'pairMillicores',
      'mCPU a pair',
    ),
    definition: 'Without a load: CPU of all sidecars over the number of pairs, in thousandths of a core.',
    measure: ({ record }) => sumPerPair(record, p => 1000 * p.cpuCores),
  },
  {
    ...createRowFactory({ group: 'pairs', unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })(
      'pairPss',
      'PSS MiB a pair',
      'pairPssBytes',
    ),
    definition:
      'Without a load: PSS of all sidecars over the number of pairs. Pages of the program that all share are counted once.',
    measure: ({ record }) => sumPerPair(record, p => p.memory.pssBytes),
  },
]

const ofLoud = createRowFactory({ group: 'loud', unit: 'requests/s', digits: 0, use: 'throughput' })

/** @type {QuantityRow[]} */
export const LOUD_ROWS = [
  {
    ...ofLoud('loudThroughput', 'requests/s of the loud pair', 'loudThroughputPerSecond'),
    short: 'loud req/s',
    definition:
      'Verified requests per second to the loud pair (`--loud`), which no throughput and no latency of the others counts.',
    measure: ({ record: { load, window } }) => (load?.loud && window ? load.loud.verified / window.seconds : null),
  },
  {
    ...ofLoud('loudFailed', 'failed requests of the loud pair', 'loudFailedFraction'),
    short: 'loud failed',
    unit: '%',
    scale: 0.01,
    digits: 1,
    definition:
      'Requests to the loud pair that failed, over all that were sent to it in the window. Those that found no free user were not sent.',
    measure: ({ record: { load } }) => computeLoudFailedFraction(load),
  },
]

const ofBurst = createRowFactory({ group: 'burst', unit: 'requests', digits: 0, use: 'throughput' })

/** @type {QuantityRow[]} */
export const BURST_ROWS = [
  {
    ...ofBurst('burstDue', 'due in the burst', 'burstDueRequests'),
    definition: 'Requests that were due in the burst: its rate times its length.',
    measure: ({ record }) => record.load?.burst?.due ?? null,
  },
  {
    ...ofBurst('burstServed', 'served of them', 'burstServedRequests'),
    definition: 'Requests that started in the burst and were answered rightly, however late.',
    measure: ({ record }) => record.load?.burst?.verified ?? null,
  },
  {
    ...ofBurst('burstDropped', 'dropped of them', 'burstDroppedRequests'),
    definition: 'Requests that were due in the burst and never started, for no user was free to send them.',
    measure: ({ record }) => countBurstDrops(record),
  },
  {
    ...ofBurst('burstP99', 'p99 in the burst ms', 'burstP99Ms'),
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

const ofEnding = createRowFactory({ group: 'ending', unit: 'ms', scale: 0.001, digits: 0, use: 'memory' })

/** @type {QuantityRow[]} */
export const ENDING_ROWS = [
  {
    ...createRowFactory({ group: 'ending', unit: 'requests', digits: 1, use: 'memory' })(
      'lostRequests',
      'requests lost',
    ),
    definition:
      'Requests that failed, or found no free user, in a window in which a sidecar ended and its successor started.',
    measure: ({ record }) =>
      record.load && record.ending
        ? record.load.failed +
          countDroppedRequests(/** @type {import('../../judge/gates/gate.js').Measured} */ (record), 0)
        : null,
  },
  {
    ...ofEnding('goneMs', 'gone after ms', 'goneSeconds'),
    definition:
      'From the first step to the end of a sidecar until its process was gone. No value where it had to be killed.',
    measure: ({ record: { ending } }) => ending?.goneSeconds ?? null,
  },
  {
    ...ofEnding('successorMs', 'successor answers after ms', 'answerSeconds'),
    definition:
      'From the start of the process that follows a sidecar under load until it answers a new connection, with its handshake.',
    measure: ({ record: { ending } }) => ending?.answerSeconds ?? null,
  },
]

/**
 * Sums a value over all sidecars, and divides the sum by the number of pairs.
 * @param {TrialRecord} record
 * @param {(p: ProcessRecord) => number | null} measure gives the value of a sidecar; null: unknown
 * @returns {number | null} null: there are no pairs, no sidecars, or one has no value
 */
function sumPerPair(record, measure) {
  const { pairs } = record.trial.arm.conditions
  const sum = sumValues(listSidecars(record), measure)
  return pairs === undefined || sum === null ? null : sum / pairs
}

/**
 * Computes the failed share of the loud pair's requests.
 * @param {TrialRecord['load']} load
 * @returns {number | null} a fraction; null: none was sent, or failed ones were not counted
 */
function computeLoudFailedFraction(load) {
  const { verified = 0, failed } = load?.loud ?? {}
  return failed !== undefined && verified + failed > 0 ? failed / (verified + failed) : null
}

/**
 * Computes the CPU time that a change takes, beyond that of the same round without changes.
 * @param {TrialRecord} record
 * @param {TrialRecord[]} unchanged records of the arm without changes
 * @returns {number | null} milliseconds, negative if the round without changes took more; null: there are no changes,
 *   or no such round
 */
function computeCpuMillisPerChange(record, unchanged) {
  const { changes, window } = record
  const [cores, without] = [sumSidecarCores(record), findRoundValue(unchanged, 'memory', sumSidecarCores)]
  if (cores === null || without === null || !window || !changes?.length) return null
  return (1000 * (cores - without) * window.seconds) / changes.length
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

/** Sums the CPU use of all sidecars. @param {TrialRecord} record @returns {number | null} cores; null: one has no value */
function sumSidecarCores(record) {
  return sumValues(listSidecars(record), p => p.cpuCores)
}

/**
 * Counts the requests that were due in a burst and never started, at most all that were dropped.
 * @param {Pick<TrialRecord, 'load'>} record
 * @returns {number | null} null: there was no burst
 */
function countBurstDrops({ load }) {
  if (!load?.burst) return null
  const { due, verified, failed } = load.burst
  return Math.min(load.dropped, Math.max(0, due - verified - failed))
}

/**
 * Computes the time from a burst's end to recovery; without recovery, to the end of the window.
 * @param {Pick<TrialRecord, 'trial' | 'load'>} record
 * @returns {number | null} seconds; null: there is no burst, no series, or no p99 before the burst; in records of
 *   older kits also: no recovery
 */
function computeRecoverySeconds({ trial, load }) {
  const { burst, ratePerSecond = 0 } = trial.arm.load
  const series = load?.series ?? null
  if (burst === null || series === null) return null
  const before = series.filter(p => p.atSeconds + p.seconds <= burst.beginsSeconds).flatMap(p => p.p99Ms ?? [])
  if (before.length === 0) return null
  const limitMs = Math.max(TIMES_MOST * Math.max(...before), Math.min(...before) + MORE_MOST_MS)
  const endSeconds = burst.beginsSeconds + burst.seconds
  const isAsBefore = (/** @type {LoadPoint} */ { count, seconds, p99Ms }) =>
    p99Ms !== null && p99Ms <= limitMs && count >= RATE_LEAST * ratePerSecond * seconds
  const after = series.filter(p => p.atSeconds >= endSeconds)
  const isBad = after.map(p => !isAsBefore(p))
  // Records of older versions have no counts of the burst: keep the rule by which their numbers were published.
  if (!load?.burst) {
    const recovered = after[isBad.lastIndexOf(true) + 1]
    return recovered ? recovered.atSeconds - endSeconds : null
  }
  // The p99 of half a second is its slowest request: only two bad half seconds in a row delay the recovery, or one right after the
  // burst, which goes on in it.
  const lastBad = isBad.findLastIndex((bad, i) => bad && (isBad[i - 1] ?? true))
  const first = after[lastBad + 1] ?? { atSeconds: endSeconds + after.reduce((sum, p) => sum + p.seconds, 0) }
  return first.atSeconds - endSeconds
}
