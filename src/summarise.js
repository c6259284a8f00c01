import { compareArms } from './compare.js'
import {
  capacityPerSecond,
  cpuPerRequestMicros,
  QUANTILES,
  quantileMs,
  ratePerSecond,
  sidecarsOf,
  valueOfRound,
} from './measures.js'
import { findDisparities } from './parity/rows.js'
import { SCHEMA_VERSION } from './schema-version.js'
import { summariseValues } from './stats.js'
import { evaluateThreshold, parseThreshold } from './thresholds.js'

/**
 * @import { Arm, ProcessRecord, Quantiles, Summary, SummaryArm, TrialRecord, Use } from './types.ts'
 */

// A quantile needs ten times as many requests as one in its tail.
const TAIL_REQUESTS = 10

/**
 * Every number of a report, from the records alone.
 * @param {{ manifest: any, records: TrialRecord[] }} run
 * @returns {Summary}
 */
export function summarise({ manifest, records }) {
  const { arms, rounds, run, settings, parity } = manifest
  const relaxed = settings.relaxes.map((/** @type {{ gate: string }} */ r) => r.gate)
  const comparisons = compareArms({
    ...{ arms, records, rounds, seed: run.seed },
    findDisparities: (a, b) => findDisparities({ rows: parity, a, b, relaxed }),
  })
  const byArm = Object.fromEntries(
    arms.map((/** @type {Arm} */ arm) => [arm.id, records.filter(r => r.trial.arm.id === arm.id)]),
  )
  return {
    schemaVersion: SCHEMA_VERSION,
    run,
    machine: manifest.machine,
    tools: manifest.tools,
    notMeasured: manifest.notMeasured,
    relaxes: settings.relaxes,
    arms: arms.map((/** @type {Arm} */ arm) => summariseArm({ arm, arms, byArm, manifest })),
    parity,
    comparisons,
    thresholds: manifest.thresholds.flatMap((/** @type {string} */ expression) =>
      evaluateThreshold(parseThreshold(expression, arms), comparisons),
    ),
  }
}

/**
 * @param {{ arm: Arm, arms: Arm[], byArm: Record<string, TrialRecord[]>, manifest: any }} options
 * @returns {SummaryArm}
 */
function summariseArm({ arm, arms, byArm, manifest }) {
  const records = byArm[arm.id]
  const rounds = splitRounds(records, manifest.rounds)
  /**
   * @param {Use} use
   * @param {(record: TrialRecord) => number | null} measure
   */
  const quantity = (use, measure) => summariseValues(rounds.map(trials => valueOfRound(trials, use, measure)))
  const services = [...new Set(records.flatMap(r => sidecarsOf(r).map(p => p.service)))]
  const isOpen = arm.load.kind === 'open'
  const baseline = arms.find(
    a => a.plane === 'none' && a.link === arm.link && a.load.ratePerSecond === arm.load.ratePerSecond && a !== arm,
  )
  const baselineRounds = baseline ? splitRounds(byArm[baseline.id], manifest.rounds) : null
  return {
    ...{ id: arm.id, repeatOf: arm.repeatOf, plane: arm.plane, variant: arm.variant, link: arm.link },
    ...{ capCores: arm.capCores, target: manifest.target, load: arm.load },
    trials: {
      completed: records.filter(r => r.outcome === 'completed').length,
      failed: records.filter(r => r.outcome === 'failed').length,
      invalid: records.filter(r => r.outcome === 'invalid').length,
    },
    spoiled: countSpoiled(records),
    throughputPerSecond: quantity('throughput', ratePerSecond),
    cpuPerRequestMicros: quantity('cpuPerRequest', r => cpuPerRequestMicros(r, sidecarsOf(r))),
    capacityPerSecond: quantity('capacity', capacityPerSecond),
    responseTimeMs: isOpen ? null : summariseTimes(rounds, 'throughput', () => 0),
    latencyMs: isOpen ? summariseTimes(rounds, 'latency', () => 0) : null,
    addedLatencyMs:
      isOpen && baselineRounds
        ? summariseTimes(rounds, 'latency', (q, i) => valueOfRound(baselineRounds[i], 'latency', r => quantileMs(r, q)))
        : null,
    boundBy: mostFrequent(records.flatMap(r => r.boundBy ?? [])),
    sidecars: services.map(service => {
      const of = (/** @type {TrialRecord} */ r) => sidecarsOf(r, service)[0]
      const memory = (/** @type {keyof ProcessRecord['memory']} */ name) =>
        quantity('memory', r => of(r)?.memory[name] ?? null)
      return {
        service,
        cpuCores: quantity('cpuPerRequest', r => of(r)?.cpuCores ?? null),
        cpuOfCap: quantity('cpuPerRequest', r => (arm.capCores === null ? null : of(r)?.cpuCores / arm.capCores)),
        cpuPerRequestMicros: quantity('cpuPerRequest', r => cpuPerRequestMicros(r, sidecarsOf(r, service))),
        throttledFraction: quantity('cpuPerRequest', r => of(r)?.throttledFraction ?? null),
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
 * Every reported quantile over the rounds, less a baseline's of the same round.
 * @param {TrialRecord[][]} rounds
 * @param {Use} use
 * @param {(q: number, round: number) => number | null} baselineMs null: there is none
 * @returns {Quantiles}
 */
function summariseTimes(rounds, use, baselineMs) {
  const pooled = rounds.flat().reduce((sum, r) => sum + (r.load?.verified ?? 0), 0)
  return /** @type {Quantiles} */ (
    Object.fromEntries(
      Object.entries(QUANTILES).map(([name, q]) => {
        const values = rounds.map((trials, i) => {
          const value = valueOfRound(trials, use, r => quantileMs(r, q))
          const baseline = baselineMs(q, i)
          return pooled < TAIL_REQUESTS / (1 - q) || value === null || baseline === null ? null : value - baseline
        })
        return [name, summariseValues(values)]
      }),
    )
  )
}

/**
 * The trials of each round, a window measured again after the first.
 * @param {TrialRecord[]} records of one arm
 * @param {number} count
 */
function splitRounds(records, count) {
  return Array.from({ length: count }, (_, i) => records.filter(r => r.trial.round === i + 1))
}

/**
 * @param {TrialRecord[]} records of one arm
 * @returns {SummaryArm['spoiled']}
 */
function countSpoiled(records) {
  const findings = records.flatMap(r =>
    r.outcome === 'failed'
      ? [{ id: r.trial.id, gate: 'failed', reason: r.reasons[0] }]
      : r.gates.map(g => ({ ...g, id: r.trial.id })),
  )
  return [...new Set(findings.map(f => f.gate))].map(gate => {
    const same = findings.filter(f => f.gate === gate)
    return { gate, trials: new Set(same.map(f => f.id)).size, reason: same[0].reason }
  })
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
