import { formatValue, QUANTITIES, quantityOf } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { groupOf, nameOf } from '../../model/arms.js'
import { toMillicores } from '../../model/container-limits.js'

/** The verdict on CPU requests beside a neighbour: at which the p99 doubles. Pure. @import { SummaryArm } from '../../model/types.ts' */

const DOUBLES = 2

/** Says of each proxy at which request its p99 is twice that at the largest. @param {SummaryArm[]} arms */
export function renderCpuRequests(arms) {
  const withRequest = arms.filter(
    ({ repeatOf, conditions }) => repeatOf === null && conditions.cpuRequestCores !== undefined,
  )
  const besideNeighbour = withRequest.filter(({ conditions }) => conditions.neighbourCores !== undefined)
  const groups = groupBy(besideNeighbour, arm => `${nameOf(arm)} ${groupOf(arm, 'cpuRequestCores')}`)
  return [...groups.values()].flatMap(renderDoubling)
}

/** @param {SummaryArm[]} group alike but for the request */
function renderDoubling(group) {
  const points = group
    .map(arm => ({ arm, cores: Number(arm.conditions.cpuRequestCores), p99Ms: quantityOf(arm, 'p99').median }))
    .toSorted((a, b) => b.cores - a.cores)
  const measured = points.flatMap(({ p99Ms, ...point }) => (p99Ms === null ? [] : [{ ...point, p99Ms }]))
  if (measured.length < 2) return []
  const [largest, ...smaller] = measured
  const doubled = smaller.find(({ p99Ms }) => p99Ms >= DOUBLES * largest.p99Ms)
  const last = doubled ?? smaller[smaller.length - 1]
  const { arm } = largest
  const missing = points.filter(({ p99Ms }) => p99Ms === null).map(({ cores }) => renderRequest(cores))
  return [
    [
      `${nameOf(arm)}: beside a neighbour of ${arm.conditions.neighbourCores} CPUs the p99 ${doubled ? 'doubles at' : 'does not double down to'} a CPU request of ${renderRequest(last.cores)}`,
      `${renderMs(last.p99Ms)} ms, and ${renderMs(largest.p99Ms)} at ${renderRequest(largest.cores)}${missing.length > 0 ? `; no p99 at ${missing.join(', ')}` : ''}.`,
    ].join(': '),
  ]
}

/** @param {number} cores */
const renderRequest = cores => `${toMillicores(cores)}m`

/** @param {number} ms */
const renderMs = ms => formatValue(QUANTITIES.p99, ms)
