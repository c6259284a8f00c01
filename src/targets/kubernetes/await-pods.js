import { BenchError } from '../../lib/errors.js'
import { LOG_LINES, renderTail } from '../../lib/log-tail.js'
import { findObstacle } from './pod-status.js'

/**
 * @import { V1Pod } from '@kubernetes/client-node'
 * @import { Api } from './api.js'
 */
/** @import { PodWatch } from './pod-watch.js' */

const READY_SECONDS = 120
// A temporary obstacle may last this long.
const OBSTACLE_SECONDS = 10
const LOOK_SECONDS = 2

/**
 * @typedef {object} PodWait
 * @property {Api} api
 * @property {PodWatch} pods
 * @property {string} namespace
 * @property {string} noun names the pods in errors
 * @property {() => V1Pod[]} listPods returns the pods so far
 * @property {(pods: V1Pod[]) => boolean} isDone
 * @property {string} controllerPrefix the beginning of the name of the pods' controller
 * @property {number} [deadlineSeconds] READY_SECONDS by default
 * @property {AbortSignal} signal
 */

/**
 * Waits until `isDone` holds. An obstacle that may pass fails the wait after OBSTACLE_SECONDS.
 * @param {PodWait} options
 * @throws {BenchError} if a pod cannot start, with the reason and the end of the log of the container that exited; if the
 *   controller is not allowed to make pods; if the deadline passes; the signal's reason when it aborts
 */
export async function awaitPods({
  api,
  pods,
  namespace,
  noun,
  listPods,
  isDone,
  controllerPrefix,
  signal,
  ...options
}) {
  const { deadlineSeconds = READY_SECONDS } = options
  const deadline = performance.now() + deadlineSeconds * 1000
  let stuckSince = Number.POSITIVE_INFINITY
  /** @type {{ pod: V1Pod, obstacle: NonNullable<ReturnType<typeof findObstacle>> }[]} */
  let stuck = []
  const checkPods = () => {
    const started = listPods()
    if (isDone(started)) return 'done'
    stuck = started.flatMap(pod => {
      const obstacle = findObstacle(pod)
      return obstacle ? { pod, obstacle } : []
    })
    stuckSince = stuck.length === 0 ? Number.POSITIVE_INFINITY : Math.min(stuckSince, performance.now())
    const isFinal = stuck.some(({ obstacle }) => obstacle.isFinal)
    return isFinal || performance.now() - stuckSince > OBSTACLE_SECONDS * 1000 ? 'stuck' : null
  }
  while (performance.now() < deadline) {
    const state = await pods.until(checkPods, { signal, deadlineSeconds: LOOK_SECONDS })
    if (state === 'done') return
    if (state === 'stuck') {
      const { pod, obstacle } = stuck.find(s => s.obstacle.isFinal) ?? stuck[0]
      const log = obstacle.container ? await renderLogTail({ api, namespace, pod, container: obstacle.container }) : ''
      throw new BenchError(`${noun} does not start: ${obstacle.why}${log}`)
    }
    if (listPods().length === 0) await assertNotRefused({ api, namespace, noun, controllerPrefix })
  }
  throw new BenchError(`${noun} was not ready within ${deadlineSeconds} s`)
}

/**
 * Asserts that no event of a controller says that it may not create its pods.
 * @param {Pick<PodWait, 'api' | 'namespace' | 'noun' | 'controllerPrefix'>} options
 * @throws {BenchError} with the message of the last such event
 */
async function assertNotRefused({ api, namespace, noun, controllerPrefix }) {
  const events = await api.list('v1', 'Event', { namespace })
  const failedCreate = events.findLast(
    e => e.type === 'Warning' && e.reason === 'FailedCreate' && e.involvedObject?.name?.startsWith(controllerPrefix),
  )
  if (failedCreate?.message) throw new BenchError(`${noun} does not start: no pod is made: ${failedCreate.message}`)
}

/**
 * Renders the end of a container's log, as the end of a sentence. After a restart, it is the log before that.
 * @param {{ api: Api, namespace: string, pod: V1Pod, container: string }} options
 * @returns {Promise<string>} empty: there is no log
 */
export async function renderLogTail({ api, namespace, pod, container }) {
  const logOptions = { namespace, pod: `${pod.metadata?.name}`, container, tailLines: LOG_LINES }
  return renderTail((await api.readLog({ ...logOptions, isPrevious: true })) || (await api.readLog(logOptions)))
}
