import { limitsOf } from '../analysis/node-fit.js'
import { MIB } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { toResources } from './limits.js'

/**
 * The results of searches, with the trials that show them. Pure.
 * @import { SearchResult, SearchStep, SizeResult, Summary } from '../model/types.ts'
 */

const WORDS = { knee: 'highest rate', cpu: 'smallest CPU limit', memory: 'smallest memory limit' }

/** Whether a run looked for something, and has no rounds. @param {Pick<Summary, 'searches' | 'sizes'>} summary */
export function isSearch({ searches, sizes }) {
  return searches.length + sizes.length > 0
}

/** @param {Pick<Summary, 'searches'>} summary */
export function renderSearches({ searches }) {
  return searches.flatMap(renderSearch)
}

/** @param {Pick<Summary, 'sizes'>} summary */
export function renderSizes({ sizes }) {
  return sizes.flatMap(size => [...(size.services.length > 0 ? renderService(size) : renderSize(size)), ''])
}

/** @param {SizeResult} size of a file of services */
function renderService(size) {
  const { services, ratePerSecond, p99LimitMs, line, cpu, checks } = size
  const head = `${services.join(', ')}, ${nameOf(size)}: ${ratePerSecond} requests/s with a p99 of at most ${p99LimitMs} ms`
  const steps = cpu.steps.map(step => `    ${renderStep(step, cpu)}`)
  const limits = limitsOf(size)
  if (limits === null) return [`${head}: no limits were found: ${cpu.why}`, ...steps]
  const fit = line
    ? `; the busiest sidecar takes ${line.baseMillicores.toFixed(0)} millicores + ${(100 * line.slopeMillicoresPerRequestPerSecond).toFixed(1)} per 100 requests/s`
    : ''
  return [
    `${head}: ${limits.millicores}m and ${limits.mebibytes}Mi`,
    ...checks.map(({ why, trials }) => `  checked at the answer: ${why} (${trials.length} trials)${fit}`),
    ...steps,
  ]
}

/** @param {SizeResult} size */
function renderSize(size) {
  const { cpu, memory, checks, isChecked } = size
  const lines = [...renderSearch(cpu), ...renderExtrapolation(size)]
  if (memory) lines.push(...renderSearch(memory))
  const limits = limitsOf(size)
  if (limits === null) {
    return cpu.isFound && !memory
      ? [...lines, '  no limits are given, and no memory was tried:', ...checks.map(renderCheck)]
      : lines
  }
  const uncharged = (memory?.unchargedBytes ?? 0) / MIB
  return [
    ...lines,
    `  memory limit to give: ${limits.mebibytes} MiB, above every limit that killed here${uncharged >= 1 ? `, with ${uncharged.toFixed(1)} MiB of file pages that were not charged to the sidecar` : ''}`,
    ...checks.map(renderCheck),
    isChecked
      ? `  ${nameOf(size)}, for the pod spec of each sidecar:`
      : `  ${nameOf(size)}: the answer did NOT pass its own check; what was found:`,
    '    resources:',
    ...Object.entries(toResources(limits)).map(
      ([name, { cpu, memory }]) => `      ${name}: { cpu: ${cpu}, memory: ${memory} }`,
    ),
  ]
}

/** @param {SizeResult['checks'][0]} check */
function renderCheck({ what, mustHold, held, why, trials }) {
  const found = held === null ? 'not judged' : held ? 'holds' : 'does not hold'
  const isRight = held === mustHold ? ', as it must' : held === null ? '' : ', AND IT MUST NOT BE SO'
  return `  checked ${what}: ${found}${isRight} (${why}; ${trials.length} trials)`
}

/** @param {SizeResult} size */
function renderExtrapolation({ extrapolated }) {
  if (extrapolated === null) return []
  const { cores, baseMillicores, slopeMillicoresPerRequestPerSecond: slope, points } = extrapolated
  const seen = points.map(p => `${p.ratePerSecond}/s ${p.millicores.toFixed(0)}`).join(', ')
  return [
    `  EXTRAPOLATED, not measured: about ${cores.toFixed(2)} cores for the busiest sidecar, by the line ${baseMillicores.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s through ${seen}`,
  ]
}

/** @param {SearchResult} result */
function renderSearch(result) {
  const { looksFor, held, failed, why, isFound, steps, link } = result
  const show = (/** @type {number | null} */ value) => (value === null ? 'nothing' : formatValue(value, result))
  const whose = `${nameOf(result)}, ${link}: ${WORDS[looksFor]} that holds`
  const isJudged = steps.every(step => step.held !== null)
  const lack = isJudged ? 'not reachable on this machine' : 'no answer, for not every value could be judged'
  const head = isFound
    ? `${whose}: ${show(held)}; the bracket is [${show(failed)} failed, ${show(held)} held]: ${why}`
    : `${whose}: ${lack}${held === null ? '' : looksFor === 'knee' ? ` beyond ${show(held)}` : ` below ${show(held)}, which held`}: ${why}`
  return [head, ...steps.map(step => `    ${renderStep(step, result)}`)]
}

/**
 * @param {SearchStep} step
 * @param {SearchResult} result
 */
function renderStep({ value, held, why, trials }, result) {
  const outcome = held === null ? 'not judged' : held ? 'held' : 'failed'
  return `${formatValue(value, result).padEnd(16)} ${outcome.padEnd(10)} ${why} (${trials.join(', ')})`
}

/**
 * @param {number} value
 * @param {Pick<SearchResult, 'unit'>} result
 */
export function formatValue(value, { unit }) {
  if (unit === 'bytes') return `${(value / MIB).toFixed(2)} MiB`
  return unit === 'cores' ? `${value} cores` : `${value} requests/s`
}
