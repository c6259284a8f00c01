import { chooseVerdict } from '../../src/analysis/verdict.js'
import {
  computeCpuPerRequestMicros,
  divideRounds,
  findRoundValue,
  groupByRound,
  listMeasuredSidecars,
} from '../../src/judge/record/measures.js'
import { ROUNDS_LEAST, summariseRatios, summariseValues } from '../../src/lib/stats.js'
import { renderPercent } from '../../src/lib/units.js'
import { renderArmName } from '../../src/model/arms.js'
import { GAP_LEAST } from '../../src/model/bounds.js'
import { listByRole } from '../../src/model/process-records.js'
import { listComparisons } from '../../src/model/results.js'

/** Compares the results of one experiment on two targets of one machine. Pure. */
/** @import { Arm, Comparison, Quantity, Summary, TrialRecord, Verdict } from '../../src/model/types.ts' */
/** @typedef {{ arms: Arm[], records: TrialRecord[], summary: Summary, rounds: number, seed: number }} Side */
/**
 * local, other: microseconds per request; ratio: other over local, round by round.
 * @typedef {Record<'local' | 'other' | 'ratio', Quantity> & { name: string, floor: number, verdict: Verdict }} Agreement
 */

/**
 * Compares CPU per request of every arm. Arms without sidecars compare the applications: their difference is the
 * other network's. pairs: the ratio of two planes on each side.
 * @param {{ local: Side, other: Side }} sides
 */
export function compareTargets({ local, other }) {
  const floor = Math.max(GAP_LEAST, ...[local, other].map(computeNoise))
  const computeSidecarMicros = (/** @type {TrialRecord} */ r) => computeCpuPerRequestMicros(r, listMeasuredSidecars(r))
  const computeApplicationMicros = (/** @type {TrialRecord} */ r) =>
    computeCpuPerRequestMicros(r, listByRole(r.processes, 'application'))
  const compared = local.arms.filter(arm => arm.repeatOf === null)
  const computeAgreement = (/** @type {Arm} */ arm, /** @type {typeof computeSidecarMicros} */ measure) => {
    const [a, b] = [local, other].map(({ records, rounds }) => {
      const armRecords = records.filter(r => r.trial.arm.id === arm.id)
      return groupByRound(armRecords, rounds).map(trials => findRoundValue(trials, 'cpuPerRequest', measure))
    })
    const ratio = summariseRatios(divideRounds(b, a), local.seed)
    const spoiled = ratio.values.some(value => value === null)
    const verdict = chooseVerdict({ ratio, floor, isSpoiled: spoiled && ratio.values.length >= ROUNDS_LEAST })
    const name = `${renderArmName(arm)}${arm.cpuLimitCores === null ? '' : ` at ${arm.cpuLimitCores}`}`
    return { name, local: summariseValues(a), other: summariseValues(b), ratio, floor, verdict }
  }
  const createComparisonKey = (/** @type {Comparison} */ c) =>
    [c.a, c.b, c.quantity, c.service, c.link, c.cpuLimitCores].join()
  const pairs = listComparisons(local.summary)
    .filter(c => c.quantity === 'cpuPerRequest' && c.service === null && !c.isControl)
    .flatMap(c => {
      const same = listComparisons(other.summary).find(o => createComparisonKey(o) === createComparisonKey(c))
      if (c.ratio.median === null || same?.ratio.median == null) return []
      return [{ name: `${c.a} / ${c.b}`, local: c.ratio.median, other: same.ratio.median }]
    })
  return {
    planes: compared.filter(arm => arm.hasSidecars).map(arm => computeAgreement(arm, computeSidecarMicros)),
    network: compared.filter(arm => !arm.hasSidecars).map(arm => computeAgreement(arm, computeApplicationMicros)),
    pairs,
  }
}

/** @param {ReturnType<typeof compareTargets>} agreement @param {string} other the name of the other target */
export function renderAgreement({ planes, network, pairs }, other) {
  const formatOrDash = (/** @type {number | null} */ value) => (value === null ? '-' : value.toFixed(0))
  const lines = planes.map(({ name, local, other: there, ratio, floor, verdict }) => {
    const figures = `${formatOrDash(local.median)} µs per request local, ${formatOrDash(there.median)} on ${other}`
    return `${name}: ${renderVerdict({ ratio, floor, verdict })} (${figures})`
  })
  for (const { name, local, other: there } of pairs) {
    lines.push(
      `${name}: ${local.toFixed(3)} local, ${there.toFixed(3)} on ${other}: ${renderPercent(Math.abs(there / local - 1), 1)} apart`,
    )
  }
  for (const { name, local, other: there, ratio } of network) {
    if (local.median === null || there.median === null || ratio.median === null) continue
    const more = there.median - local.median
    lines.push(
      `The pod network, by ${name}: the applications use ${formatOrDash(local.median)} µs per request local and ${formatOrDash(there.median)} on ${other}: ${more >= 0 ? '+' : ''}${formatOrDash(more)} µs (× ${ratio.median.toFixed(2)})`,
    )
  }
  return lines.join('\n')
}

/** @param {Pick<Agreement, 'ratio' | 'floor' | 'verdict'>} agreement */
function renderVerdict({ ratio: { median, low, high, values }, floor, verdict }) {
  const noise = `noise floor ${renderPercent(floor, 1)}`
  if (median === null || verdict === 'invalid') return 'cannot be said: a round was spoiled'
  const gap = `${renderPercent(Math.abs(median - 1), 1)} ${median < 1 ? 'less' : 'more'}`
  if (verdict === 'indicative') return `${gap}, indicative only: ${values.length} rounds: ${ROUNDS_LEAST} are needed`
  const ends = [Number(low), Number(high)]
  const difference = `${gap} [${ends.map(v => (100 * (v - 1)).toFixed(1)).join(', ')}], ${noise}`
  // Sides agree only where the whole interval is within the noise; showing no difference is not enough.
  if (ends.every(v => Math.abs(v - 1) <= floor)) return `agrees within the noise floor: ${difference}`
  return verdict === 'no-difference-shown' ? `no difference shown: ${difference}` : `does not agree: ${difference}`
}

/** @param {Side} side */
function computeNoise({ summary }) {
  const spreads = listComparisons(summary).flatMap(c =>
    c.quantity === 'cpuPerRequest' && c.service === null ? (c.aaSpread ?? []) : [],
  )
  return Math.max(0, ...spreads)
}
