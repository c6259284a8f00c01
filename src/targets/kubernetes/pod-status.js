/** A pod's status says whether it is ready, how it ended, and what is in its way. Pure. */
/** @import { V1ContainerStatus, V1Pod } from '@kubernetes/client-node' */

// Reasons for which a container waits because the kubelet cannot get its image.
const PULL = /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError)$/
// The kubelet retries by itself after these reasons.
const TEMPORARY = /^(ErrImagePull|ContainerCreating|PodInitializing)$/

/**
 * @typedef {object} Obstacle
 * @property {string} why in words
 * @property {boolean} isFinal the obstacle does not pass by itself
 * @property {string | null} container the one whose log may have the cause; null: there is none
 */

/**
 * Finds how a container ended, also one that was restarted.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {string | null} `status N` (by itself), `signal N`, or a cause in words, such as an eviction or the deletion of its pod;
 *   null: it has not ended
 */
export function findEnding(pod, container) {
  const { status, metadata } = pod
  const { state, lastState, restartCount = 0 } = findContainerStatus(pod, container) ?? {}
  const terminated = state?.terminated ?? (restartCount > 0 ? lastState?.terminated : null)
  if (status?.reason === 'Evicted') return `an eviction by the kubelet: ${status.message}`
  if (terminated?.reason === 'OOMKilled') return 'OOMKilled: its memory limit was reached'
  if (terminated) return terminated.signal ? `signal ${terminated.signal}` : `status ${terminated.exitCode}`
  if (status?.phase === 'Failed') return `the pod's failure: ${status.reason ?? ''} ${status.message ?? ''}`.trim()
  return metadata?.deletionTimestamp ? 'the deletion of its pod' : null
}

/**
 * Finds the reason why a pod does not become ready.
 * @param {V1Pod} pod
 * @returns {Obstacle | null} null: there is none so far
 */
export function findObstacle(pod) {
  const { status, metadata } = pod
  const name = metadata?.name
  const unscheduled = status?.conditions?.find(c => c.type === 'PodScheduled' && c.status === 'False')
  if (unscheduled) return createObstacle(`no node takes the pod ${name}: ${unscheduled.message}`, false)
  if (status?.phase === 'Failed' && status.reason)
    return createObstacle(`the pod ${name} failed: ${status.reason}: ${status.message}`, true)
  for (const containerStatus of listContainerStatuses(pod)) {
    const obstacle = findContainerObstacle(containerStatus, `${containerStatus.name} of the pod ${name}`)
    if (obstacle !== null) return obstacle
  }
  return null
}

/**
 * Finds the reason why a container does not start, or did not keep running.
 * @param {V1ContainerStatus} containerStatus
 * @param {string} noun for the container
 * @returns {Obstacle | null} null: it was never restarted, and it is starting, runs, or ended with status 0
 */
function findContainerObstacle({ name, image, state, lastState, restartCount }, noun) {
  const { waiting, terminated } = state ?? {}
  const { reason, message } = waiting ?? {}
  const reasonText = `${reason}: ${message ?? ''}`
  if (reason && PULL.test(reason)) {
    const why = `the image ${image} of ${noun} cannot be pulled: ${reasonText}`
    return createObstacle(why, !TEMPORARY.test(reason))
  }
  const last = terminated ?? lastState?.terminated
  if (last && (restartCount > 0 || last.exitCode !== 0)) {
    const status = `status ${last.exitCode}${last.message ? ` (${last.message})` : ''}`
    const ending = last.reason === 'OOMKilled' ? 'OOMKilled' : status
    return createObstacle(`${noun} ended with ${ending}`, true, name)
  }
  if (reason && !TEMPORARY.test(reason)) return createObstacle(`${noun} does not start: ${reasonText}`, false, name)
  return null
}

/**
 * @param {string} why
 * @param {boolean} isFinal
 * @param {string | null} [container]
 * @returns {Obstacle}
 */
const createObstacle = (why, isFinal, container = null) => ({ why, isFinal, container })

/**
 * Says whether a pod is ready, and is not being deleted.
 * @param {V1Pod} pod
 * @returns {boolean}
 */
export function isReady({ status, metadata }) {
  const hasReadyCondition = status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') ?? false
  return hasReadyCondition && !metadata?.deletionTimestamp
}

/**
 * Finds the status of a container, which may be an init container.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {V1ContainerStatus | undefined} undefined: it has none yet
 */
export function findContainerStatus(pod, container) {
  return listContainerStatuses(pod).find(status => status.name === container)
}

/**
 * Finds the id after which a container's cgroup is named.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {string | null} without the name of the runtime; null: it has none yet
 */
export function findContainerId(pod, container) {
  return findContainerStatus(pod, container)?.containerID?.split('://')[1] ?? null
}

/**
 * Lists the statuses of all containers of a pod, init containers first.
 * @param {V1Pod} pod
 * @returns {V1ContainerStatus[]} []: the pod has none yet
 */
function listContainerStatuses({ status }) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}
