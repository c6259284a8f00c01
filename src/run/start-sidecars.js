import { setMaxListeners } from 'node:events'
import { groupBy } from '../lib/group-by.js'
import { waitForCondition } from '../lib/wait.js'
import { readNowMs } from '../node/convergence.js'
import { BATCH_SIDECARS } from '../services/control.js'

/**
 * Starts the sidecars of a rollout, and asks each for its configuration from its start on. On one machine, they start batch after
 * batch; on a cluster, each is a pod, and the cluster decides how many start at a time.
 * @import { Asking, Handle, ProcessSpec, RolloutRecord, Target, ConfigurationTimes } from '../model/types.ts'
 * @import { Batch } from '../services/control.js'
 */

// The next batch starts when at most this many sidecars have not answered: sidecars that start all at once wait for each other.
const WAITING_MOST = BATCH_SIDECARS / 2

/**
 * The moments at which the pod of a sidecar was created, and was ready, in epoch milliseconds; readyMs null: not yet.
 * @typedef {NonNullable<RolloutRecord['members'][number]['pod']>} PodTimes
 */
/**
 * @typedef {(specs: ProcessSpec[], how?: Pick<Parameters<Target['deploy']>[1], 'pace' | 'onStart'>) => Promise<Handle[]>} Deploy
 */

/**
 * Starts sidecars. If the deadline passes before all have started, it starts no more, and does not throw.
 * @param {{ asking: Asking, batches: Batch[], deploy: Deploy, arePods: boolean, deadlineSeconds: number,
 *   fail: (error: Error) => void, signal: AbortSignal }} options arePods: no pace is needed; fail: is called if a pod does not
 *   become ready
 * @returns {Promise<{ answering: Promise<[string, ConfigurationTimes | null]>[], pods: Map<string, PodTimes>, allReady:
 *   Promise<void[]> }>} answering: a promise for each sidecar that was started; pods: by sidecar, their readyMs set as they
 *   become ready; allReady: resolves once each pod is ready or has failed
 */
export async function startSidecars({ asking, batches, deploy, arePods, deadlineSeconds, fail, signal }) {
  /** @type {Promise<[string, ConfigurationTimes | null]>[]} */
  const answering = []
  /** @type {Map<string, PodTimes>} */
  const pods = new Map()
  /** @type {Promise<void>[]} */
  const readying = []
  // Each wait for a pod listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, signal)
  const pace = arePods ? null : createBatchPace({ asking, deadlineSeconds, signal })
  /** @param {Handle} process */
  const onStart = process => {
    // Without this, the target would start the others even if the control plane has exited.
    signal.throwIfAborted()
    const { members } = /** @type {Batch} */ (batches.find(({ spec }) => spec === process.spec))
    for (const { name, first } of members)
      answering.push(withName(name, asking.expectFirst(process, { name, ...first })))
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
 * Adds the name of a sidecar to its answer.
 * @template {ConfigurationTimes | null} T
 * @param {string} name of the sidecar
 * @param {Promise<T>} answer
 * @returns {Promise<[string, T]>} may be left unawaited
 */
export function withName(name, answer) {
  const labelled = answer.then(value => /** @type {[string, T]} */ ([name, value]))
  // If the phase fails otherwise, this promise is never awaited: an unhandled rejection would end the kit.
  labelled.catch(() => {})
  return labelled
}

/**
 * Creates the wait before each batch, with one deadline for all. After it the wait rejects, and asking is given up.
 * @param {{ asking: Asking, deadlineSeconds: number, signal: AbortSignal }} options
 * @returns {{ isLate: () => boolean, wait: () => Promise<void> }} isLate: the deadline has passed; wait: waits until few enough
 *   sidecars have not answered
 */
function createBatchPace({ asking, deadlineSeconds, signal }) {
  const deadlineMs = performance.now() + deadlineSeconds * 1000
  let isLate = false
  return {
    isLate: () => isLate,
    wait: () =>
      waitForCondition(() => asking.countWaiting() <= WAITING_MOST, {
        what: 'the sidecars that were started to have their configuration, before the next are started',
        deadlineSeconds: Math.max(0, Math.round((deadlineMs - performance.now()) / 1000)),
        intervalMs: 5,
        signal,
      }).catch(async error => {
        signal.throwIfAborted()
        // Stop asking before the target removes the sidecars: the connections that they refuse would count as answers.
        await asking.giveUp()
        isLate = true
        throw error
      }),
  }
}
