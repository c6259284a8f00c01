import { BenchError } from '../../lib/errors.js'
import { LOG_LINES, renderTail } from '../../lib/log-tail.js'
import { findObstacle } from './pod-status.js'

/**
 * @import { V1Pod } from '@kubernetes/client-node'
 * @import { Api } from './api.js'
 * @import { Obstacle } from './pod-status.js'
 * @import { PodWatch } from './pod-watch.js'
 */

const READY_SECONDS = 120
// A temporary obstacle may last this long.
const OBSTACLE_SECONDS = 10
// Without pods, the controller's events are read this often.
const EVENTS_SECONDS = 2

/**
 * @typedef {object} PodWait
 * @property {Api} api
 * @property {PodWatch} pods
 * @property {string} namespace
 * @property {string} noun names the pods in errors
 * @property {() => V1Pod[]} listPods returns the pods so far
 * @property {(pods: V1Pod[]) => boolean} isDone gets the pods so far, which may be none
 * @property {string} controllerPrefix the beginning of the name of the pods' controller
 * @property {number} [deadlineSeconds] READY_SECONDS by default
 * @property {AbortSignal} signal
 */

/**
 * Waits until `isDone` holds. A temporary obstacle fails the wait after OBSTACLE_SECONDS.
 * @param {PodWait} options
 * @throws {BenchError} if a pod cannot start, with the reason and the end of the log of the container that exited; if the
 *   controller is not allowed to make pods; if the deadline passes, with the fault of a pod that is not as the kit knows it, if there
 *   is one; if events or the log cannot be read; {SiteLostError} if the API server does not answer; the signal's reason when it aborts
 */
export async function awaitPods({ pods, listPods, isDone, signal, deadlineSeconds = READY_SECONDS, ...options }) {
  const { api, namespace, noun, controllerPrefix } = options
  const deadline = performance.now() + deadlineSeconds * 1000
  const findLastingObstacle = createObstacleDetector()
  const checkPods = () => {
    const podsSoFar = listPods()
    return isDone(podsSoFar) ? 'done' : findLastingObstacle(podsSoFar)
  }
  while (performance.now() < deadline) {
    const outcome = await pods.until(checkPods, { signal, deadlineSeconds: EVENTS_SECONDS })
    if (outcome === 'done') return
    if (outcome !== null) {
      const { pod, obstacle } = outcome
      const log = obstacle.container ? await renderLogTail({ api, namespace, pod, container: obstacle.container }) : ''
      throw new BenchError(`${noun} does not start: ${obstacle.why}${log}`)
    }
    if (listPods().length === 0) await assertNotRefused({ api, namespace, noun, controllerPrefix })
  }
  throw pods.findFault() ?? new BenchError(`${noun} was not ready within ${deadlineSeconds} s`)
}

/**
 * Creates a function that finds, among pods, the obstacle for which the wait fails.
 * @returns {(pods: V1Pod[]) => { pod: V1Pod, obstacle: Obstacle } | null} the first final obstacle, else the first one if some pod
 *   has had an obstacle at each call for OBSTACLE_SECONDS; null: there is neither
 */
function createObstacleDetector() {
  let firstMs = Number.POSITIVE_INFINITY
  return pods => {
    const stuck = pods.flatMap(pod => {
      const obstacle = findObstacle(pod)
      return obstacle ? [{ pod, obstacle }] : []
    })
    firstMs = stuck.length === 0 ? Number.POSITIVE_INFINITY : Math.min(firstMs, performance.now())
    const final = stuck.find(({ obstacle }) => obstacle.isFinal)
    if (final) return final
    return performance.now() - firstMs > OBSTACLE_SECONDS * 1000 ? stuck[0] : null
  }
}

/**
 * Asserts that no event of a controller says that it could not create its pods.
 * @param {Pick<PodWait, 'api' | 'namespace' | 'noun' | 'controllerPrefix'>} options
 * @throws {BenchError} with the message of the last such event; if the events cannot be listed; {SiteLostError} if the API server
 *   does not answer
 */
async function assertNotRefused({ api, namespace, noun, controllerPrefix }) {
  const events = await api.list('v1', 'Event', { namespace })
  const failedCreate = events.findLast(
    e => e.type === 'Warning' && e.reason === 'FailedCreate' && e.involvedObject?.name?.startsWith(controllerPrefix),
  )
  if (failedCreate?.message) throw new BenchError(`${noun} does not start: no pod is made: ${failedCreate.message}`)
}

/**
 * Renders the last lines of a container's log, or that it is empty, as the end of a sentence. After a restart, it is the log
 * before that, unless that is empty.
 * @param {{ api: Api, namespace: string, pod: V1Pod, container: string }} options
 * @returns {Promise<string>}
 * @throws {BenchError} if the log cannot be read; {SiteLostError} if the API server does not answer
 */
export async function renderLogTail({ api, namespace, pod, container }) {
  const logOptions = { namespace, pod: `${pod.metadata?.name}`, container, tailLines: LOG_LINES }
  const previousLog = await api.readLog({ ...logOptions, isPrevious: true })
  return renderTail(previousLog || (await api.readLog(logOptions)))
}
