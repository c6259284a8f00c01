import { computeRatePerSecond } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { MIB, renderNounCount } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { renderResources } from '../../model/container-limits.js'
import { answerSearches } from './answer.js'
import { computeLimitsFound } from './memory-floor.js'
import { replaySearches } from './searches.js'
import { readCpuCores } from './step.js'
import { isAnswered, renderTrialTables } from './trial-rows.js'

/** The results of searches, with the trials that show them. Pure. */
/** @import { Manifest, ResultOf, SearchResult, SearchStep, SizeResult } from '../../model/types.ts' */
/**
 * @import { Answered } from './trial-rows.js'
 * @import { Drawn, KindChart, Sections } from '../sections.js'
 */

const WORDS = { knee: 'highest rate', cpu: 'smallest CPU limit', memory: 'smallest memory limit' }

/** @type {Sections<ResultOf<'search'>>} */
export const searchSections = {
  kind: 'search',
  hasRounds: false,
  summarise(run) {
    const results = replaySearches(run)
    return {
      searches: results.flatMap(result => ('looksFor' in result ? [result] : [])),
      sizes: results.flatMap(result => ('looksFor' in result ? [] : [result])),
    }
  },
  answer: answerSearches,
  findings: ({ sizes, searches }) => [
    ...sizes.flatMap(size =>
      isAnswered(size) ? [] : [...(size.services.length > 0 ? renderService(size) : renderSize(size)), ''],
    ),
    ...renderSizeLines(sizes.filter(isAnswered)),
    ...searches.flatMap(renderSearch),
  ],
  charts: drawLimits,
  renderNothingShown: ({ searches }) =>
    searches.length > 0 && !searches.some(search => search.isFound) ? 'no search found its limit' : null,
  renderUnfinished({ manifest: { arms, search }, records, result }) {
    const { searches = [], sizes = [] } = result ?? {}
    const ended = searches.length + sizes.filter(size => size.isOver !== false).length
    const plannedTrials = search?.kind === 'services' ? countLoads(arms, search.services) : arms.length
    return ended < plannedTrials
      ? `${ended} of ${plannedTrials} searches have ended, after ${records.length} trials`
      : null
  },
}

/**
 * Counts the results of a file of services: one for each plane and distinct load.
 * @param {Manifest['arms']} arms
 * @param {{ ratePerSecond: number, payloadBytes: number }[]} services
 * @returns {number}
 */
function countLoads(arms, services) {
  const loads = new Set(services.map(({ ratePerSecond, payloadBytes }) => `${ratePerSecond} ${payloadBytes}`))
  return new Set(arms.map(renderArmName)).size * loads.size
}

/**
 * Renders the trials of sizes, and the lines through lower rates.
 * @param {Answered[]} sizes
 * @returns {string[]}
 */
function renderSizeLines(sizes) {
  const lines = sizes.flatMap(renderExtrapolation)
  return [...lines, ...renderTrialTables(sizes)]
}

/** Renders the result of an older search for a load of services. @param {SizeResult} size @returns {string[]} lines */
function renderService(size) {
  const { services, ratePerSecond, p99LimitMs, line, cpu, checks } = size
  const head = `${services.join(', ')}, ${renderArmName(size)}: ${ratePerSecond} requests/s with a p99 of at most ${p99LimitMs} ms`
  const steps = cpu.steps.map(step => `    ${renderStep(step, cpu)}`)
  const limits = computeLimitsFound(size)
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

/**
 * Renders the result of an older search, with its checks and the resources to paste.
 * @param {SizeResult} size
 * @returns {string[]} lines
 */
function renderSize(size) {
  const { cpu, memory, checks, isChecked } = size
  const lines = [...renderSearch(cpu), ...renderExtrapolation(size)]
  if (memory) lines.push(...renderSearch(memory))
  const limits = computeLimitsFound(size)
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
      ? `  ${renderArmName(size)}, for the pod spec of each sidecar:`
      : `  ${renderArmName(size)}: the answer did NOT pass its own check; what was found:`,
    ...renderResources(limits),
  ]
}

/**
 * Renders a check of an older search, and whether its outcome is the expected one.
 * @param {SizeResult['checks'][0]} check
 * @returns {string} a line
 */
function renderCheck({ what, mustHold, held, why, trials }) {
  const verdict = held === null ? 'not judged' : held ? 'holds' : 'does not hold'
  const isRight = held === mustHold ? ', as it must' : held === null ? '' : ', AND IT MUST NOT BE SO'
  return `  checked ${what}: ${verdict}${isRight} (${why}; ${trials.length} trials)`
}

/** Renders the line through lower rates. @param {SizeResult} size @returns {string[]} one line; []: there is none */
function renderExtrapolation({ extrapolated }) {
  if (extrapolated === null) return []
  const { cores, baseMillicores, slopeMillicoresPerRequestPerSecond: slope, points } = extrapolated
  const millicoresByRate = points.map(p => `${p.ratePerSecond}/s ${p.millicores.toFixed(0)}`).join(', ')
  return [
    `  EXTRAPOLATED, not measured: about ${cores.toFixed(2)} cores for the busiest sidecar, by the line ${baseMillicores.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s through ${millicoresByRate}`,
  ]
}

/** Renders what a search found, or why it found nothing, and each step. @param {SearchResult} result @returns {string[]} lines */
function renderSearch(result) {
  const { looksFor, held, failed, why, isFound, steps, link } = result
  const formatHeld = (/** @type {number | null} */ value) => (value === null ? 'nothing' : formatValue(value, result))
  const subject = `${renderArmName(result)}, ${link}: ${WORDS[looksFor]} that holds`
  const isJudged = steps.every(step => step.held !== null)
  const lack = isJudged ? 'not reachable on this machine' : 'no answer, for not every value could be judged'
  const head = isFound
    ? `${subject}: ${formatHeld(held)}; the bracket is [${formatHeld(failed)} failed, ${formatHeld(held)} held]: ${why}`
    : `${subject}: ${lack}${held === null ? '' : looksFor === 'knee' ? ` beyond ${formatHeld(held)}` : ` below ${formatHeld(held)}, which held`}: ${why}`
  return [head, ...steps.map(step => `    ${renderStep(step, result)}`)]
}

/**
 * Renders a step of a search.
 * @param {SearchStep} step
 * @param {SearchResult} result
 * @returns {string} a line
 */
function renderStep({ value, held, why, trials }, result) {
  const outcome = held === null ? 'not judged' : held ? 'held' : 'failed'
  return `${formatValue(value, result).padEnd(16)} ${outcome.padEnd(10)} ${why} (${trials.join(', ')})`
}

/**
 * Formats a value of a search, with its unit.
 * @param {number} value
 * @param {Pick<SearchResult, 'unit'>} result
 * @returns {string}
 */
function formatValue(value, { unit }) {
  if (unit === 'bytes') return `${(value / MIB).toFixed(2)} MiB`
  return unit === 'cores' ? renderNounCount(value, 'core') : `${value} requests/s`
}

/**
 * Draws the rates of the trials over their CPU limits, and the answers that have a CPU limit.
 * @param {Drawn<ResultOf<'search'>>} drawn
 * @returns {KindChart[]} one; []: no trial was judged
 */
function drawLimits({ result: { sizes }, records, colourFor }) {
  const lines = [...groupBy(sizes, renderArmName)].map(([label, sizesOfPlane]) => {
    const held = new Set(sizesOfPlane.flatMap(size => listTrialIds(size, true)))
    const failed = new Set(sizesOfPlane.flatMap(size => listTrialIds(size, false)))
    const points = records.flatMap(record => {
      const { id, arm } = record.trial
      const rate = computeRatePerSecond(record)
      const cores = readCpuCores(arm)
      if (rate === null || cores === null || !(held.has(id) || failed.has(id))) return []
      return [{ cores, ratePerSecond: rate, isHeld: held.has(id) }]
    })
    const answers = sizesOfPlane.flatMap(({ cpu, ratePerSecond: rate, p99Ms }) =>
      cpu.isFound && cpu.held !== null ? [{ cores: cpu.held, ratePerSecond: rate, p99Ms }] : [],
    )
    return { label, colour: colourFor({ ...sizesOfPlane[0], hasSidecars: true }), points, answers }
  })
  if (!lines.some(line => line.points.length > 0)) return []
  const isOfRequests = sizes.some(({ neighbourCores }) => neighbourCores !== undefined)
  const title = `Rate over the CPU ${isOfRequests ? 'request' : 'limit'} of each sidecar`
  return [{ form: 'overLimit', id: 'over-limit', title, lines }]
}

/**
 * Lists the ids of trials at CPU limits, and of checks, that held or failed.
 * @param {SizeResult} size
 * @param {boolean} isHeld true: those that held; false: those that failed
 * @returns {string[]}
 */
function listTrialIds({ cpu, checks }, isHeld) {
  return [...cpu.steps, ...checks].filter(step => step.held === isHeld).flatMap(step => step.trials)
}
