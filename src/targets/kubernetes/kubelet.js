import { setTimeout as delay } from 'node:timers/promises'
import { startClock } from '../../lib/clock.js'
import { untilAborted } from '../../lib/wait.js'
import { readKubeletSummary } from './answers.js'
import { describeWindow, findSamples } from './kubelet-window.js'

/**
 * Reads what the kubelet counts, where no pod may see the node's cgroups: CPU time and memory of each container, every
 * 10 to 20 s, with a stamp of its own.
 */
/** @import { Look, Observation, Window } from '../../model/types.ts' @import { Api } from './api.js' */
/** @import { Watched } from './container.js' @import { ContainerCounter, Counter, Poll } from './kubelet-window.js' */

// Asked more often than the kubelet counts, so that no counter near an edge is missed.
const POLL_MS = 5000
// Answers are awaited for a second after the window, in which the load goes on.
const LAST_POLL_MS = 500

/** @typedef {{ watched: () => Pick<Watched, 'id' | 'namespace' | 'pod' | 'container' | 'restarts'> }} Container */

/**
 * Takes CPU time and memory of a node's containers from the kubelet's counters, from now to the end of the window.
 * @param {{ readSummary: () => Promise<any>, containers: Container[], cpus: number, window: Window, signal: AbortSignal,
 *   now?: () => number, wait?: (epochMs: number, signal?: AbortSignal) => Promise<void> }} options readSummary, cpus: of the node; signal: ends it early, with
 *   what it has; now: epoch milliseconds
 * @returns {Promise<Observation>}
 * @throws {import('../../lib/errors.js').BenchError} when counters cover too little of the window, or may not be read
 */
export async function observeByKubelet({ readSummary, containers, cpus, window, signal, ...clock }) {
  const steady = startClock()
  const { now = steady.now, wait = steady.waitUntil } = clock
  /** @type {Poll[]} */
  const polls = []
  const poll = async () => {
    const epochMs = now()
    const { node, pods } = await untilAborted(readSummary(), signal)
    polls.push({ epochMs, node: parseCpu(node?.cpu), containers: containers.map(c => findCounter(pods, c.watched())) })
  }
  const pollUpTo = async (/** @type {number} */ edgeMs) => {
    for (;;) {
      await poll()
      // Polls are counted back from the edge, so that none is under way when it comes.
      const left = Math.ceil((edgeMs - now()) / POLL_MS) - 1
      if (left <= 0) break
      await wait(edgeMs - left * POLL_MS, signal)
    }
    await wait(edgeMs, signal)
    steady.assertSteady()
  }
  try {
    signal.throwIfAborted()
    await pollUpTo(window.startMs)
    const before = lookByKubelet(containers)
    await pollUpTo(window.endMs)
    const after = lookByKubelet(containers)
    await Promise.race([poll(), delay(LAST_POLL_MS, undefined, { signal })])
    const names = containers.map(c => c.watched()).map(({ pod, container }) => `${container} of the pod ${pod}`)
    return { ...describeWindow(polls, { names, cpus, window, before, after }), after, clockOffsetMs: 0 }
  } catch (error) {
    if (!signal.aborted) throw error
    return { samples: findSamples(polls), start: null, end: null, after: null, clockOffsetMs: 0 }
  }
}

/** Reads what is known of containers outside of the window: their identity. @param {Container[]} containers @returns {Look[]} */
export function lookByKubelet(containers) {
  const watched = containers.map(c => c.watched())
  return watched.map(({ id, restarts }) => ({ memory: null, identity: [id, `${restarts} restarts`], workers: null }))
}

/**
 * Finds a container's counters in the kubelet's summary; null where it has none, as in a container's first seconds.
 * @param {any[] | undefined} pods @param {Pick<Watched, 'namespace' | 'pod' | 'container'>} container
 * @returns {ContainerCounter | null}
 */
export function findCounter(pods, { namespace, pod, container }) {
  const own = pods
    ?.find(({ podRef }) => podRef.name === pod && podRef.namespace === namespace)
    ?.containers?.find((/** @type {any} */ { name }) => name === container)
  const counter = parseCpu(own?.cpu)
  const { workingSetBytes, rssBytes } = own?.memory ?? {}
  const isWhole = counter !== null && workingSetBytes !== undefined && rssBytes !== undefined
  return isWhole ? { ...counter, workingSetBytes, rssBytes } : null
}

/** @param {any} cpu of a container, or of the node, in the summary @returns {Counter | null} null where it has none */
export function parseCpu(cpu) {
  if (cpu?.usageCoreNanoSeconds === undefined) return null
  return { epochMs: Date.parse(cpu.time), cpuSeconds: cpu.usageCoreNanoSeconds / 1e9 }
}

/** Reads the counters of a node's kubelet; this takes `get` on `nodes/proxy`. @param {Api} api @param {string} node */
export function readSummary(api, node) {
  return api.request(`read the kubelet's counters of ${node}`, async () =>
    readKubeletSummary(await api.core.connectGetNodeProxyWithPath({ name: node, path: 'stats/summary' })),
  )
}
