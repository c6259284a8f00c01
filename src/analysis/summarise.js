import {
  capacityPerSecond,
  cpuPerRequestMicros,
  hasTail,
  QUANTILES,
  quantileMs,
  ratePerSecond,
  sidecarsOf,
  startSeconds,
  valueOfRound,
} from '../judge/measures.js'
import { findDisparities } from '../judge/parity-rows.js'
import { recoverySeconds } from '../judge/recovery.js'
import { summariseValues } from '../lib/stats.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { groupOf, isBaselineOf } from '../model/axes.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { isOfSearch, replaySearch } from '../search/searches.js'
import { summariseChanges } from './changes.js'
import { compareArms } from './compare.js'
import { fitCpuLines, fitSlopes } from './fits.js'
import { evaluateThreshold, parseThreshold } from './thresholds.js'

/**
 * @import { Arm, Manifest, ProcessRecord, Quantiles, SearchResult, SizeResult, Summary, SummaryArm, TrialRecord, Use } from '../model/types.ts'
 */

/**
 * Every number of a report, from the records alone.
 * @param {{ manifest: Manifest, records: TrialRecord[] }} run
 * @returns {Summary}
 */
export function summarise({ manifest, records }) {
  const { rounds, run, settings, parity } = manifest
  const arms = manifest.search ? listArms(records) : manifest.arms
  const relaxed = settings.relaxes.map(r => r.gate)
  const comparisons = compareArms({
    ...{ arms: manifest.search ? [] : arms, records, rounds, seed: run.seed, contrasts: settings.shows.contrasts },
    findDisparities: (a, b) => findDisparities({ a: { arm: a, rows: parity }, b: { arm: b, rows: parity }, relaxed }),
  })
  const byArm = Object.fromEntries(arms.map(arm => [arm.id, records.filter(r => r.trial.arm.id === arm.id)]))
  const summaryArms = arms.map(arm => summariseArm({ arm, arms, byArm, manifest }))
  /** @type {(SearchResult | SizeResult)[]} */
  const found = replaySearches({ manifest, records })
  return {
    schemaVersion: SCHEMA_VERSION,
    run,
    machine: manifest.machine,
    tools: manifest.tools,
    notMeasured: manifest.notMeasured,
    relaxes: settings.relaxes,
    arms: summaryArms,
    parity,
    comparisons,
    thresholds: manifest.thresholds.flatMap(expression =>
      evaluateThreshold(parseThreshold(expression, arms), comparisons),
    ),
    shows: settings.shows,
    lines: settings.shows.hasCpuLine ? fitCpuLines(summaryArms) : [],
    slopes: settings.shows.hasSlopes ? fitSlopes({ arms: summaryArms, records }) : [],
    calibrations: manifest.calibrations,
    searches: found.flatMap(result => ('looksFor' in result ? [result] : [])),
    sizes: found.flatMap(result => ('looksFor' in result ? [] : [result])),
  }
}

/**
 * The arms that a search came by.
 * @param {TrialRecord[]} records
 * @returns {Arm[]}
 */
function listArms(records) {
  return [...new Map(records.map(r => [r.trial.arm.id, r.trial.arm])).values()]
}

/**
 * What the searches of a run found; those that were cut short have found nothing.
 * @param {{ manifest: Manifest, records: TrialRecord[] }} run
 */
function replaySearches({ manifest: { search, arms, machine }, records }) {
  if (!search) return []
  return arms.flatMap(template => {
    const own = records.filter(record => isOfSearch(template, record))
    return replaySearch({ template, spec: search, cpus: Number(machine.cpus) }, own) ?? []
  })
}

/**
 * @param {{ arm: Arm, arms: Arm[], byArm: Record<string, TrialRecord[]>, manifest: Manifest }} options
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
  const services = new Map(records.flatMap(r => sidecarsOf(r).map(p => [p.service, p.copyOf])))
  const isOpen = arm.load.kind === 'open'
  const baseline = arms.find(a => isBaselineOf(a, arm))
  const findUnchanged = () => {
    const same = arms.find(
      a =>
        nameOf(a) === nameOf(arm) &&
        a.conditions.changesPerMinute === 0 &&
        groupOf(a, 'changesPerMinute') === groupOf(arm, 'changesPerMinute'),
    )
    return same && same !== arm ? splitRounds(byArm[same.id], manifest.rounds) : null
  }
  const baselineRounds = baseline ? splitRounds(byArm[baseline.id], manifest.rounds) : null
  return {
    ...{
      id: arm.id,
      repeatOf: arm.repeatOf,
      calibratedBy: arm.calibratedBy,
      hasSidecars: arm.hasSidecars,
      ...choiceOf(arm),
      link: arm.link,
    },
    ...{ capCores: arm.capCores, target: manifest.target, load: arm.load, conditions: arm.conditions },
    trials: {
      completed: records.filter(r => r.outcome === 'completed').length,
      failed: records.filter(r => r.outcome === 'failed').length,
      invalid: records.filter(r => r.outcome === 'invalid').length,
    },
    spoiled: countSpoiled(records),
    throughputPerSecond: quantity('throughput', ratePerSecond),
    cpuPerRequestMicros: quantity('cpuPerRequest', r => cpuPerRequestMicros(r, sidecarsOf(r))),
    capacityPerSecond: quantity('capacity', capacityPerSecond),
    responseTimeMs: arm.load.kind === 'closed' ? summariseTimes(rounds, 'throughput', () => 0) : null,
    latencyMs: isOpen ? summariseTimes(rounds, 'latency', () => 0) : null,
    addedLatencyMs:
      isOpen && baselineRounds
        ? summariseTimes(rounds, 'latency', (q, i) => valueOfRound(baselineRounds[i], 'latency', r => quantileMs(r, q)))
        : null,
    boundBy: mostFrequent(records.flatMap(r => r.boundBy ?? [])),
    startSeconds: quantity('memory', startSeconds),
    recoverySeconds: quantity('latency', recoverySeconds),
    changes: summariseChanges({ rounds, baseline: findUnchanged() }),
    sidecars: [...services].map(([service, copyOf]) => {
      const of = (/** @type {TrialRecord} */ r) => sidecarsOf(r, service)[0]
      const memory = (/** @type {keyof ProcessRecord['memory']} */ name) =>
        quantity('memory', r => of(r)?.memory[name] ?? null)
      return {
        service,
        copyOf,
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
          return !hasTail(pooled, q) || value === null || baseline === null ? null : value - baseline
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
