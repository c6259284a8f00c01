import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { joinWords } from '../../lib/letters.js'
import { createGroupKey, renderArmName } from '../../model/arms.js'
import { renderMillicores } from '../../model/container-limits.js'
import { renderMissingP99s } from './excluded.js'

/**
 * The verdict on CPU requests beside a neighbour: the two requests between which the p99 doubles. Pure.
 * @import { SummaryArm } from '../../model/types.ts'
 */

/** The least multiple of the p99 at the largest request that counts as doubled. */
const DOUBLED_LEAST = 2

/**
 * Renders a sentence for each proxy and set of other conditions: the two CPU requests between which its p99 doubles, or that it
 * does not. CPU requests without a p99 are named.
 * @param {SummaryArm[]} arms
 * @returns {string[]} sentences; []: there is no neighbour, or fewer than two requests
 */
export function renderP99Doublings(arms) {
  const withRequest = arms.filter(
    ({ repeatOf, conditions }) => repeatOf === null && conditions.cpuRequestCores !== undefined,
  )
  const besideNeighbour = withRequest.filter(({ conditions }) => conditions.neighbourCores !== undefined)
  const groups = groupBy(besideNeighbour, arm => `${renderArmName(arm)} ${createGroupKey(arm, 'cpuRequestCores')}`)
  return [...groups.values()].flatMap(renderDoubling)
}

/**
 * Renders the two CPU requests between which the p99 of one proxy doubles, or that it does not, and the requests without a p99.
 * @param {SummaryArm[]} group its arms, which differ only in the CPU request
 * @returns {string[]} one sentence; []: fewer than two requests
 */
function renderDoubling(group) {
  if (group.length < 2) return []
  const arms = group.toSorted((a, b) => readRequestCores(b) - readRequestCores(a))
  const points = arms.flatMap(arm => {
    const p99Ms = findQuantity(arm, 'p99').median
    return p99Ms === null ? [] : [{ cores: readRequestCores(arm), p99Ms }]
  })
  const withoutP99 = arms.filter(arm => findQuantity(arm, 'p99').median === null)
  const missing = renderMissingP99s(withoutP99, missingArms => {
    const requests = missingArms.map(arm => renderMillicores(readRequestCores(arm)))
    return `at ${requests.join(', ')}`
  })
  const start = `${renderArmName(arms[0])}: beside a neighbour of ${arms[0].conditions.neighbourCores} CPUs`
  const [largest, ...smaller] = points
  if (!largest) return [`${start} there is ${missing.join('; ')}.`]
  return [`${[`${start} ${renderDoublingPlace(largest, smaller)}`, ...missing].join('; ')}.`]
}

/** @param {SummaryArm} arm with a CPU request */
const readRequestCores = arm => Number(arm.conditions.cpuRequestCores)

/** @typedef {{ cores: number, p99Ms: number }} Point */

/**
 * Renders the two requests between which the p99 doubles, from the largest down: the last one before any doubled p99, and the first
 * from which on every p99 is doubled. Those between them are in no order, by noise. If the p99 of the smallest request is not doubled,
 * it renders the requests at which it is, or that there are none.
 * @param {Point} largest the largest request that has a p99
 * @param {Point[]} smaller the other requests, falling; []: there is nothing to compare, and the clause says so
 * @returns {string} a clause
 */
function renderDoublingPlace(largest, smaller) {
  const last = smaller.at(-1)
  if (!last) return `the p99 was measured at one CPU request alone: ${renderPoint(largest)}`
  const isDoubled = (/** @type {Point} */ { p99Ms }) => p99Ms >= DOUBLED_LEAST * largest.p99Ms
  if (!isDoubled(last)) {
    const doubled = smaller.filter(isDoubled).map(({ cores }) => renderMillicores(cores))
    const values = `${renderMillicores(last.cores)}: ${renderMs(last.p99Ms)} ms, against ${renderPoint(largest)}`
    return doubled.length > 0
      ? `the p99 doubles at a CPU request of ${joinWords(doubled)}, and not at ${values}`
      : `the p99 does not double down to a CPU request of ${values}`
  }
  const points = [largest, ...smaller]
  const above = points[points.findIndex(isDoubled) - 1]
  const below = points[points.findLastIndex(point => !isDoubled(point)) + 1]
  const against = above === largest ? '' : `, against ${renderPoint(largest)}`
  return `the p99 doubles between a CPU request of ${renderMillicores(above.cores)} and ${renderMillicores(below.cores)}: ${renderMs(above.p99Ms)} and ${renderMs(below.p99Ms)} ms${against}`
}

/**
 * Renders the p99 and the CPU request of a point.
 * @param {Point} point
 * @returns {string} such as `2.1 ms at 250m`
 */
const renderPoint = ({ cores, p99Ms }) => `${renderMs(p99Ms)} ms at ${renderMillicores(cores)}`

/**
 * Renders milliseconds with the digits of the p99, without a unit.
 * @param {number} ms
 * @returns {string}
 */
const renderMs = ms => formatValue(QUANTITIES.p99, ms)
