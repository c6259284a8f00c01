import { isSpoiled } from './gates.js'

/**
 * What is measured of a trial, each once. Pure.
 * @import { Load, ProcessRecord, TrialRecord, Use } from '../model/types.ts'
 */

const TAIL_REQUESTS = 10
/** So many requests a window needs for its p99: ten beyond it, and a few more for those that are not verified. */
export const P99_REQUESTS = 1050

/** The quantiles that are reported, by name. */
export const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 }

/**
 * A quantity that planes are compared by.
 * @typedef {object} Measure
 * @property {string} name as in `--threshold`
 * @property {Use} use what a gate must not have spoiled
 * @property {boolean} isPerService whether a service's sidecar has it too: `name@service`
 * @property {Load['kind'][]} kinds the loads that show it
 * @property {string} less how a plane does that has less of it, with a gap for the share
 * @property {string} more
 * @property {string} label
 * @property {(record: TrialRecord, service: string | null) => number | null} measure
 */

/** The first is the primary quantity. @type {Measure[]} */
export const MEASURES = [
  {
    name: 'cpuPerRequest',
    use: 'cpuPerRequest',
    isPerService: true,
    kinds: ['closed', 'open'],
    less: 'uses % less CPU per request',
    more: 'uses % more CPU per request',
    label: 'CPU per request',
    measure: (record, service) => cpuPerRequestMicros(record, sidecarsOf(record, service)),
  },
  {
    name: 'capacity',
    use: 'capacity',
    isPerService: false,
    kinds: ['closed'],
    less: 'has % less capacity',
    more: 'has % more capacity',
    label: 'capacity',
    measure: capacityPerSecond,
  },
  ...['p50', 'p90', 'p99'].map(
    name =>
      /** @type {Measure} */ ({
        name,
        use: 'latency',
        isPerService: false,
        kinds: ['open'],
        less: `has a % lower ${name}`,
        more: `has a % higher ${name}`,
        label: `${name} at this rate`,
        measure: record => quantileMs(record, QUANTILES[/** @type {'p50'} */ (name)]),
      }),
  ),
  memory('rss', 'rssBytes', 'resident memory'),
  memory('anon', 'anonBytes', 'anonymous memory'),
  {
    name: 'startSeconds',
    use: 'memory',
    isPerService: false,
    kinds: ['closed', 'open', 'idle'],
    less: 'gives its first answer % sooner',
    more: 'gives its first answer % later',
    label: 'time to the first answer',
    measure: startSeconds,
  },
  {
    name: 'cpuCores',
    use: 'memory',
    isPerService: true,
    kinds: ['idle'],
    less: 'uses % less CPU',
    more: 'uses % more CPU',
    label: 'CPU',
    measure: (record, service) => sumCores(sidecarsOf(record, service)) || null,
  },
]

/**
 * The value of a round: of its first trial that is good for a use.
 * @param {TrialRecord[]} trials of one arm in one round
 * @param {Use} use
 * @param {(record: TrialRecord) => number | null} measure
 */
export function valueOfRound(trials, use, measure) {
  const values = trials
    .filter(r => r.outcome !== 'failed' && !isSpoiled(r, use))
    .map(measure)
    .filter(value => value !== null && Number.isFinite(value))
  return values[0] ?? null
}

/**
 * @param {TrialRecord} record
 * @param {string | null} [service] null: of all
 */
export function sidecarsOf({ processes }, service = null) {
  return processes.filter(p => p.role === 'sidecar' && (service === null || p.service === service))
}

/** @param {TrialRecord} record */
export function ratePerSecond({ load, window }) {
  return load && window ? load.verified / window.seconds : null
}

/**
 * The rate where a closed loop was bound by the sidecar; null where it was not.
 * @param {TrialRecord} record
 */
export function capacityPerSecond(record) {
  return record.boundBy === 'sidecar' && record.trial.arm.load.kind === 'closed' ? ratePerSecond(record) : null
}

/**
 * From the start of the first process to the first answer, through all sidecars.
 * @param {TrialRecord} record
 */
export function startSeconds({ phasesSeconds, trial }) {
  return !trial.arm.hasSidecars ? null : (phasesSeconds.start ?? null)
}

/** @param {ProcessRecord[]} processes */
export function sumCores(processes) {
  return processes.reduce((sum, p) => sum + p.cpuCores, 0)
}

/**
 * CPU time in the window over verified requests in it: both as rates, each by its own clock.
 * @param {TrialRecord} record
 * @param {ProcessRecord[]} processes
 */
export function cpuPerRequestMicros(record, processes) {
  const rate = ratePerSecond(record)
  return rate && processes.length > 0 ? (1e6 * sumCores(processes)) / rate : null
}

/**
 * @param {TrialRecord} record
 * @param {number} q
 */
export function quantileMs({ load }, q) {
  return load?.distribution?.grid.find(([at]) => Math.abs(at - q) < 1e-9)?.[1] ?? null
}

/**
 * Whether so many requests have a quantile: ten of them must be beyond it.
 * @param {number} requests
 * @param {number} q
 */
export function hasTail(requests, q) {
  return q < 1 && requests >= TAIL_REQUESTS / (1 - q)
}

/**
 * @param {string} name
 * @param {'rssBytes' | 'anonBytes'} field
 * @param {string} label
 * @returns {Measure}
 */
function memory(name, field, label) {
  return {
    name,
    use: 'memory',
    isPerService: true,
    kinds: ['closed', 'open', 'idle'],
    less: `uses % less ${label}`,
    more: `uses % more ${label}`,
    label,
    measure: (record, service) => {
      const values = sidecarsOf(record, service).map(p => p.memory[field])
      return values.length === 0 || values.includes(null) ? null : values.reduce((sum, v) => Number(sum) + Number(v), 0)
    },
  }
}
