import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { BenchError } from '../../lib/errors.js'
import { awaitPods, renderLogTail } from './await-pods.js'
import { findContainerId, findContainerStatus, findEnding, isReady } from './pod-status.js'

/**
 * @import { Endpoint, Handle, ProcessSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 */
/** @import { PodWatch } from './pod-watch.js' */

const ADMIN_SECONDS = 5

/**
 * A container that has an id: id and ports are for a reader, the names for the kubelet.
 * @typedef {object} Watched
 * @property {string} id
 * @property {string} node
 * @property {Endpoint[]} listens
 * @property {string} namespace
 * @property {string} pod
 * @property {string} container
 * @property {number} restarts
 */
/**
 * The handle of a container. `watched` throws a BenchError if there is no container. `saveLog` writes the log to the folder; after a
 * restart, the log before it comes first.
 * @typedef {Handle & { watched: () => Watched, saveLog: () => Promise<void> }} ContainerHandle
 */

/**
 * Creates the handle of a container, whose pod may not exist yet. A pod that replaces the first one is another
 * process.
 * @param {{ api: Api, pods: PodWatch, namespace: string, spec: ProcessSpec, start: string, folder: string }} options
 *   start: the value of its label; folder: for its log
 * @returns {ContainerHandle}
 */
export function createHandle({ api, pods, namespace, spec, start, folder }) {
  const container = spec.role
  const name = `${spec.service}-${spec.role}`
  const logFile = path.join(folder, `${name}.log`)
  /** @type {import('@kubernetes/client-node').V1Pod | null} */
  let last = null
  let isGone = false
  const findPod = () => {
    const candidates = pods.find(spec.service, start)
    // The pod that it started with counts: a pod that replaces it is another process.
    const pod = last === null ? candidates[0] : candidates.find(p => p.metadata?.uid === last?.metadata?.uid)
    if (pod) last = pod
    else if (last !== null) isGone = true
    return last
  }
  const ending = () => {
    const pod = findPod()
    return pod && (findEnding(pod, container) ?? (isGone ? 'the deletion of its pod' : null))
  }
  const readLog = async (/** @type {{ tailLines?: number, isPrevious?: boolean }} */ options = {}) => {
    const pod = findPod()
    if (pod === null || isGone) return ''
    return api.readLog({ namespace, pod: `${pod.metadata?.name}`, container, ...options })
  }
  const renderFailure = async (/** @type {string} */ what) => {
    const pod = findPod()
    return pod === null || isGone ? what : `${what}${await renderLogTail({ api, namespace, pod, container })}`
  }

  return {
    spec,
    exited: new Promise(resolve => {
      const stop = pods.onChange(() => {
        const containerEnding = ending()
        if (containerEnding === null) return
        stop()
        resolve(containerEnding)
      })
    }),
    ending,
    isOutOfMemory: () => ending()?.startsWith('OOMKilled') ?? false,
    isStopped: () => false,
    renderFailure,
    readLog: () => readLog(),

    waitUntilReady(signal) {
      return awaitPods({
        ...{ api, pods, namespace, signal },
        noun: name,
        controllerPrefix: `${spec.service}-${start}`,
        listPods: () => [findPod()].filter(pod => pod !== null),
        isDone: started => started.some(isReady),
      })
    },

    async readAdmin(path = spec.admin?.path ?? '/') {
      const pod = findPod()
      if (spec.admin === null || pod === null) return null
      return getThroughForward({ api, namespace, pod: `${pod.metadata?.name}`, port: spec.admin.port, path })
    },

    watched() {
      const pod = findPod()
      const id = pod && findContainerId(pod, container)
      if (!pod || !id) throw new BenchError(`${name} has no container that can be read`)
      const restarts = countRestarts(pod, container)
      const place = { node: `${pod.spec?.nodeName}`, namespace, pod: `${pod.metadata?.name}`, container }
      return { id, ...place, listens: spec.listens, restarts }
    },

    async saveLog() {
      mkdirSync(folder, { recursive: true })
      writeFileSync(logFile, '')
      if (last && countRestarts(last, container) > 0) appendFileSync(logFile, await readLog({ isPrevious: true }))
      appendFileSync(logFile, await readLog())
    },
  }
}

/**
 * Counts the restarts of a container.
 * @param {import('@kubernetes/client-node').V1Pod} pod
 * @param {string} container
 * @returns {number} 0: also if the container has no status yet
 */
function countRestarts(pod, container) {
  return findContainerStatus(pod, container)?.restartCount ?? 0
}

/**
 * Gets a path from a listener on a pod's own loopback, by a forwarded port.
 * @param {{ api: Api, namespace: string, pod: string, port: number, path: string }} options
 * @returns {Promise<string>} the body
 * @throws {BenchError} if it does not answer 200 in time
 */
async function getThroughForward({ api, namespace, pod, port, path: adminPath }) {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const forward = new api.k8s.PortForward(api.config)
  const what = `port ${port} of ${namespace}/${pod}`
  const socket = await api.request(`forward ${what}`, () =>
    forward.portForward(namespace, pod, [port], output, errors, input),
  )
  const connection = Duplex.from({ writable: input, readable: output })
  try {
    return await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ why) => reject(new BenchError(`${what} ${why}`))
      errors.on('data', chunk => fail(`cannot be reached: ${chunk}`))
      const options = { path: adminPath, headers: { host: pod, connection: 'close' }, timeout: ADMIN_SECONDS * 1000 }
      const request = http.get({ ...options, createConnection: () => /** @type {any} */ (connection) })
      const timer = setTimeout(() => fail(`did not answer within ${ADMIN_SECONDS} s`), ADMIN_SECONDS * 1000)
      request.on('error', error => fail(`did not answer: ${error.message}`))
      request.on('response', async response => {
        const body = (await response.setEncoding('utf8').toArray()).join('')
        clearTimeout(timer)
        if (response.statusCode === 200) resolve(body)
        else fail(`answered ${response.statusCode}: ${body.slice(0, 200)}`)
      })
    })
  } finally {
    connection.destroy()
    if (typeof socket !== 'function') socket.close()
  }
}
