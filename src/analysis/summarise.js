import { groupCopies } from '../judge/gates/gate.js'
import { countDroppedRequests } from '../judge/gates/load.js'
import { splitLoudPair } from '../judge/gates/loud.js'
import { measureRound, nestQuantities, QUANTITIES } from '../judge/quantities.js'
import { listLeftOutArms } from '../judge/record/deaths.js'
import {
  countGoodUses,
  groupByRound,
  hasTail,
  listAnswerBytes,
  listCountedTrials,
  listSidecars,
} from '../judge/record/measures.js'
import { findSections } from '../kinds/sections.js'
import { groupBy, uniqueBy } from '../lib/group-by.js'
import { summariseSequence, summariseValues } from '../lib/stats.js'
import { AXES, createGroupKey, isBaselineOf, renderArmName } from '../model/arms.js'
import { listComparisons } from '../model/results.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { listPairDisparities, renderUnequalRows, renderWrongRows } from '../parity/verdict/rows.js'
import { chooseSummarisedRounds, compareArms, isRunCutShort } from './compare.js'
import { fitCpuLines, fitSlopes } from './fits.js'
import { computeRatioRanges } from './ratio-ranges.js'
import { testThreshold } from './thresholds.js'
import { computePrecision } from './verdict.js'

/**
 * @import { Arm, Comparison, LoadResult, Manifest, ProcessRecord, Quantity, Result, Summary, SummaryArm } from '../model/types.ts'
 * @import { TrialRecord } from '../model/types.ts'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 * @import { Sections } from '../kinds/sections.js'
 */

/** The other arms that some quantities of an arm need (`splitRounds`). */
const REFERENCES = /** @type {const} */ (['baseline', 'unchanged', 'unconfigured', 'kept'])
// A sidecar keeps memory of requests if its memory grew by so much a request, in at least so many windows and this share of all.
const GROWTH_LEAST_BYTES = 1
const GROWING_WINDOWS_LEAST = 2
const GROWING_SHARE_LEAST = 1 / 2

/**
 * Computes every number of a report from the records of a run. Kinds of trials without rounds are summarised over the arms that
 * were tried, and are not compared.
 * @param {{ manifest: Manifest, records: TrialRecord[] }} run
 * @returns {Summary} results: one for each kind of trials with arms
 * @throws {UsageError} for a threshold that does not fit the run; {BenchError} for a kind of trials that this version of the kit does
 *   not have
 */
export function summarise({ manifest, records }) {
  const { rounds, run, settings, parity, precision } = manifest
  const triedArms = listTriedArms(records)
  const kinds = [...groupBy(manifest.arms, findSections)].map(([sections, plannedArms]) => {
    const hasRounds = sections.hasRounds !== false
    return {
      sections,
      arms: hasRounds ? plannedArms : triedArms,
      compare: createArmComparison({ manifest, arms: hasRounds ? plannedArms : [], records }),
    }
  })
  const results = kinds
    .filter(({ arms }) => arms.length > 0)
    .map(({ compare, ...kind }) => createResult({ ...kind, comparisons: compare(), manifest, records }))
  const comparisons = listComparisons({ results })
  // A precision is about the arms that the run still measures.
  const leftOut = precision ? listLeftOutArms(records) : new Set()
  const remainingComparisons = leftOut.size > 0 ? kinds.flatMap(({ compare }) => compare(leftOut)) : comparisons
  return {
    schemaVersion: SCHEMA_VERSION,
    run,
    machine: manifest.machine,
    tools: manifest.tools,
    notMeasured: manifest.notMeasured,
    relaxes: settings.relaxes,
    parity,
    ...(manifest.deployed && { deployed: manifest.deployed }),
    ...(isRunCutShort(manifest) && { isCutShort: true }),
    carries: computeRatioRanges(comparisons),
    thresholds: manifest.thresholds.flatMap(expression =>
      testThreshold(expression, {
        arms: kinds.flatMap(({ arms }) => arms),
        triedArms,
        notMeasured: manifest.notMeasured,
        comparisons,
      }),
    ),
    ...(precision && { precision: computePrecision({ target: precision, rounds, comparisons: remainingComparisons }) }),
    shows: settings.shows,
    calibrations: manifest.calibrations,
    results,
  }
}

/**
 * Lists the arms that have records, each once.
 * @param {TrialRecord[]} records
 * @returns {Arm[]} []: there are no records
 */
function listTriedArms(records) {
  return uniqueBy(
    records.map(({ trial }) => trial.arm),
    ({ id }) => id,
  )
}

/**
 * Creates the comparison of the arms of one kind. The caller repeats it without the arms that were left out.
 * @param {{ manifest: Manifest, arms: Arm[], records: TrialRecord[] }} run
 * @returns {(leftOut?: Set<string>) => Comparison[]} leftOut: ids of arms whose pairs are not compared
 */
function createArmComparison({ manifest, arms, records }) {
  const { rounds, run, settings, parity, precision } = manifest
  const relaxed = settings.relaxes.map(r => r.gate)
  const createSides = (/** @type {Arm} */ a, /** @type {Arm} */ b) => ({
    a: { arm: a, rows: parity },
    b: { arm: b, rows: parity },
    relaxed,
  })
  return leftOut =>
    compareArms({
      arms,
      records,
      rounds,
      leftOut,
      seed: run.seed,
      contrasts: settings.shows.contrasts,
      ...(precision && { precision: precision.width }),
      isCutShort: isRunCutShort(manifest),
      listDisparities: (a, b) => listPairDisparities(createSides(a, b)),
      renderUnequal: (a, b) => renderUnequalRows(createSides(a, b)),
      listWrong: (a, b) => renderWrongRows({ judged: [a, b].map(arm => ({ arm, rows: parity })), relaxed }),
    })
}

/**
 * Creates the result of one kind of trials.
 * @param {{ sections: Sections, arms: Arm[], comparisons: Comparison[], manifest: Manifest, records: TrialRecord[] }} options
 * @returns {Result} lines, slopes: [] if the experiment does not show them, or none can be fitted
 */
function createResult({ sections, arms, comparisons, manifest, records }) {
  const { shows } = manifest.settings
  const byArm = Object.fromEntries(arms.map(arm => [arm.id, records.filter(r => r.trial.arm.id === arm.id)]))
  const summaryArms = arms.map(arm => summariseArm({ arm, arms, byArm, manifest }))
  return {
    kind: sections.kind,
    arms: summaryArms,
    comparisons,
    lines: shows.hasCpuLine ? fitCpuLines(summaryArms) : [],
    slopes: shows.hasSlopes ? fitSlopes({ arms: summaryArms, records }) : [],
    ...sections.summarise({ manifest, arms, records }),
  }
}

/**
 * Summarises an arm and each of its sidecars over the rounds that ran. Sidecars that were started in a batch have no entry.
 * @param {{ arm: Arm, arms: Arm[], byArm: Record<string, TrialRecord[]>, manifest: Manifest }} options
 * @returns {SummaryArm} quantities without a value have the median null; growing: absent if no sidecar keeps memory
 */
function summariseArm({ arm, arms, byArm, manifest }) {
  const records = byArm[arm.id]
  const count = (/** @type {string} */ outcome) => records.filter(r => r.outcome === outcome).length
  const rounds = splitRounds({ arm, arms, byArm, manifest })
  const countedRecords = rounds.arm.flatMap(trials => listCountedTrials(trials, countGoodUses))
  const singleSidecars = records.flatMap(record => listSidecars(record).filter(({ batchOf }) => batchOf === undefined))
  const sidecarByService = new Map(singleSidecars.map(sidecar => [sidecar.service, sidecar]))
  const sidecars = [...sidecarByService].map(([service, { copyOf, pods }]) => ({
    service,
    copyOf,
    ...(pods && { pods: pods.length }),
    quantities: summariseQuantities({ rounds, service }),
  }))
  const armQuantities = { ...summariseQuantities({ rounds, service: null }), ...pickLargestQuantities(sidecars) }
  return /** @type {SummaryArm} */ ({
    ...arm,
    ...(arm.load.ownRequest && { load: { ...arm.load, ownRequest: addAnswerBytes(arm.load.ownRequest, records) } }),
    target: manifest.target,
    trials: { completed: count('completed'), failed: count('failed'), invalid: count('invalid') },
    spoiled: listSpoilingGates(records),
    ...findGrowingSidecars(records),
    boundBy: findMostFrequent(countedRecords.flatMap(record => record.boundBy ?? [])),
    // A group stays null if the arm's load has none of its quantities.
    responseTimeMs: null,
    latencyMs: null,
    addedLatencyMs: null,
    changes: null,
    ...nestQuantities(armQuantities, arm.load),
    sidecars: sidecars.map(({ quantities, ...sidecar }) => ({ ...sidecar, ...nestQuantities(quantities, arm.load) })),
  })
}

/**
 * The rounds of an arm and of its references, and the function that summarises values of rounds.
 * @typedef {Record<'arm' | typeof REFERENCES[number], TrialRecord[][]> & { summarise: typeof summariseValues }} Rounds
 */

/**
 * Splits the records of an arm and of its references by round. If the run was cut short, only rounds with records count.
 * @param {{ arm: Arm, arms: Arm[], byArm: Record<string, TrialRecord[]>, manifest: Manifest }} options
 * @returns {Rounds} a reference (`baseline` and others) is [] if the run has no such arm, or it is the arm itself
 */
function splitRounds({ arm, arms, byArm, manifest }) {
  const records = byArm[arm.id]
  const plannedRounds = arm.rounds ?? manifest.rounds
  const { rounds, isSequential } = chooseSummarisedRounds({
    plannedRounds,
    records,
    isCutShort: isRunCutShort(manifest),
  })
  const splitArm = (/** @type {Arm | undefined} */ other) =>
    other && other !== arm ? groupByRound(byArm[other.id], rounds) : []
  return {
    summarise: manifest.precision || isSequential ? summariseSequence : summariseValues,
    arm: groupByRound(records, rounds),
    baseline: splitArm(arms.find(other => isBaselineOf(other, arm))),
    unchanged: splitArm(arms.find(other => isWithout('changesPerMinute', other, arm))),
    unconfigured: splitArm(arms.find(other => isWithout('configuredServices', other, arm))),
    kept: splitArm(arms.find(other => isWithout('connections', other, arm))),
  }
}

/**
 * Finds the sidecars of an arm that keep memory of requests: in at least GROWING_WINDOWS_LEAST windows, and in GROWING_SHARE_LEAST of
 * all, their memory grew steadily (`grownBytes`), by GROWTH_LEAST_BYTES a request or more. A single window may just fill a heap.
 * Windows without verified requests do not count. Those with dropped requests do not either, since requests queue up in memory.
 * @param {TrialRecord[]} records of the arm
 * @returns {Pick<SummaryArm, 'growing'>} bytesPerRequest: the median of the windows in which it grew; {}: no sidecar does
 */
function findGrowingSidecars(records) {
  const windows = records.flatMap(record => {
    const { load } = record
    if (!load || load.verified === 0 || countDroppedRequests({ ...record, load }) > 0) return []
    const requests = computeRequestsBySidecar({ ...record, load })
    return listSidecars(record).flatMap(sidecar => {
      const count = requests.get(sidecar) ?? 0
      // Memory that did not grow steadily has no `grownBytes`.
      const bytesPerRequest = (sidecar.memory.grownBytes ?? 0) / count
      return count > 0 ? [{ service: sidecar.service, bytesPerRequest }] : []
    })
  })
  const growing = [...groupBy(windows, ({ service }) => service)].flatMap(([service, serviceWindows]) => {
    const growingWindows = serviceWindows.filter(({ bytesPerRequest }) => bytesPerRequest >= GROWTH_LEAST_BYTES)
    const windowsLeast = Math.max(GROWING_WINDOWS_LEAST, GROWING_SHARE_LEAST * serviceWindows.length)
    if (growingWindows.length < windowsLeast) return []
    const { median } = summariseValues(growingWindows.map(({ bytesPerRequest }) => bytesPerRequest))
    return [
      {
        service,
        bytesPerRequest: Number(median),
        windows: growingWindows.length,
        ofWindows: serviceWindows.length,
      },
    ]
  })
  return growing.length > 0 ? { growing } : {}
}

/**
 * Computes how many verified requests of a window passed each sidecar. They are spread evenly over it and its copies; a loud pair
 * has its own, and a proxy of all pods has all.
 * @param {TrialRecord & { load: LoadResult }} record
 * @returns {Map<ProcessRecord, number>} by sidecar
 */
function computeRequestsBySidecar(record) {
  const { load } = record
  const sidecars = listSidecars(record)
  const singleSidecars = sidecars.filter(({ pods }) => !pods)
  /** @type {Map<ProcessRecord, number>} */
  const requests = new Map()
  for (const { members, verified } of splitLoudPair(record, singleSidecars))
    for (const copies of groupCopies(members))
      for (const sidecar of copies) requests.set(sidecar, verified / copies.length)
  for (const proxy of sidecars.filter(({ pods }) => pods))
    requests.set(proxy, load.verified + (load.loud?.verified ?? 0))
  return requests
}

/**
 * Adds the sizes of answers to a pipeline's request. They are known once trials have run.
 * @param {NonNullable<Arm['load']['ownRequest']>} request
 * @param {TrialRecord[]} records of the arm
 * @returns {NonNullable<Arm['load']['ownRequest']>} answerBytes: absent if none were recorded
 */
function addAnswerBytes(request, records) {
  const answerBytes = listAnswerBytes(records)
  return answerBytes.length === 0 ? request : { ...request, answerBytes }
}

/** The values of axes with which an arm has no changes, no configured services, and no new connections. */
const WITHOUT = { changesPerMinute: 0, configuredServices: 0, connections: 'kept' }

/**
 * Says whether `other` differs from `arm` at most in one axis, on which it has the value of WITHOUT.
 * @param {keyof typeof WITHOUT} axis
 * @param {Arm} other
 * @param {Arm} arm
 * @returns {boolean} true also: they are the same arm, and it has this value
 */
function isWithout(axis, other, arm) {
  if (AXES[axis].readValue(other) !== WITHOUT[axis]) return false
  return renderArmName(other) === renderArmName(arm) && createGroupKey(other, axis) === createGroupKey(arm, axis)
}

/**
 * Summarises every quantity over the rounds. A percentile has no value if all rounds together have too few requests beyond it.
 * @param {{ rounds: Rounds, service: string | null }} options service: whose sidecar; null: all, and then also the quantities that
 *   single sidecars do not have
 * @returns {Record<string, Quantity>} by header; the median is null if no round has a value
 */
function summariseQuantities({ rounds, service }) {
  const countedRecords = rounds.arm.flatMap(trials => listCountedTrials(trials, countGoodUses))
  const requests = countedRecords.reduce((sum, { load }) => sum + (load?.verified ?? 0), 0)
  const measureRow = (/** @type {QuantityRow} */ row) =>
    rounds.arm.map((trials, i) => {
      if (row.quantile !== undefined && !hasTail(requests, row.quantile)) return null
      const references = Object.fromEntries(REFERENCES.map(name => [name, rounds[name][i]]))
      return measureRound(row, trials, { service, ...references })
    })
  const rows = Object.values(QUANTITIES).filter(row => service === null || row.sidecars)
  return Object.fromEntries(rows.map(row => [row.header, rounds.summarise(measureRow(row))]))
}

/**
 * Picks the quantities that an arm has from its sidecar with the largest median (`most` in the table).
 * @param {{ quantities: Record<string, Quantity> }[]} sidecars
 * @returns {Record<string, Quantity>} by header; {}: the arm has no sidecars
 */
function pickLargestQuantities(sidecars) {
  if (sidecars.length === 0) return {}
  const headers = Object.values(QUANTITIES).flatMap(row => (row.sidecars === 'most' ? [row.header] : []))
  const pickLargest = (/** @type {string} */ header) => {
    const values = sidecars.map(({ quantities }) => quantities[header])
    return values.toSorted((a, b) => (b.median ?? -1) - (a.median ?? -1))[0]
  }
  return Object.fromEntries(headers.map(header => [header, pickLargest(header)]))
}

/**
 * Lists the gates that spoiled trials, with the number of trials and the first reason of each.
 * @param {TrialRecord[]} records of one arm
 * @returns {{ gate: string, part?: string, trials: number, reason: string }[]} gate: `failed` for failed trials; []: no trial failed,
 *   and no gate found anything
 */
function listSpoilingGates(records) {
  /** @type {{ id: string, gate: string, part?: string, reason: string }[]} */
  const findings = records.flatMap(({ trial: { id }, outcome, reasons, gates }) =>
    outcome === 'failed' ? [{ id, gate: 'failed', reason: reasons[0] }] : gates.map(finding => ({ ...finding, id })),
  )
  return [...groupBy(findings, ({ gate, part }) => `${gate} ${part}`).values()].map(group => {
    const [{ gate, part, reason }] = group
    return { gate, ...(part && { part }), trials: new Set(group.map(({ id }) => id)).size, reason }
  })
}

/**
 * Finds the most frequent item; of equally frequent ones the first.
 * @template T
 * @param {T[]} items
 * @returns {T | null} null: there is no item
 */
function findMostFrequent(items) {
  const counts = new Map()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}
