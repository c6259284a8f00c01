import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { P99_REQUESTS } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { joinWords } from '../../lib/letters.js'
import { createGroupKey, renderArmName } from '../../model/arms.js'
import { toMillicores } from '../../model/container-limits.js'
import { findExclusion } from './excluded.js'

/**
 * The verdict on CPU requests beside a neighbour: the two requests between which the p99 doubles. Pure.
 * @import { SummaryArm } from '../../model/types.ts'
 */

/** From this multiple of the p99 at the largest request on, a p99 counts as risen. */
const DOUBLES = 2

/**
 * Renders for each proxy the two CPU requests between which its p99 doubles, or that it does not double.
 * @param {SummaryArm[]} arms
 * @returns {string[]} sentences; []: there is no neighbour, or fewer than two requests
 */
export function renderCpuRequests(arms) {
  const withRequest = arms.filter(
    ({ repeatOf, conditions }) => repeatOf === null && conditions.cpuRequestCores !== undefined,
  )
  const besideNeighbour = withRequest.filter(({ conditions }) => conditions.neighbourCores !== undefined)
  const groups = groupBy(besideNeighbour, arm => `${renderArmName(arm)} ${createGroupKey(arm, 'cpuRequestCores')}`)
  return [...groups.values()].flatMap(renderDoubling)
}

/**
 * Renders the sentence of one proxy.
 * @param {SummaryArm[]} group its arms, which differ only in the CPU request
 * @returns {string[]} one sentence; []: fewer than two requests
 */
function renderDoubling(group) {
  const points = group
    .map(arm => ({ arm, cores: Number(arm.conditions.cpuRequestCores), p99Ms: findQuantity(arm, 'p99').median }))
    .toSorted((a, b) => b.cores - a.cores)
  const measured = points.flatMap(({ p99Ms, ...point }) => (p99Ms === null ? [] : [{ ...point, p99Ms }]))
  const missing = points.filter(({ p99Ms }) => p99Ms === null)
  if (points.length < 2) return []
  const [{ arm }] = points
  const [largest, ...smaller] = measured
  const lacks = renderMissingByRequest(missing.map(point => point.arm))
  const start = `${renderArmName(arm)}: beside a neighbour of ${arm.conditions.neighbourCores} CPUs`
  if (!largest) return [`${start} there is ${lacks.join('; ')}.`]
  return [`${[`${start} ${renderDoublingPlace(largest, smaller)}`, ...lacks].join('; ')}.`]
}

/** @typedef {{ cores: number, p99Ms: number }} Point */

/**
 * Renders the two requests between which the p99 doubles: the last above the first doubled one, and the largest from
 * which on all smaller ones are doubled. Noise may have changed the order of those between.
 * @param {Point} largest the largest request
 * @param {Point[]} smaller the other requests, falling
 * @returns {string} a clause
 */
function renderDoublingPlace(largest, smaller) {
  const last = smaller.at(-1)
  if (!last) return `the p99 was measured at one CPU request alone: ${renderPoint(largest)}`
  const isDoubled = (/** @type {Point} */ { p99Ms }) => p99Ms >= DOUBLES * largest.p99Ms
  const doubled = smaller.filter(isDoubled)
  if (!isDoubled(last) && doubled.length > 0)
    return `the p99 doubles at a CPU request of ${joinWords(doubled.map(({ cores }) => renderRequest(cores)))}, and not at ${renderRequest(last.cores)}: ${renderMs(last.p99Ms)} ms, against ${renderPoint(largest)}`
  if (!isDoubled(last))
    return `the p99 does not double down to a CPU request of ${renderRequest(last.cores)}: ${renderMs(last.p99Ms)} ms, against ${renderPoint(largest)}`
  const points = [largest, ...smaller]
  const above = points[points.findIndex(isDoubled) - 1]
  const below = points[points.findLastIndex(point => !isDoubled(point)) + 1]
  const against = above === largest ? '' : `, against ${renderPoint(largest)}`
  return `the p99 doubles between a CPU request of ${renderRequest(above.cores)} and ${renderRequest(below.cores)}: ${renderMs(above.p99Ms)} and ${renderMs(below.p99Ms)} ms${against}`
}

/**
 * Renders the requests without a p99, by reason: the gate that excluded it, or too few requests in the window.
 * @param {SummaryArm[]} arms without a p99, by falling request
 * @returns {string[]} clauses; []: there is no such arm
 */
function renderMissingByRequest(arms) {
  const armsByGate = groupBy(arms, arm => findExclusion([arm], 'latency')?.gate)
  return [...armsByGate.values()].map(group => {
    const requests = group.map(({ conditions }) => renderRequest(Number(conditions.cpuRequestCores)))
    return `no p99 at ${requests.join(', ')}: ${findExclusion([group[0]], 'latency')?.reason ?? renderTooFewRequests(group[0])}`
  })
}

/**
 * Renders how many requests a window has, and how many a p99 needs; if there are enough, that no p99 was measured.
 * @param {SummaryArm} arm without a p99, though no gate excluded it
 * @returns {string} a clause
 */
export function renderTooFewRequests({ load: { ratePerSecond = 0, windowSeconds } }) {
  const due = Math.round(ratePerSecond * windowSeconds)
  if (due >= P99_REQUESTS) return 'none was measured'
  return `${due} requests in a window, and a p99 takes ${P99_REQUESTS} (--rate ${Math.ceil(P99_REQUESTS / windowSeconds)}, or --profile full)`
}

/**
 * Renders the p99 and the CPU request of a point.
 * @param {Point} point
 * @returns {string} such as `2.1 ms at 250m`
 */
const renderPoint = ({ cores, p99Ms }) => `${renderMs(p99Ms)} ms at ${renderRequest(cores)}`

/**
 * Renders a CPU request in millicores, such as `250m`.
 * @param {number} cores
 * @returns {string}
 */
const renderRequest = cores => `${toMillicores(cores)}m`

/**
 * Renders milliseconds with the digits of the p99, without a unit.
 * @param {number} ms
 * @returns {string}
 */
const renderMs = ms => formatValue(QUANTITIES.p99, ms)
