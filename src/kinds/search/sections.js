import { computeRatePerSecond } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { MIB, renderNounCount } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { renderResourcesYaml } from '../../model/container-limits.js'
import { answerSearches } from './answer.js'
import { computeLimitsFound } from './found-limits.js'
import { replaySearches } from './searches.js'
import { hasAnswer } from './size-answer.js'
import { readCpuCores } from './step.js'
import { renderTrialTables } from './trial-rows.js'

/** The results of searches, with the trials that show them. Pure. */
/** @import { Manifest, ResultOf, SearchResult, SearchStep, SizeResult, TrialRecord } from '../../model/types.ts' */
/** @import { Drawn, KindChart, Sections } from '../sections.js' */

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
  createAnswer: answerSearches,
  renderFindings({ sizes, searches }) {
    const answered = sizes.filter(hasAnswer)
    const older = sizes.filter(size => !hasAnswer(size))
    return [
      ...older.flatMap(size => [...(size.services.length > 0 ? renderOlderLoad(size) : renderOlderSize(size)), '']),
      ...answered.flatMap(renderExtrapolation),
      ...renderTrialTables(answered),
      ...searches.flatMap(renderSearch),
    ]
  },
  drawCharts: drawLimits,
  renderNothingShown: ({ searches }) =>
    searches.length > 0 && !searches.some(search => search.isFound) ? 'no search found its limit' : null,
  renderUnfinished({ manifest: { arms, search }, records, result }) {
    const { searches = [], sizes = [] } = result ?? {}
    const ended = searches.length + sizes.filter(size => size.isOver !== false).length
    const planned = search?.kind === 'services' ? countServiceResults(arms, search.services) : arms.length
    return ended < planned ? `${ended} of ${planned} searches have ended, after ${records.length} trials` : null
  },
}

/**
 * Counts the results of a file of services: one for each plane and distinct load.
 * @param {Manifest['arms']} arms
 * @param {{ ratePerSecond: number, payloadBytes: number }[]} services
 * @returns {number}
 */
function countServiceResults(arms, services) {
  const loads = new Set(services.map(({ ratePerSecond, payloadBytes }) => `${ratePerSecond} ${payloadBytes}`))
  return new Set(arms.map(renderArmName)).size * loads.size
}

/**
 * Renders the result of an older search for a load of services: its limits and check, or why it has none, and each step.
 * @param {SizeResult} size
 * @returns {string[]} lines
 */
function renderOlderLoad(size) {
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
 * Renders the result of an older search, with its checks and, if limits were found, the resources to paste.
 * @param {SizeResult} size
 * @returns {string[]} lines
 */
function renderOlderSize(size) {
  const { cpu, memory, checks, isChecked } = size
  const lines = [...renderSearch(cpu), ...renderExtrapolation(size), ...(memory ? renderSearch(memory) : [])]
  const limits = computeLimitsFound(size)
  if (limits === null) {
    return cpu.isFound && !memory
      ? [...lines, '  no limits are given, and no memory was tried:', ...checks.map(renderCheck)]
      : lines
  }
  const uncharged = (memory?.unchargedBytes ?? 0) / MIB
  const pages =
    uncharged >= 1 ? `, with ${uncharged.toFixed(1)} MiB of file pages that were not charged to the sidecar` : ''
  return [
    ...lines,
    `  memory limit to give: ${limits.mebibytes} MiB, above every limit that killed here${pages}`,
    ...checks.map(renderCheck),
    isChecked
      ? `  ${renderArmName(size)}, for the pod spec of each sidecar:`
      : `  ${renderArmName(size)}: the answer did NOT pass its own check; what was found:`,
    ...renderResourcesYaml(limits),
  ]
}

/**
 * Renders a check of an older search, and whether its outcome is the expected one.
 * @param {SizeResult['checks'][0]} check
 * @returns {string} a line
 */
function renderCheck({ what, mustHold, held, why, trials }) {
  const subject = `  checked ${what}`
  const reason = `(${why}; ${trials.length} trials)`
  if (held === null) return `${subject}: not judged ${reason}`
  const expectation = held === mustHold ? 'as it must' : 'AND IT MUST NOT BE SO'
  return `${subject}: ${held ? 'holds' : 'does not hold'}, ${expectation} ${reason}`
}

/**
 * Renders the CPU that a line through lower rates extrapolates.
 * @param {SizeResult} size
 * @returns {string[]} one line; []: nothing was extrapolated
 */
function renderExtrapolation({ extrapolated }) {
  if (extrapolated === null) return []
  const { cores, baseMillicores, slopeMillicoresPerRequestPerSecond: slope, points } = extrapolated
  const millicoresByRate = points.map(p => `${p.ratePerSecond}/s ${p.millicores.toFixed(0)}`).join(', ')
  return [
    `  EXTRAPOLATED, not measured: about ${cores.toFixed(2)} cores for the busiest sidecar, by the line ${baseMillicores.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s through ${millicoresByRate}`,
  ]
}

/** Renders the bracket of a search, or why it found nothing, and each step. @param {SearchResult} result @returns {string[]} lines */
function renderSearch(result) {
  const { looksFor, held, failed, why, isFound, steps, link } = result
  const renderEnd = (/** @type {number | null} */ end) => (end === null ? 'nothing' : renderStepValue(end, result))
  const finding = isFound
    ? `${renderEnd(held)}; the bracket is [${renderEnd(failed)} failed, ${renderEnd(held)} held]`
    : renderLack(result)
  const head = `${renderArmName(result)}, ${link}: ${WORDS[looksFor]} that holds: ${finding}: ${why}`
  return [head, ...steps.map(step => `    ${renderStep(step, result)}`)]
}

/**
 * Renders that a search found no limit, and the nearest value that held, if one did.
 * @param {SearchResult} result
 * @returns {string} a clause
 */
function renderLack(result) {
  const { looksFor, held, steps } = result
  const isJudged = steps.every(step => step.held !== null)
  const lack = isJudged ? 'not reachable on this machine' : 'no answer, for not every value could be judged'
  if (held === null) return lack
  const value = renderStepValue(held, result)
  return looksFor === 'knee' ? `${lack} beyond ${value}` : `${lack} below ${value}, which held`
}

/**
 * Renders a step of a search.
 * @param {SearchStep} step
 * @param {SearchResult} result
 * @returns {string} a line
 */
function renderStep({ value, held, why, trials }, result) {
  const judged = held ? 'held' : 'failed'
  const outcome = held === null ? 'not judged' : judged
  return `${renderStepValue(value, result).padEnd(16)} ${outcome.padEnd(10)} ${why} (${trials.join(', ')})`
}

/**
 * Renders a value of a search, with its unit.
 * @param {number} value
 * @param {Pick<SearchResult, 'unit'>} result
 * @returns {string}
 */
function renderStepValue(value, { unit }) {
  if (unit === 'bytes') return `${(value / MIB).toFixed(2)} MiB`
  return unit === 'cores' ? renderNounCount(value, 'core') : `${value} requests/s`
}

/**
 * Draws the rates of the trials over their CPU limits, and the answers that have a CPU limit: a line for each plane.
 * @param {Drawn<ResultOf<'search'>>} drawn
 * @returns {KindChart[]} one; []: no judged trial has a rate and a CPU limit
 */
function drawLimits({ result: { sizes }, records, colourFor }) {
  const lines = [...groupBy(sizes, renderArmName)].map(([label, sizesOfPlane]) => ({
    label,
    colour: colourFor({ ...sizesOfPlane[0], hasSidecars: true }),
    points: listTrialPoints(sizesOfPlane, records),
    answers: sizesOfPlane.flatMap(({ cpu, ratePerSecond, p99Ms }) =>
      cpu.isFound && cpu.held !== null ? [{ cores: cpu.held, ratePerSecond, p99Ms }] : [],
    ),
  }))
  if (!lines.some(line => line.points.length > 0)) return []
  const isOfRequests = sizes.some(({ neighbourCores }) => neighbourCores !== undefined)
  const title = `Rate over the CPU ${isOfRequests ? 'request' : 'limit'} of each sidecar`
  return [{ form: 'overLimit', id: 'over-limit', title, lines }]
}

/**
 * Lists the judged trials of sizes that have a rate and a CPU limit.
 * @param {SizeResult[]} sizes of a plane
 * @param {TrialRecord[]} records
 * @returns {{ cores: number, ratePerSecond: number, isHeld: boolean }[]} []: there are none
 */
function listTrialPoints(sizes, records) {
  const held = new Set(sizes.flatMap(size => listTrialIds(size, true)))
  const failed = new Set(sizes.flatMap(size => listTrialIds(size, false)))
  return records.flatMap(record => {
    const { id, arm } = record.trial
    const ratePerSecond = computeRatePerSecond(record)
    const cores = readCpuCores(arm)
    const isJudged = held.has(id) || failed.has(id)
    return isJudged && ratePerSecond !== null && cores !== null ? [{ cores, ratePerSecond, isHeld: held.has(id) }] : []
  })
}

/**
 * Lists the ids of the trials of steps and checks that held, or that failed.
 * @param {SizeResult} size
 * @param {boolean} isHeld true: those that held; false: those that failed
 * @returns {string[]}
 */
function listTrialIds({ cpu, checks }, isHeld) {
  return [...cpu.steps, ...checks].filter(step => step.held === isHeld).flatMap(step => step.trials)
}
