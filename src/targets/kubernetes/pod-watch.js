import { setTimeout as delay } from 'node:timers/promises'
import { assertPod } from './answers.js'
import { LABELS } from './manifests.js'

/**
 * @import { V1Pod } from '@kubernetes/client-node'
 * @import { Api } from './api.js'
 */

const RETRY_MS = 300

/** @typedef {{ signal?: AbortSignal, deadlineSeconds: number }} WaitLimit */
/**
 * The pods of namespaces, kept up to date by a watch.
 * @typedef {object} PodWatch
 * @property {(service: string, start?: string) => V1Pod[]} find lists the pods of a start, by default of every start
 * @property {<T>(look: () => T | null | undefined | false, limit: WaitLimit) => Promise<T | null>} until calls `look` at each change,
 *   and once a second, until it returns a value; null: the deadline passed; it rejects with the signal's reason when that aborts
 * @property {() => Error | null} findFault finds why a pod is not as the kit knows it; null: all are
 * @property {(listener: () => void) => () => void} onChange calls the listener at each change; returns a function that removes it
 * @property {() => void} close ends the watch
 */

/**
 * Starts to watch the pods of namespaces, until `close`. A pod that is no longer as the kit knows it stays as it was, and has a fault.
 * @param {{ api: Api, namespaces: string[] }} options
 * @returns {Promise<PodWatch>} `find` may list none at first
 * @throws {import('../../lib/errors.js').BenchError} if the pods may not be listed, or one is not as the kit knows it; a SiteLostError
 *   if the API server does not answer
 */
export async function watchPods({ api, namespaces }) {
  /** @type {Map<string, V1Pod>} */
  const pods = new Map()
  /** The faults of pods that are not as the kit knows them, by namespace/name. @type {Map<string, Error>} */
  const faults = new Map()
  /** @type {Set<() => void>} */
  const listeners = new Set()
  const closing = new AbortController()
  const notify = () => {
    for (const listener of [...listeners]) listener()
  }

  for (const namespace of namespaces) {
    const { items } = await api.request('list pods', () => api.core.listNamespacedPod({ namespace }))
    for (const pod of items) assertPod(pod)
  }
  for (const namespace of namespaces) followPods({ api, namespace, pods, faults, notify, signal: closing.signal })

  return {
    find: (service, start) =>
      [...pods.values()].filter(({ metadata: { labels } = {} }) => {
        return labels?.[LABELS.service] === service && (start === undefined || labels[LABELS.start] === start)
      }),

    async until(look, { signal, deadlineSeconds }) {
      const deadline = performance.now() + deadlineSeconds * 1000
      for (;;) {
        const value = look()
        if (value) return value
        signal?.throwIfAborted()
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) return null
        await awaitChange(Math.min(leftMs, 1000), signal)
      }
    },

    findFault: () => [...faults.values()][0] ?? null,

    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    close: () => closing.abort(),
  }

  /**
   * Waits for a change of a pod. It does not throw.
   * @param {number} timeoutMs after which it returns without a change
   * @param {AbortSignal} [signal] ends the wait
   */
  async function awaitChange(timeoutMs, signal) {
    const changed = new AbortController()
    const wake = () => changed.abort()
    listeners.add(wake)
    const ending = signal ? AbortSignal.any([signal, changed.signal]) : changed.signal
    await delay(timeoutMs, undefined, { signal: ending }).catch(() => {})
    listeners.delete(wake)
  }
}

/**
 * Follows the pods of a namespace until the signal aborts. It does not throw.
 * @param {object} options
 * @param {Api} options.api
 * @param {string} options.namespace
 * @param {Map<string, V1Pod>} options.pods by namespace/name, which this keeps up to date
 * @param {Map<string, Error>} options.faults of pods that are not as the kit knows them, by namespace/name, likewise
 * @param {() => void} options.notify calls the listeners
 * @param {AbortSignal} options.signal
 */
async function followPods({ api, namespace, pods, faults, notify, signal }) {
  const watch = new api.k8s.Watch(api.config)
  const path = `/api/v1/namespaces/${namespace}/pods`
  let abort = () => {}
  signal.addEventListener('abort', () => abort(), { once: true })
  const takePod = (/** @type {V1Pod} */ pod) => {
    const key = createPodKey(pod)
    try {
      pods.set(key, assertPod(pod))
      faults.delete(key)
    } catch (error) {
      faults.set(key, /** @type {Error} */ (error))
    }
  }
  const removePod = (/** @type {string} */ key) => {
    pods.delete(key)
    faults.delete(key)
  }
  const takeEvent = (/** @type {string} */ type, /** @type {V1Pod} */ pod) => {
    if (type === 'ADDED' || type === 'MODIFIED') takePod(pod)
    else if (type === 'DELETED') removePod(createPodKey(pod))
    else if (type === 'ERROR') return
    notify()
  }
  while (!signal.aborted) {
    try {
      const { items, metadata } = await api.core.listNamespacedPod({ namespace })
      const listedKeys = new Set(items.map(createPodKey))
      for (const key of [...pods.keys(), ...faults.keys()])
        if (key.startsWith(`${namespace}/`) && !listedKeys.has(key)) removePod(key)
      for (const pod of items) takePod(pod)
      notify()
      await new Promise((resolve, reject) => {
        const finish = (/** @type {unknown} */ error) => (error ? reject(error) : resolve(null))
        const { resourceVersion } = metadata ?? {}
        watch.watch(path, { resourceVersion }, takeEvent, finish).then(request => {
          abort = () => request.abort()
          if (signal.aborted) abort()
        }, reject)
      })
    } catch {
      // The server is away, or no longer has this version of the list: list and watch again. Requests report a lost server.
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

/**
 * Creates the key of a pod: `namespace/name`.
 * @param {V1Pod} pod
 * @returns {string}
 */
function createPodKey({ metadata }) {
  return `${metadata?.namespace}/${metadata?.name}`
}
