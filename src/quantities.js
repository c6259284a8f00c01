import { summariseValues } from './stats.js'

/**
 * What the summary of an arm holds, by the names that experiments, claims and tables use. Pure.
 * @import { Quantity, SummaryArm } from './types.ts'
 */

export const MIB = 1024 * 1024

/**
 * @typedef {object} QuantityOf
 * @property {string} label with its unit
 * @property {(arm: SummaryArm, service: string | null) => Quantity | null} of service: of its sidecar alone; null: of the arm
 * @property {(value: number) => string} format
 */

const fixed = (/** @type {number} */ digits) => (/** @type {number} */ value) => value.toFixed(digits)
export const mib = (/** @type {number} */ bytes) => (bytes / MIB).toFixed(1)
export const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(0)} %`

/**
 * @param {'p50' | 'p90' | 'p95' | 'p99' | 'p999'} name
 * @returns {QuantityOf}
 */
const time = name => ({
  label: `${name.replace('999', '99.9')} ms`,
  of: arm => (arm.latencyMs ?? arm.responseTimeMs)?.[name] ?? null,
  format: fixed(1),
})

/** @type {Record<string, QuantityOf>} */
export const QUANTITIES = {
  throughput: { label: 'requests/s', of: arm => arm.throughputPerSecond, format: fixed(0) },
  capacity: { label: 'capacity, requests/s', of: arm => arm.capacityPerSecond, format: fixed(0) },
  cpuPerRequest: {
    label: 'CPU per request, µs',
    of: (arm, service) =>
      service === null
        ? arm.cpuPerRequestMicros
        : (arm.sidecars.find(s => s.service === service)?.cpuPerRequestMicros ?? null),
    format: fixed(0),
  },
  cpuCores: { label: 'CPU cores', of: (arm, service) => sumOver(arm, service, s => s.cpuCores), format: fixed(3) },
  cpuOfCap: {
    label: 'CPU of cap',
    of: (arm, service) => worstOf(arm, service, s => s.cpuOfCap),
    format: percent,
  },
  throttled: {
    label: 'periods throttled',
    of: (arm, service) => worstOf(arm, service, s => s.throttledFraction),
    format: percent,
  },
  p50: time('p50'),
  p90: time('p90'),
  p95: time('p95'),
  p99: time('p99'),
  p999: time('p999'),
  addedP50: { label: 'added p50 ms', of: arm => arm.addedLatencyMs?.p50 ?? null, format: fixed(2) },
  addedP99: { label: 'added p99 ms', of: arm => arm.addedLatencyMs?.p99 ?? null, format: fixed(2) },
  rss: { label: 'RSS MiB', of: (arm, service) => sumOver(arm, service, s => s.memory.rssBytes), format: mib },
  anon: { label: 'anon MiB', of: (arm, service) => sumOver(arm, service, s => s.memory.anonBytes), format: mib },
  peak: { label: 'peak MiB', of: (arm, service) => sumOver(arm, service, s => s.memory.peakBytes), format: mib },
  startSeconds: { label: 'first answer after s', of: arm => arm.startSeconds, format: fixed(2) },
  effectMs: {
    label: 'time to effect ms',
    of: arm => scale(arm.changes?.effectSeconds ?? null, 1000),
    format: fixed(1),
  },
  effectMostMs: {
    label: 'longest time to effect ms',
    of: arm => scale(arm.changes?.effectMostSeconds ?? null, 1000),
    format: fixed(1),
  },
  failedPerChange: {
    label: 'failed requests a change',
    of: arm => arm.changes?.failedPerChange ?? null,
    format: fixed(1),
  },
  cpuMillisPerChange: {
    label: 'CPU a change, ms',
    of: arm => arm.changes?.cpuMillisPerChange ?? null,
    format: fixed(1),
  },
  recoverySeconds: { label: 'recovered after s', of: arm => arm.recoverySeconds, format: fixed(1) },
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
 * @param {Quantity | null} quantity
 * @param {number} factor
 * @returns {Quantity | null}
 */
function scale(quantity, factor) {
  if (quantity === null) return null
  const times = (/** @type {number | null} */ value) => (value === null ? null : value * factor)
  const { median, low, high, values } = quantity
  return { median: times(median), low: times(low), high: times(high), values: values.map(times) }
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
