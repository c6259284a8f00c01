import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { BenchError } from '../../lib/errors.js'
import { awaitPods, renderLogTail } from './await-pods.js'
import { findContainerId, findContainerStatus, findEnding, isReady } from './pod-status.js'

/**
 * @import { V1Pod } from '@kubernetes/client-node'
 * @import { Endpoint, Handle, ProcessSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { PodWatch } from './pod-watch.js'
 */

const ADMIN_SECONDS = 5

/**
 * @typedef {object} ContainerLocation
 * @property {string} id in the container runtime
 * @property {string} node its name
 * @property {Endpoint[]} listens
 * @property {string} namespace
 * @property {string} pod its name
 * @property {string} container its name
 * @property {number} restarts so far
 */
/**
 * @typedef {object} InPod
 * @property {() => ContainerLocation} locateContainer throws a BenchError if there is no container yet
 * @property {() => Promise<void>} saveLog writes the log to the folder; after a restart, the log before it comes first
 */
/** @typedef {Handle & InPod} ContainerHandle */

/**
 * Creates the handle of a container, whose pod may not exist yet.
 * @param {object} options
 * @param {Api} options.api
 * @param {PodWatch} options.pods
 * @param {string} options.namespace
 * @param {ProcessSpec} options.spec
 * @param {string} options.start the value of the label of its pod
 * @param {string} options.folder for its log
 * @returns {ContainerHandle} without a pod, or after its deletion, `readLog` gives an empty text; a stop by a signal is not seen
 */
export function createContainerHandle({ api, pods, namespace, spec, start, folder }) {
  const container = spec.role
  const name = `${spec.service}-${spec.role}`
  const logFile = path.join(folder, `${name}.log`)
  const findPod = createPodFinder({ pods, service: spec.service, start })
  const ending = () => {
    const { pod, isGone } = findPod()
    return pod && (findEnding(pod, container) ?? (isGone ? 'the deletion of its pod' : null))
  }
  const readLog = async (/** @type {{ isPrevious?: boolean }} */ options = {}) => {
    const { pod, isGone } = findPod()
    if (pod === null || isGone) return ''
    return api.readLog({ namespace, pod: `${pod.metadata?.name}`, container, ...options })
  }
  const renderFailure = async (/** @type {string} */ failure) => {
    const { pod, isGone } = findPod()
    return pod === null || isGone ? failure : `${failure}${await renderLogTail({ api, namespace, pod, container })}`
  }

  return {
    spec,
    exited: new Promise(resolve => {
      const removeListener = pods.onChange(() => {
        const endingSoFar = ending()
        if (endingSoFar === null) return
        removeListener()
        resolve(endingSoFar)
      })
    }),
    ending,
    isOutOfMemory: () => ending()?.startsWith('OOMKilled') ?? false,
    isStopped: () => false,
    renderFailure,
    readLog: () => readLog(),

    waitUntilReady(signal) {
      return awaitPods({
        api,
        pods,
        namespace,
        noun: name,
        controllerPrefix: `${spec.service}-${start}`,
        listPods: () => [findPod().pod].filter(pod => pod !== null),
        isDone: podsSoFar => podsSoFar.some(isReady),
        signal,
      })
    },

    async readAdmin(path = spec.admin?.path ?? '/') {
      const { pod } = findPod()
      if (spec.admin === null || pod === null) return null
      return readForwardedPort({ api, namespace, pod: `${pod.metadata?.name}`, port: spec.admin.port, path })
    },

    locateContainer() {
      const { pod } = findPod()
      const id = pod && findContainerId(pod, container)
      if (!pod || !id) throw new BenchError(`${name} has no container that can be read`)
      const restarts = countRestarts(pod, container)
      const place = { node: `${pod.spec?.nodeName}`, namespace, pod: `${pod.metadata?.name}`, container }
      return { id, ...place, listens: spec.listens, restarts }
    },

    async saveLog() {
      mkdirSync(folder, { recursive: true })
      writeFileSync(logFile, '')
      const { pod } = findPod()
      if (pod && countRestarts(pod, container) > 0) appendFileSync(logFile, await readLog({ isPrevious: true }))
      appendFileSync(logFile, await readLog())
    },
  }
}

/**
 * Creates a function that finds the pod of a service. The first pod counts: one that replaces it is another process.
 * @param {{ pods: PodWatch, service: string, start: string }} options start: the value of its label
 * @returns {() => { pod: V1Pod | null, isGone: boolean }} pod: as last seen; null: there was none yet; isGone: it was deleted
 */
function createPodFinder({ pods, service, start }) {
  /** @type {V1Pod | null} */
  let last = null
  let isGone = false
  return () => {
    const candidates = pods.find(service, start)
    const pod = last === null ? candidates[0] : candidates.find(p => p.metadata?.uid === last?.metadata?.uid)
    if (pod) last = pod
    else if (last !== null) isGone = true
    return { pod: last, isGone }
  }
}

/**
 * Counts the restarts of a container.
 * @param {V1Pod} pod
 * @param {string} container
 * @returns {number} 0: also if the container has no status yet
 */
function countRestarts(pod, container) {
  return findContainerStatus(pod, container)?.restartCount ?? 0
}

/**
 * Reads a path of a listener on a pod's own loopback, by a forwarded port.
 * @param {{ api: Api, namespace: string, pod: string, port: number, path: string }} options
 * @returns {Promise<string>} the body
 * @throws {BenchError} if the API server refuses, or the listener does not answer 200 within ADMIN_SECONDS; {SiteLostError} if the
 *   API server does not answer
 */
async function readForwardedPort({ api, namespace, pod, port, path: adminPath }) {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const forward = new api.k8s.PortForward(api.config)
  const listener = `port ${port} of ${namespace}/${pod}`
  const socket = await api.request(`forward ${listener}`, () =>
    forward.portForward(namespace, pod, [port], output, errors, input),
  )
  const connection = Duplex.from({ writable: input, readable: output })
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  try {
    return await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ why) => reject(new BenchError(`${listener} ${why}`))
      errors.on('data', chunk => fail(`cannot be reached: ${chunk}`))
      const options = { path: adminPath, headers: { host: pod, connection: 'close' }, timeout: ADMIN_SECONDS * 1000 }
      const request = http.get({ ...options, createConnection: () => /** @type {any} */ (connection) })
      timer = setTimeout(() => fail(`did not answer within ${ADMIN_SECONDS} s`), ADMIN_SECONDS * 1000)
      request.on('error', error => fail(`did not answer: ${error.message}`))
      request.on('response', async response => {
        try {
          const body = (await response.setEncoding('utf8').toArray()).join('')
          if (response.statusCode === 200) resolve(body)
          else fail(`answered ${response.statusCode}: ${body.slice(0, 200)}`)
        } catch (error) {
          fail(`ended within its answer: ${/** @type {Error} */ (error).message}`)
        }
      })
    })
  } finally {
    clearTimeout(timer)
    connection.destroy()
    if (typeof socket !== 'function') socket.close()
  }
}
