import { summariseValues } from '../../src/lib/stats.js'
import { SCHEMA_VERSION } from '../../src/model/versions.js'

/**
 * Summaries without a run: arms whose numbers the test gives.
 * @import { Comparison, Load, Summary, SummaryArm } from '../../src/model/types.ts'
 */

const NOTHING = summariseValues([])

/**
 * @typedef {object} Given
 * @property {string} plane
 * @property {string} [link]
 * @property {number | null} [capCores]
 * @property {Partial<Load>} [load]
 * @property {Partial<SummaryArm['conditions']>} [conditions]
 * @property {Partial<Pick<SummaryArm, 'variant' | 'repeatOf' | 'boundBy' | 'spoiled'>>} [fields]
 * @property {(number | null)[]} [throughput] requests/s, round by round
 * @property {(number | null)[]} [capacity]
 * @property {(number | null)[]} [cpuPerRequest] microseconds, of the arm
 * @property {(number | null)[]} [cores] of its only sidecar, the gateway's
 * @property {(number | null)[]} [p99] milliseconds
 */

/**
 * @param {Given} given
 * @returns {SummaryArm}
 */
export function createSummaryArm({ plane, link = 'pair', capCores = plane === 'none' ? null : 1, ...given }) {
  const { load = {}, conditions = {}, fields = {}, throughput, capacity, cpuPerRequest, cores, p99 } = given
  const quantity = (/** @type {(number | null)[] | undefined} */ values) => (values ? summariseValues(values) : NOTHING)
  const times = { p50: NOTHING, p90: quantity(p99), p95: NOTHING, p99: quantity(p99), p999: NOTHING }
  const memory = {
    anonBytes: NOTHING,
    rssBytes: NOTHING,
    workingSetBytes: NOTHING,
    pssBytes: NOTHING,
    peakBytes: NOTHING,
  }
  const isOpen = load.ratePerSecond !== undefined
  return {
    ...{ id: '', plane, variant: null, profile: null, repeatOf: null, calibratedBy: null },
    ...{ hasSidecars: plane !== 'none', link, capCores, target: 'fake' },
    load: {
      ...{ kind: isOpen ? 'open' : 'closed', users: 200, payloadBytes: 1024, connections: 'kept' },
      ...{ hasCertificate: false, burst: null, warmupSeconds: 1, windowSeconds: 1, ...load },
    },
    conditions: {
      ...{ services: 1, tls: 'ecdsa-p256', protocol: 'http/1.1', workers: null },
      ...{ configuredServices: 0, memoryLimitBytes: null, changesPerMinute: null, ...conditions },
    },
    trials: { completed: 6, failed: 0, invalid: 0 },
    spoiled: [],
    throughputPerSecond: quantity(throughput),
    cpuPerRequestMicros: quantity(cpuPerRequest),
    capacityPerSecond: quantity(capacity),
    responseTimeMs: isOpen ? null : times,
    latencyMs: isOpen ? times : null,
    addedLatencyMs: null,
    changes: null,
    boundBy: 'sidecar',
    startSeconds: NOTHING,
    recoverySeconds: NOTHING,
    sidecars:
      plane === 'none'
        ? []
        : [
            {
              service: 'gateway',
              copyOf: null,
              cpuCores: quantity(cores),
              ...{ cpuOfCap: NOTHING, cpuPerRequestMicros: NOTHING, throttledFraction: NOTHING, memory },
            },
          ],
    ...fields,
  }
}

/**
 * @param {Given[]} arms
 * @param {Partial<Omit<Summary, 'arms' | 'run'>> & { id?: string, experiment?: string }} [fields]
 * @returns {Summary}
 */
export function createSummary(arms, { id = 'run-1', experiment = 'cap', ...fields } = {}) {
  return {
    schemaVersion: SCHEMA_VERSION,
    run: { id, startedAt: '', experiment, seed: 1 },
    ...{ machine: {}, tools: {}, notMeasured: [], relaxes: [], parity: [], comparisons: [], thresholds: [] },
    ...{ lines: [], slopes: [], calibrations: [], searches: [], sizes: [] },
    shows: { quantities: [], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false },
    ...fields,
    arms: arms.map(createSummaryArm),
  }
}
