import { setMaxListeners } from 'node:events'
import { readNowMs } from '../lib/clock.js'
import { groupBy } from '../lib/group-by.js'
import { waitForCondition } from '../lib/wait.js'
import { BATCH_SIDECARS } from '../services/control.js'
import { labelAnswer } from './phase.js'

/**
 * Starts the sidecars of a rollout, and polls each for its configuration from its start on. On one machine, they start batch after
 * batch; on a cluster, each is a pod, and the cluster decides how many start at a time.
 * @import { ConfigurationTimes, Handle, RolloutPoller, RolloutRecord } from '../model/types.ts'
 * @import { Batch } from '../services/control.js'
 * @import { Deploy } from './deployer.js'
 */

// The next batch starts when at most this many sidecars have not answered: sidecars that start all at once wait for each other.
const WAITING_MOST = BATCH_SIDECARS / 2

/**
 * The moments at which the pod of a sidecar was created, and was ready, in epoch milliseconds; readyMs null: not yet.
 * @typedef {NonNullable<RolloutRecord['members'][number]['pod']>} PodTimes
 */

/**
 * @typedef {object} SidecarsOptions
 * @property {RolloutPoller} poller
 * @property {Batch[]} batches
 * @property {Deploy} deploy
 * @property {boolean} arePods no pace is needed
 * @property {number} deadlineSeconds from now on, after which no more are started; unused if `arePods`
 * @property {(error: Error) => void} fail is called if a pod does not become ready, also after an abort
 * @property {AbortSignal} signal
 */
/**
 * @typedef {object} StartedSidecars
 * @property {Promise<[string, ConfigurationTimes | null]>[]} answering a promise for each sidecar that was started
 * @property {Map<string, PodTimes>} pods by sidecar, their readyMs set as they become ready; empty on one machine
 * @property {Promise<void[]>} allReady resolves once each pod is ready or has failed
 */

/**
 * Starts sidecars. If the deadline passes before all have started, it starts no more, and does not throw.
 * @param {SidecarsOptions} options
 * @returns {Promise<StartedSidecars>}
 * @throws the error of `deploy`; the signal's reason when it aborts
 */
export async function startSidecars({ poller, batches, deploy, arePods, deadlineSeconds, fail, signal }) {
  /** @type {StartedSidecars['answering']} */
  const answering = []
  /** @type {StartedSidecars['pods']} */
  const pods = new Map()
  /** @type {Promise<void>[]} */
  const readying = []
  // Each wait for a pod listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, signal)
  const pace = arePods ? null : createBatchPace({ poller, deadlineSeconds, signal })
  /** @param {Handle} process */
  const onStart = process => {
    // Without this, the target would start the others even if the control plane has exited.
    signal.throwIfAborted()
    const { members } = /** @type {Batch} */ (batches.find(({ spec }) => spec === process.spec))
    for (const { name, first } of members)
      answering.push(labelAnswer(name, poller.expectFirst(process, { name, ...first })))
    if (!process.pod) return
    const times = { createdMs: process.pod.createdMs, readyMs: /** @type {number | null} */ (null) }
    for (const { name } of members) pods.set(name, times)
    const setReady = () => {
      times.readyMs = readNowMs()
    }
    readying.push(process.waitUntilReady(signal).then(setReady, fail))
  }
  // Sidecars that will move to another shard are ended without the others, so they are a deployment of their own.
  for (const group of groupBy(batches, ({ members }) => members.some(({ moved }) => moved)).values()) {
    if (pace?.isLate()) break
    const specs = group.map(({ spec }) => spec)
    await deploy(specs, { onStart, ...(pace && { pace: pace.wait }) }).catch(error => {
      // Past the deadline the wait for the next batch rejects: the sidecars that have started count all the same.
      if (!pace?.isLate()) throw error
    })
  }
  return { answering, pods, allReady: Promise.all(readying) }
}

/**
 * Creates the wait before each batch, with one deadline for all. Past the deadline the wait rejects, and polling is given up.
 * @param {Pick<SidecarsOptions, 'poller' | 'deadlineSeconds' | 'signal'>} options
 * @returns {{ isLate: () => boolean, wait: () => Promise<void> }} isLate: the deadline has passed; wait: waits until few enough
 *   sidecars have not answered, and rejects with a TimeoutError at the deadline, or with the signal's reason
 */
function createBatchPace({ poller, deadlineSeconds, signal }) {
  const deadlineMs = performance.now() + deadlineSeconds * 1000
  let isLate = false
  return {
    isLate: () => isLate,
    wait: () =>
      waitForCondition(() => poller.countWaiting() <= WAITING_MOST, {
        what: 'the sidecars that were started to have their configuration, before the next are started',
        deadlineSeconds: Math.max(0, Math.round((deadlineMs - performance.now()) / 1000)),
        intervalMs: 5,
        signal,
      }).catch(async error => {
        signal.throwIfAborted()
        // Stop polling before the target removes the sidecars: the connections that they refuse would count as answers.
        await poller.giveUp()
        isLate = true
        throw error
      }),
  }
}
