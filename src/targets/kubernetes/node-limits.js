import { parseQuantity } from './quantity.js'

/** What a node still has for pods, as its scheduler counts. Pure. */
/** @import { V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node' */
/** @import { NodeLimits } from '../../model/types.ts' */

/** @param {{ node: V1Node, pods: V1Pod[] }} options pods: of the cluster @returns {NodeLimits} */
export function findLimits({ node: { metadata, status }, pods }) {
  const name = `${metadata?.name}`
  const own = pods.filter(({ spec, status }) => spec?.nodeName === name && !/Succeeded|Failed/.test(`${status?.phase}`))
  const offered = (/** @type {string} */ what) => parseQuantity(status?.allocatable?.[what] ?? '')
  const requested = (/** @type {string} */ what) =>
    own.reduce((sum, { spec }) => sum + (spec ? requestOf(spec, what) : 0), 0)
  return {
    node: name,
    pods: offered('pods'),
    podsUsed: own.length,
    memoryBytes: offered('memory'),
    memoryRequestedBytes: requested('memory'),
    cpus: offered('cpu'),
    cpusRequested: requested('cpu'),
  }
}

/** @param {V1PodSpec} spec @param {string} what cpu or memory */
function requestOf({ containers, initContainers }, what) {
  const natives = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  // An unknown number counts as nothing: what the scheduler refuses is said when the pod waits.
  return [...containers, ...natives].reduce(
    (sum, { resources }) => sum + (parseQuantity(resources?.requests?.[what] ?? '0') || 0),
    0,
  )
}
