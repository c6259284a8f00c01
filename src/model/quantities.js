import { summariseValues } from '../lib/stats.js'

/**
 * What the summary of an arm holds, by the names that experiments, claims and tables use. Pure.
 * @import { Quantity, SummaryArm } from './types.ts'
 */

export const MIB = 1024 * 1024

/**
 * @typedef {object} QuantityOf
 * @property {string} label with its unit
 * @property {string} header with the unit that its values are in, for CSV
 * @property {string} definition what it is; reports print this sentence
 * @property {(arm: SummaryArm, service: string | null) => Quantity | null} of service: of its sidecar alone; null: of the arm
 * @property {(value: number) => string} format
 */

const fixed = (/** @type {number} */ digits) => (/** @type {number} */ value) => value.toFixed(digits)
export const mib = (/** @type {number} */ bytes) => (bytes / MIB).toFixed(1)
export const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(0)} %`

const TIMES = { p50: '50', p90: '90', p95: '95', p99: '99', p999: '99.9' }

/**
 * @param {'p50' | 'p90' | 'p95' | 'p99' | 'p999'} name
 * @returns {QuantityOf}
 */
const time = name => ({
  label: `${name.replace('999', '99.9')} ms`,
  header: `${name}Ms`,
  definition: `The time that ${TIMES[name]} % of the requests of the window took at most, from sending to the last byte. In the open loop it is latency at an equal rate; in the closed loop it is the response time at saturation, which follows from the rate and the number of users (Little's law), and is no latency. Given where the rounds together hold ten requests beyond it.`,
  of: arm => (arm.latencyMs ?? arm.responseTimeMs)?.[name] ?? null,
  format: fixed(1),
})

/** @type {Record<string, QuantityOf>} */
export const QUANTITIES = {
  throughput: {
    label: 'requests/s',
    header: 'throughputPerSecond',
    definition:
      'Verified requests per second of those that start in the window: status 200 and the right length, and for one in 50 the right body. It is the capacity of a plane only where the sidecar bound the run.',
    of: arm => arm.throughputPerSecond,
    format: fixed(0),
  },
  capacity: {
    label: 'capacity, requests/s',
    header: 'capacityPerSecond',
    definition:
      'The rate of the closed loop where the sidecar bound the run: it used at least 95 % of its cap, and nothing else was saturated. No value where something else was the limit.',
    of: arm => arm.capacityPerSecond,
    format: fixed(0),
  },
  cpuPerRequest: {
    label: 'CPU per request, µs',
    header: 'cpuPerRequestMicros',
    definition:
      "CPU time of the sidecars' cgroups in the window over the verified requests in it, however often a request passes a sidecar; of one sidecar, its own. Nearly independent of the cap: the first thing to compare.",
    of: (arm, service) =>
      service === null
        ? arm.cpuPerRequestMicros
        : (arm.sidecars.find(s => s.service === service)?.cpuPerRequestMicros ?? null),
    format: fixed(0),
  },
  cpuCores: {
    label: 'CPU cores',
    header: 'cpuCores',
    definition: 'CPU time over wall time in the window, of all sidecars or of one.',
    of: (arm, service) => sumOver(arm, service, s => s.cpuCores),
    format: fixed(3),
  },
  cpuOfCap: {
    label: 'CPU of cap',
    header: 'cpuOfCap',
    definition:
      'CPU cores used over the cap, of the sidecar that used most of its own. 97 to 101 % means that the cap was in force and bound.',
    of: (arm, service) => worstOf(arm, service, s => s.cpuOfCap),
    format: percent,
  },
  throttled: {
    label: 'periods throttled',
    header: 'throttledFraction',
    definition:
      'Scheduler periods (100 ms) in which the sidecar was stopped because its quota was used, over all periods; of the sidecar with the most.',
    of: (arm, service) => worstOf(arm, service, s => s.throttledFraction),
    format: percent,
  },
  p50: time('p50'),
  p90: time('p90'),
  p95: time('p95'),
  p99: time('p99'),
  p999: time('p999'),
  addedP50: {
    label: 'added p50 ms',
    header: 'addedP50Ms',
    definition: 'The p50 of a round less that of the same round without sidecars, at the same rate.',
    of: arm => arm.addedLatencyMs?.p50 ?? null,
    format: fixed(2),
  },
  addedP99: {
    label: 'added p99 ms',
    header: 'addedP99Ms',
    definition: 'The p99 of a round less that of the same round without sidecars, at the same rate.',
    of: arm => arm.addedLatencyMs?.p99 ?? null,
    format: fixed(2),
  },
  rss: {
    label: 'RSS MiB',
    header: 'rssBytes',
    definition:
      'Resident set size of all sidecars right after the window, still under load: anonymous memory and the mapped parts of the program. Compare RSS with RSS, and anonymous memory with anonymous memory.',
    of: (arm, service) => sumOver(arm, service, s => s.memory.rssBytes),
    format: mib,
  },
  anon: {
    label: 'anon MiB',
    header: 'anonBytes',
    definition: "Anonymous memory of the sidecars' cgroups at the end of the window: what the processes allocated.",
    of: (arm, service) => sumOver(arm, service, s => s.memory.anonBytes),
    format: mib,
  },
  peak: {
    label: 'peak MiB',
    header: 'peakBytes',
    definition: "The most memory that the sidecars' cgroups were charged for, from their start.",
    of: (arm, service) => sumOver(arm, service, s => s.memory.peakBytes),
    format: mib,
  },
  startSeconds: {
    label: 'first answer after s',
    header: 'startSeconds',
    definition: 'From the start of the first process to the first answer through all sidecars.',
    of: arm => arm.startSeconds,
    format: fixed(2),
  },
  effectMs: {
    label: 'time to effect ms',
    header: 'effectMs',
    definition:
      "From a change of configuration until a new connection was served by it; the median of the window's changes.",
    of: arm => scaleQuantity(arm.changes?.effectSeconds ?? null, 1000),
    format: fixed(1),
  },
  effectMostMs: {
    label: 'longest time to effect ms',
    header: 'effectMostMs',
    definition: "The longest time to effect of the window's changes.",
    of: arm => scaleQuantity(arm.changes?.effectMostSeconds ?? null, 1000),
    format: fixed(1),
  },
  failedPerChange: {
    label: 'failed requests a change',
    header: 'failedPerChange',
    definition: 'Requests that failed in the window over the changes of configuration in it.',
    of: arm => arm.changes?.failedPerChange ?? null,
    format: fixed(1),
  },
  cpuMillisPerChange: {
    label: 'CPU a change, ms',
    header: 'cpuMillisPerChange',
    definition: 'CPU time of all sidecars more than without changes, over the number of changes.',
    of: arm => arm.changes?.cpuMillisPerChange ?? null,
    format: fixed(1),
  },
  recoverySeconds: {
    label: 'recovered after s',
    header: 'recoverySeconds',
    definition: 'From the end of a burst until requests are answered as before it.',
    of: arm => arm.recoverySeconds,
    format: fixed(1),
  },
}

/** @type {[string, ...string[]]} */
export const QUANTITY_NAMES = /** @type {any} */ (Object.keys(QUANTITIES))

/**
 * The sum over the sidecars of an arm, round by round, or one sidecar's own; the median is that of the sums.
 * @param {SummaryArm} arm
 * @param {string | null} service
 * @param {(sidecar: SummaryArm['sidecars'][0]) => Quantity} pick
 * @returns {Quantity | null}
 */
function sumOver(arm, service, pick) {
  const parts = arm.sidecars.filter(s => service === null || s.service === service).map(pick)
  if (parts.length <= 1) return parts[0] ?? null
  const add = (/** @type {(number | null)[]} */ values) =>
    values.some(v => v === null) ? null : values.reduce((/** @type {number} */ sum, v) => sum + Number(v), 0)
  const values = parts[0].values.map((_, i) => add(parts.map(p => p.values[i])))
  return summariseValues(values)
}

/**
 * @template {Quantity | null} Q
 * @param {Q} quantity
 * @param {number} factor
 * @returns {Q}
 */
export function scaleQuantity(quantity, factor) {
  if (quantity === null) return quantity
  const times = (/** @type {number | null} */ value) => (value === null ? null : value * factor)
  const { median, low, high, values } = quantity
  return /** @type {Q} */ ({ median: times(median), low: times(low), high: times(high), values: values.map(times) })
}

/**
 * Of the sidecar with the most.
 * @param {SummaryArm} arm
 * @param {string | null} service
 * @param {(sidecar: SummaryArm['sidecars'][0]) => Quantity} pick
 * @returns {Quantity | null}
 */
function worstOf(arm, service, pick) {
  const parts = arm.sidecars.filter(s => service === null || s.service === service).map(pick)
  return parts.toSorted((a, b) => (b.median ?? -1) - (a.median ?? -1))[0] ?? null
}
