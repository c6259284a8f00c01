import { fitOnNode } from '../analysis/node-fit.js'
import { GIB, MIB, percent } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { recommendedBytes } from '../search/memory-floor.js'

/**
 * What searches found, with the trials that show it. Pure.
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

/**
 * What the answers mean for a node.
 * @param {SizeResult[]} sizes
 * @param {{ cores: number, bytes: number }} node
 */
export function renderNodeFit(sizes, node) {
  return sizes.flatMap(size => {
    const fit = fitOnNode(size, node)
    if (fit === null) return []
    const { count, limit, cpuShare, memoryShare } = fit
    return [
      `${nameOf(size)}: ${count} such sidecars fill a node of ${node.cores} cores and ${node.bytes / GIB} GiB, by ${limit}; each takes ${percent(cpuShare, 1)} of its CPU and ${percent(memoryShare, 1)} of its memory (applications and the system not counted)`,
    ]
  })
}

/** @param {Pick<Summary, 'sizes'>} summary */
export function renderSizes({ sizes }) {
  return sizes.flatMap(size => [...renderSize(size), ''])
}

/** @param {SizeResult} size */
function renderSize(size) {
  const { cpu, memory, checks, isChecked } = size
  const lines = [...renderSearch(cpu), ...renderExtrapolation(size)]
  if (memory) lines.push(...renderSearch(memory))
  if (!cpu.isFound || !memory?.isFound || cpu.held === null) return lines
  const megabytes = Math.ceil(recommendedBytes(memory) / MIB)
  const uncharged = (memory.unchargedBytes ?? 0) / MIB
  return [
    ...lines,
    `  memory limit to give: ${megabytes} MiB, above every limit that killed here${uncharged >= 1 ? `, with ${uncharged.toFixed(1)} MiB of file pages that were not charged to the sidecar` : ''}`,
    ...checks.map(
      ({ what, mustHold, held, why, trials }) =>
        `  checked ${what}: ${held === null ? 'not judged' : held ? 'holds' : 'does not hold'}${held === mustHold ? ', as it must' : held === null ? '' : ', AND IT MUST NOT BE SO'} (${why}; ${trials.length} trials)`,
    ),
    isChecked
      ? `  ${nameOf(size)}, for the pod spec of each sidecar:`
      : `  ${nameOf(size)}: the answer did NOT pass its own check; what was found:`,
    '    resources:',
    `      requests: { cpu: ${Math.ceil(1000 * cpu.held)}m, memory: ${megabytes}Mi }`,
    `      limits: { cpu: ${Math.ceil(1000 * cpu.held)}m, memory: ${megabytes}Mi }`,
  ]
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
  const head = isFound
    ? `${whose}: ${show(held)}; the bracket is [${show(failed)} failed, ${show(held)} held]: ${why}`
    : `${whose}: not reachable on this machine${held === null ? '' : looksFor === 'knee' ? ` beyond ${show(held)}` : ` below ${show(held)}, which held`}: ${why}`
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
