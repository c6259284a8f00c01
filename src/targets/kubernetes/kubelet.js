import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '../../lib/wait.js'
import { describeWindow, findSamples } from './kubelet-window.js'

/**
 * Reads what the kubelet counts, where no pod may see the node's cgroups: CPU time and memory of each container, every
 * 10 to 20 s, with a stamp of its own.
 * @import { Look, Observation, Window } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { ContainerCounter, Counter, Poll } from './kubelet-window.js'
 */

// More often than the kubelet counts, so that no counter near an edge is missed.
const POLL_MS = 5000
// The load goes on for a second after the window: an answer that is not here by then is not waited for.
const LAST_POLL_MS = 500

/**
 * A container as the kubelet names it.
 * @typedef {object} WatchedContainer
 * @property {string} namespace
 * @property {string} pod
 * @property {string} container
 * @property {() => string[]} identify its id, and how often it was started again
 */

/**
 * Takes CPU time and memory of a node's containers from the kubelet's counters, from now to the end of the window.
 * @param {object} options
 * @param {() => Promise<any>} options.readSummary of the node
 * @param {WatchedContainer[]} options.watched
 * @param {number} options.cpus of the node
 * @param {Window} options.window
 * @param {AbortSignal} options.signal ends it early, with what it has
 * @param {() => number} [options.now] in epoch milliseconds
 * @param {typeof waitUntil} [options.wait] by the same clock
 * @returns {Promise<Omit<Observation, 'clockOffsetMs'>>}
 * @throws {import('../../lib/errors.js').BenchError} when the counters of a container, or of the node, cover too
 *   little of the window, or may not be read
 */
export async function observeByKubelet({
  readSummary,
  watched,
  cpus,
  window,
  signal,
  now = Date.now,
  wait = waitUntil,
}) {
  /** @type {Poll[]} */
  const polls = []
  const poll = async () => {
    const epochMs = now()
    const summary = await orAborted(readSummary(), signal)
    polls.push({ epochMs, node: parseNode(summary), containers: watched.map(w => parseSummary(summary, w)) })
  }
  const pollUpTo = async (/** @type {number} */ edgeMs) => {
    for (;;) {
      await poll()
      // Counted back from the edge, so that none is under way when it comes.
      const left = Math.ceil((edgeMs - now()) / POLL_MS) - 1
      if (left <= 0) break
      await wait(edgeMs - left * POLL_MS, signal)
    }
    await wait(edgeMs, signal)
  }
  try {
    await pollUpTo(window.startMs)
    const before = lookByKubelet(watched)
    await pollUpTo(window.endMs)
    const after = lookByKubelet(watched)
    await Promise.race([poll(), delay(LAST_POLL_MS, undefined, { signal })])
    const names = watched.map(({ pod, container }) => `${container} of the pod ${pod}`)
    return { ...describeWindow(polls, { names, cpus, window, before, after }), after }
  } catch (error) {
    if (!signal.aborted) throw error
    return { samples: findSamples(polls), start: null, end: null, after: null }
  }
}

/**
 * What is known of a container outside of the window: who it is.
 * @param {WatchedContainer[]} watched
 * @returns {Look[]}
 */
export function lookByKubelet(watched) {
  return watched.map(w => ({ memory: null, identity: w.identify(), workers: null }))
}

/**
 * A container's counters in the kubelet's summary; null where it has none, as in a container's first seconds.
 * @param {any} summary
 * @param {Pick<WatchedContainer, 'namespace' | 'pod' | 'container'>} container
 * @returns {ContainerCounter | null}
 */
export function parseSummary({ pods }, { namespace, pod, container }) {
  const isOwn = (/** @type {any} */ { podRef }) => podRef.name === pod && podRef.namespace === namespace
  const own = pods?.find(isOwn)?.containers?.find((/** @type {any} */ c) => c.name === container)
  const counter = parseCpu(own?.cpu)
  const { workingSetBytes, rssBytes } = own?.memory ?? {}
  const isWhole = counter !== null && workingSetBytes !== undefined && rssBytes !== undefined
  return isWhole ? { ...counter, workingSetBytes, rssBytes } : null
}

/**
 * The node's own counter in the kubelet's summary; null where it has none.
 * @param {any} summary
 * @returns {Counter | null}
 */
export function parseNode({ node }) {
  return parseCpu(node?.cpu)
}

/**
 * Asks a node's kubelet for its counters, through the API server.
 * @param {Api} api
 * @param {string} node
 * @returns {Promise<any>}
 * @throws {import('../../lib/errors.js').BenchError} when that is not allowed: it takes `get` on `nodes/proxy`
 */
export function readSummary(api, node) {
  return api.request(`read the kubelet's counters of ${node}`, () =>
    api.core.connectGetNodeProxyWithPath({ name: node, path: 'stats/summary' }),
  )
}

/**
 * @param {any} cpu of a container, or of the node
 * @returns {Counter | null}
 */
function parseCpu(cpu) {
  if (cpu?.usageCoreNanoSeconds === undefined) return null
  return { epochMs: Date.parse(cpu.time), cpuSeconds: cpu.usageCoreNanoSeconds / 1e9 }
}

/**
 * @template T
 * @param {Promise<T>} answer
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 * @throws the signal's reason, when it aborts first
 */
async function orAborted(answer, signal) {
  const settled = new AbortController()
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => Promise.reject(signal.reason))
  answer.catch(() => {})
  aborted.catch(() => {})
  try {
    signal.throwIfAborted()
    return await Promise.race([answer, aborted])
  } finally {
    settled.abort()
  }
}
