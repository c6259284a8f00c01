import { SCHEMA_VERSION } from './schema-version.js'
import { summariseValues } from './stats.js'

/**
 * @import { Arm, ProcessRecord, Quantity, Summary, SummaryArm, TrialRecord } from './types.ts'
 */

const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 }
// A quantile needs ten times as many requests as one in its tail.
const TAIL_REQUESTS = 10

/**
 * Every number of a report, from the records alone.
 * @param {{ manifest: any, records: TrialRecord[] }} run
 * @returns {Summary}
 */
export function summarise({ manifest, records }) {
  return {
    schemaVersion: SCHEMA_VERSION,
    run: manifest.run,
    machine: manifest.machine,
    tools: manifest.tools,
    notMeasured: manifest.notMeasured,
    arms: manifest.arms.map((/** @type {Arm} */ arm) =>
      summariseArm({ arm, manifest, records: records.filter(r => r.trial.arm.id === arm.id) }),
    ),
  }
}

/**
 * @param {{ arm: Arm, manifest: any, records: TrialRecord[] }} options
 * @returns {SummaryArm}
 */
function summariseArm({ arm, manifest, records }) {
  const rounds = Array.from({ length: manifest.rounds }, (_, i) =>
    records.filter(r => r.trial.round === i + 1 && r.outcome === 'completed'),
  )
  /** @param {(record: TrialRecord) => number | null} measure */
  const quantity = measure => summariseValues(rounds.map(trials => valueOfRound(trials, () => true, measure)))
  // A window whose halves differ spoils what depends on the rate; its repetition stands in for it.
  /** @param {(record: TrialRecord) => number | null} measure */
  const steady = measure =>
    summariseValues(rounds.map(trials => valueOfRound(trials, r => r.isSteady === true, measure)))

  const measured = rounds.flat()
  const pooled = measured.reduce((sum, r) => sum + (r.load?.verified ?? 0), 0)
  const services = [
    ...new Set(measured.flatMap(r => r.processes.filter(p => p.role === 'sidecar').map(p => p.service))),
  ]
  return {
    id: arm.id,
    plane: arm.plane,
    variant: arm.variant,
    link: arm.link,
    capCores: arm.capCores,
    target: manifest.target,
    load: arm.load,
    trials: {
      completed: records.filter(r => r.outcome === 'completed').length,
      failed: records.filter(r => r.outcome === 'failed').length,
      invalid: records.filter(r => r.outcome === 'invalid').length,
    },
    throughputPerSecond: steady(r => ratePerSecond(r)),
    cpuPerRequestMicros:
      services.length === 0
        ? summariseValues(rounds.map(() => null))
        : quantity(r => cpuPerRequestMicros(r, sidecarsOf(r))),
    responseTimeMs: /** @type {SummaryArm['responseTimeMs']} */ (
      Object.fromEntries(
        Object.entries(QUANTILES).map(([name, q]) => [
          name,
          steady(r => (pooled < TAIL_REQUESTS / (1 - q) ? null : quantileMs(r, q))),
        ]),
      )
    ),
    latencyMs: null,
    boundBy: mostFrequent(measured.map(r => r.boundBy)),
    sidecars: services.map(service => {
      const of = (/** @type {TrialRecord} */ r) => sidecarsOf(r).find(p => p.service === service)
      const memory = (/** @type {keyof ProcessRecord['memory']} */ name) => quantity(r => of(r)?.memory[name] ?? null)
      return {
        service,
        cpuCores: quantity(r => of(r)?.cpuCores ?? null),
        cpuOfCap: quantity(r => (arm.capCores === null ? null : (of(r)?.cpuCores ?? Number.NaN) / arm.capCores)),
        cpuPerRequestMicros: quantity(r =>
          cpuPerRequestMicros(
            r,
            sidecarsOf(r).filter(p => p.service === service),
          ),
        ),
        throttledFraction: quantity(r => of(r)?.throttledFraction ?? null),
        memory: {
          anonBytes: memory('anonBytes'),
          rssBytes: memory('rssBytes'),
          workingSetBytes: memory('workingSetBytes'),
          pssBytes: memory('pssBytes'),
          peakBytes: memory('peakBytes'),
        },
      }
    }),
  }
}

/**
 * The value of a round: of its first trial that is good for it.
 * @param {TrialRecord[]} trials
 * @param {(record: TrialRecord) => boolean} isGood
 * @param {(record: TrialRecord) => number | null} measure
 */
function valueOfRound(trials, isGood, measure) {
  const trial = trials.find(isGood)
  const value = trial ? measure(trial) : null
  return value !== null && Number.isFinite(value) ? value : null
}

/** @param {TrialRecord} record */
function sidecarsOf({ processes }) {
  return processes.filter(p => p.role === 'sidecar')
}

/** @param {TrialRecord} record */
function ratePerSecond({ load, window }) {
  return load && window ? load.verified / window.seconds : null
}

/**
 * CPU time in the window over verified requests in it: both as rates, each by its own clock.
 * @param {TrialRecord} record
 * @param {ProcessRecord[]} processes
 */
function cpuPerRequestMicros(record, processes) {
  const rate = ratePerSecond(record)
  return rate ? (1e6 * processes.reduce((sum, p) => sum + p.cpuCores, 0)) / rate : null
}

/**
 * @param {TrialRecord} record
 * @param {number} q
 */
function quantileMs({ load }, q) {
  return load?.distribution?.grid.find(([at]) => Math.abs(at - q) < 1e-9)?.[1] ?? null
}

/**
 * @template T
 * @param {T[]} items
 * @returns {T | null}
 */
function mostFrequent(items) {
  const counts = new Map()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}
