import { PassThrough } from 'node:stream'
import { BenchError } from '../../lib/errors.js'
import { PROBER } from '../../model/sidecar-contract.js'
import { startSession } from '../agent-session.js'
import { awaitPods } from './await-pods.js'
import { KIT, readAgentCode } from './files.js'
import { renderConfigMap, renderProber, renderReader } from './manifests.js'
import { findObstacle, isReady } from './pod-status.js'

/**
 * @import { Session } from '../agent-session.js'
 * @import { Api } from './api.js'
 * @import { NodePlace } from './pod.js'
 * @import { PodWatch } from './pod-watch.js'
 */

/** The name of the kit's own pod on each node, which reads counters. */
export const READER = 'reader'
const AGENT = 'src/agent/main.js'
// Characters of an agent's stderr that are kept for errors.
const STDERR_MOST = 2000

/** @typedef {Awaited<ReturnType<typeof startAgents>>} Agents */

/**
 * @typedef {object} AgentOptions
 * @property {Api} api
 * @property {PodWatch} pods
 * @property {string} namespace of the prober
 * @property {string | null} readerNamespace null: no reader is started
 * @property {Record<string, string>} labels
 * @property {string} image of Node
 * @property {NodePlace} where the services are
 * @property {NodePlace} loadWhere the load is
 * @property {boolean} hasRecursiveReadOnly the cluster mounts volumes read-only with the mounts below them (Kubernetes 1.31)
 * @property {AbortSignal} signal
 */

/**
 * Starts the kit's own pods, and waits until they are ready: the prober beside the services, and a reader on each
 * node.
 * @param {AgentOptions} options
 * @returns readProberAddress: reads the address of the prober; openSession: opens a session with the agent of a pod; close: closes
 *   all sessions
 * @throws {BenchError} if the API server refuses a pod, or one does not become ready; {SiteLostError} if it does not answer; the
 *   signal's reason when it aborts
 */
export async function startAgents({ api, pods, namespace, readerNamespace, signal, ...options }) {
  const { labels, image, where, loadWhere, hasRecursiveReadOnly } = options
  const files = readAgentCode()
  const common = { labels, image, folder: { path: KIT, configMap: 'kit', names: Object.keys(files) } }
  const prober = renderProber({ ...common, name: PROBER, namespace, where })
  const start = async (/** @type {{ metadata: { name: string, namespace: string } }} */ object) => {
    const { name, namespace } = object.metadata
    await api.apply(renderConfigMap({ name: 'kit', namespace, labels, files }))
    await api.apply(object)
    await awaitPods({
      api,
      pods,
      namespace,
      noun: `the kit's own ${name}`,
      controllerPrefix: name,
      listPods: () => pods.find(name),
      isDone: started => started.length > 0 && started.every(isReady),
      signal,
    })
  }
  const startReaders = (/** @type {string} */ namespace) => {
    const nodePlaces = [where, loadWhere]
    return start(renderReader({ ...common, name: READER, namespace, nodePlaces, hasRecursiveReadOnly }))
  }
  await Promise.all([start(prober), readerNamespace === null ? null : startReaders(readerNamespace)])

  /** Sessions by the pod's uid. @type {Map<string, Promise<Session>>} */
  const sessions = new Map()
  return {
    /**
     * Reads the address of the prober's pod.
     * @returns {string}
     * @throws {BenchError} if no pod of it is ready, or the ready one has no address
     */
    readProberAddress() {
      const pod = chooseReadyPod({ pods, name: PROBER, node: null })
      if (pod.status?.podIP) return pod.status.podIP
      throw new BenchError(`the pod ${pod.metadata?.name} of the kit's own ${PROBER} is ready and has no address`)
    },

    /**
     * Opens a session with the agent of a pod, unless one is open.
     * @param {string} name READER or PROBER
     * @param {string | null} node null: any
     * @returns {Promise<Session>}
     * @throws {BenchError} if no pod of it is ready there, or the API server refuses; {SiteLostError} if that does not answer
     */
    async openSession(name, node) {
      const pod = chooseReadyPod({ pods, name, node })
      const key = `${pod.metadata?.uid}`
      const known = sessions.get(key)
      const openedSession = await known?.catch(() => null)
      if (openedSession?.isOpen()) return openedSession
      // Another call may have started an agent during the wait.
      const other = sessions.get(key)
      if (other && other !== known) return other
      const place = { namespace: `${pod.metadata?.namespace}`, pod: `${pod.metadata?.name}` }
      const session = startAgentInPod({ api, ...place, container: name })
      sessions.set(key, session)
      return session
    },

    /** Closes all sessions, which ends their agents. */
    close() {
      for (const session of sessions.values()) void session.then(s => s.close()).catch(() => {})
    },
  }
}

/**
 * Chooses the first ready pod of the kit's own on a node.
 * @param {object} options
 * @param {Pick<PodWatch, 'find'>} options.pods
 * @param {string} options.name READER or PROBER
 * @param {string | null} options.node null: any
 * @returns {import('@kubernetes/client-node').V1Pod}
 * @throws {BenchError} if there is none, with the reason
 */
function chooseReadyPod({ pods, name, node }) {
  const nodePods = pods.find(name).filter(p => node === null || p.spec?.nodeName === node)
  const pod = nodePods.find(isReady)
  if (pod) return pod
  const why = nodePods[0] ? (findObstacle(nodePods[0])?.why ?? 'its pod is not ready') : 'it has no pod there'
  throw new BenchError(`the kit's own ${name} is missing on ${node ?? 'every node'}: ${why}`)
}

/**
 * Starts the agent in a pod, by exec.
 * @param {{ api: Api, namespace: string, pod: string, container: string }} options pod, container: their names
 * @returns {Promise<Session>} closing it ends the agent
 * @throws {BenchError} if the API server refuses; {SiteLostError} if it does not answer
 */
async function startAgentInPod({ api, namespace, pod, container }) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let stderrTail = ''
  stderr.on('data', chunk => {
    stderrTail = (stderrTail + chunk).slice(-STDERR_MOST)
  })
  const command = ['node', `${KIT}/${AGENT}`]
  const exec = new api.k8s.Exec(api.config)
  const socket = await api.request(`start the agent in ${namespace}/${pod}`, () =>
    exec.exec(namespace, pod, container, command, stdout, stderr, stdin, false),
  )
  return startSession({
    stdin,
    stdout,
    ended: new Promise(resolve => {
      socket.on('close', () => resolve(stderrTail.trim()))
      socket.on('error', (/** @type {Error} */ error) => resolve(error.message))
    }),
    end: () => socket.close(),
    place: `${namespace}/${pod}`,
  })
}
