/** Finds in a pod's status whether it is ready, how it ended, and what is in its way. Pure. */
/** @import { V1Pod } from '@kubernetes/client-node' */

// The kubelet's reasons for an image that it cannot have.
const PULL = /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError)$/
// Temporary reasons: the kubelet retries by itself.
const PASSING = /^(ErrImagePull|ContainerCreating|PodInitializing)$/

/**
 * Finds how a container ended, also one that was restarted.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {string | null} `status N` (by itself), `signal N`, or a cause in words; null: it has not ended
 */
export function findEnding(pod, container) {
  const { status, metadata } = pod
  const containerStatus = findContainerStatus(pod, container)
  const ended =
    containerStatus?.state?.terminated ??
    (containerStatus && containerStatus.restartCount > 0 ? containerStatus.lastState?.terminated : undefined)
  if (status?.reason === 'Evicted') return `an eviction by the kubelet: ${status.message}`
  if (ended?.reason === 'OOMKilled') return 'OOMKilled: its memory limit was reached'
  if (ended) return ended.signal ? `signal ${ended.signal}` : `status ${ended.exitCode}`
  if (status?.phase === 'Failed') return `the pod's failure: ${status.reason ?? ''} ${status.message ?? ''}`.trim()
  return metadata?.deletionTimestamp ? 'the deletion of its pod' : null
}

/**
 * Finds the reason why a pod does not become ready.
 * @param {V1Pod} pod
 * @returns {{ why: string, isFinal: boolean, container: string | null } | null} isFinal: the obstacle does not pass
 *   by itself; container: whose log may have the cause, null: none has; null: there is no obstacle so far
 */
export function findObstacle(pod) {
  const { status, metadata } = pod
  const name = metadata?.name
  const unscheduled = status?.conditions?.find(c => c.type === 'PodScheduled' && c.status === 'False')
  if (unscheduled) return createObstacle(`no node takes the pod ${name}: ${unscheduled.message}`, false)
  if (status?.phase === 'Failed' && status.reason)
    return createObstacle(`the pod ${name} failed: ${status.reason}: ${status.message}`, true)
  for (const containerStatus of listContainerStatuses(pod)) {
    const { waiting, terminated } = containerStatus.state ?? {}
    const { reason, message } = waiting ?? {}
    const reasonText = `${reason}: ${message ?? ''}`
    const what = `${containerStatus.name} of the pod ${name}`
    if (reason && PULL.test(reason)) {
      const why = `the image ${containerStatus.image} of ${what} cannot be pulled: ${reasonText}`
      return createObstacle(why, !PASSING.test(reason))
    }
    const last = terminated ?? containerStatus.lastState?.terminated
    if (last && (containerStatus.restartCount > 0 || last.exitCode !== 0)) {
      const status = `status ${last.exitCode}${last.message ? ` (${last.message})` : ''}`
      const ending = last.reason === 'OOMKilled' ? 'OOMKilled' : status
      return createObstacle(`${what} ended with ${ending}`, true, containerStatus.name)
    }
    if (reason && !PASSING.test(reason))
      return createObstacle(`${what} does not start: ${reasonText}`, false, containerStatus.name)
  }
  return null
}

/**
 * Creates an obstacle.
 * @param {string} why in words
 * @param {boolean} isFinal it does not pass by itself
 * @param {string | null} [container] whose log may have the cause
 * @returns {{ why: string, isFinal: boolean, container: string | null }}
 */
const createObstacle = (why, isFinal, container = null) => ({ why, isFinal, container })

/**
 * Says whether a pod is ready, and is not being deleted.
 * @param {V1Pod} pod
 * @returns {boolean}
 */
export function isReady({ status, metadata }) {
  const isTrue = status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') ?? false
  return isTrue && !metadata?.deletionTimestamp
}

/**
 * Finds the status of a container, which may be an init container.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {import('@kubernetes/client-node').V1ContainerStatus | undefined} undefined: it has none yet
 */
export function findContainerStatus(pod, container) {
  return listContainerStatuses(pod).find(status => status.name === container)
}

/**
 * Finds the id after which a container's cgroup is named.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {string | null} null: it has none yet
 */
export function findContainerId(pod, container) {
  return findContainerStatus(pod, container)?.containerID?.split('://')[1] ?? null
}

/**
 * Lists the statuses of all containers of a pod, init containers first.
 * @param {V1Pod} pod
 * @returns [] while the pod has none
 */
function listContainerStatuses({ status }) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}
