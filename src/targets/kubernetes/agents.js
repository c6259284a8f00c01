import { PassThrough } from 'node:stream'
import { BenchError } from '../../lib/errors.js'
import { PROBER } from '../../model/sidecar-contract.js'
import { startSession } from '../converse.js'
import { awaitPods } from './await-pods.js'
import { KIT, readAgentCode } from './files.js'
import { renderFiles, renderProber, renderReader } from './manifests.js'
import { findObstacle, isReady } from './pod-status.js'

/**
 * @import { Api } from './api.js'
 * @import { Where } from './pod.js'
 * @import { PodWatch } from './pod-watch.js'
 */
/** @import { Session } from '../converse.js' */

/** The name of the kit's own pod on each node, which reads counters. */
export const READER = 'reader'
const AGENT = 'src/agent/main.js'
const PINGS = 5

/** @typedef {Awaited<ReturnType<typeof startAgents>>} Agents */

/**
 * @typedef {object} AgentOptions
 * @property {Api} api
 * @property {PodWatch} pods
 * @property {string} namespace of the prober
 * @property {string | null} readerNamespace null: no reader is started
 * @property {Record<string, string>} labels
 * @property {string} image of Node
 * @property {Where} where the services are
 * @property {Where} loadWhere the load is
 * @property {boolean} hasRecursiveReadOnly
 * @property {AbortSignal} signal
 */

/**
 * Starts the kit's own pods, and waits until they are ready: the prober beside the services, and a reader on each
 * node.
 * @param {AgentOptions} options
 * @returns proberAddress: the address of the prober; session: opens a session with the agent on a node; close: closes
 *   all sessions
 * @throws {BenchError} if one does not become ready; the signal's reason when it aborts
 */
export async function startAgents({ api, pods, namespace, readerNamespace, signal, ...options }) {
  const { labels, image, where, loadWhere, hasRecursiveReadOnly } = options
  const files = readAgentCode()
  const common = { labels, image, folder: { path: KIT, configMap: 'kit', names: Object.keys(files) } }
  /** @type {Map<string, Promise<Session>>} */
  const sessions = new Map()
  const start = async (/** @type {{ metadata: { name: string, namespace: string } }} */ object) => {
    const { name, namespace } = object.metadata
    await api.apply(renderFiles({ name: 'kit', namespace, labels, files }))
    await api.apply(object)
    await awaitPods({
      ...{ api, pods, namespace, signal },
      noun: `the kit's own ${name}`,
      controllerPrefix: name,
      listPods: () => pods.find(name),
      isDone: started => started.length > 0 && started.every(isReady),
    })
  }
  const prober = renderProber({ ...common, name: PROBER, namespace, where })
  const readerOptions = {
    name: READER,
    namespace: `${readerNamespace}`,
    wheres: [where, loadWhere],
    hasRecursiveReadOnly,
  }
  await Promise.all([
    start(prober),
    readerNamespace === null ? null : start(renderReader({ ...common, ...readerOptions })),
  ])

  return {
    /** Finds the address of the prober's pod. @returns {string} @throws {BenchError} if no pod of it is ready */
    proberAddress() {
      const pod = findReadyPod({ pods, name: PROBER, node: null })
      if (pod.status?.podIP) return pod.status.podIP
      throw new BenchError(`the pod ${pod.metadata?.name} of the kit's own ${PROBER} is ready and has no address`)
    },

    /**
     * Opens a session with the agent on a node, unless one is open.
     * @param {string} name READER or PROBER
     * @param {string | null} node null: any
     * @returns {Promise<Session>}
     * @throws {BenchError} if no pod of it is ready there
     */
    async session(name, node) {
      const pod = findReadyPod({ pods, name, node })
      const key = `${pod.metadata?.uid}`
      const openedSession = await sessions.get(key)?.catch(() => null)
      if (openedSession?.isOpen()) return openedSession
      const place = { namespace: `${pod.metadata?.namespace}`, pod: `${pod.metadata?.name}` }
      const session = openSession({ api, ...place, container: name })
      sessions.set(key, session)
      return session
    },

    close() {
      for (const session of sessions.values()) void session.then(s => s.close()).catch(() => {})
    },
  }
}

/**
 * Finds a ready pod of the kit's own on a node.
 * @param {{ pods: Pick<PodWatch, 'find'>, name: string, node: string | null }} options name: READER or PROBER; node:
 *   null: any
 * @returns {import('@kubernetes/client-node').V1Pod}
 * @throws {BenchError} if there is none, with the reason
 */
function findReadyPod({ pods, name, node }) {
  const nodePods = pods.find(name).filter(p => node === null || p.spec?.nodeName === node)
  const pod = nodePods.find(isReady)
  if (pod) return pod
  const why = nodePods[0] ? (findObstacle(nodePods[0])?.why ?? 'its pod is not ready') : 'it has no pod there'
  throw new BenchError(`the kit's own ${name} is missing on ${node ?? 'every node'}: ${why}`)
}

/**
 * Starts the agent in a pod.
 * @param {{ api: Api, namespace: string, pod: string, container: string }} options
 * @returns {Promise<Session>}
 * @throws {BenchError} if the API server refuses
 */
async function openSession({ api, namespace, pod, container }) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let stderrTail = ''
  stderr.on('data', chunk => {
    stderrTail = (stderrTail + chunk).slice(-2000)
  })
  const command = ['node', `${KIT}/${AGENT}`]
  const exec = new api.k8s.Exec(api.config)
  const socket = await api.request(`start the agent in ${namespace}/${pod}`, () =>
    exec.exec(namespace, pod, container, command, stdout, stderr, stdin, false),
  )
  return startSession({
    stdin,
    stdout,
    closed: new Promise(resolve => {
      socket.on('close', () => resolve(stderrTail.trim()))
      socket.on('error', (/** @type {Error} */ error) => resolve(error.message))
    }),
    end: () => socket.close(),
    what: `${namespace}/${pod}`,
  })
}

/**
 * Measures the lead of a pod's clock over ours, to half of a round trip, by the fastest of PINGS answers, as in NTP
 * (RFC 5905, 8).
 * @param {Session} session
 * @returns {Promise<number>} milliseconds; negative: it lags
 */
export async function measureClockOffset(session) {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, offsetMs: 0 }
  for (let i = 0; i < PINGS; i++) {
    const sent = Date.now()
    const remoteMs = await session.call('now', null)
    const roundTripMs = Date.now() - sent
    if (roundTripMs < best.roundTripMs) best = { roundTripMs, offsetMs: Number(remoteMs) - (sent + roundTripMs / 2) }
  }
  return best.offsetMs
}

/**
 * Lets the reader of a node probe the sidecars of a rollout there: it sees their processes start.
 * @param {{ agents: Pick<Agents, 'session'>, node: string }} options node: on which all sidecars run
 * @returns {Promise<import('../../model/types.ts').Asking>}
 */
export async function openAsking({ agents, node }) {
  const session = await agents.session(READER, node)
  await session.call('openAsking', null)
  /** Addresses of the sidecars by name, as the reader has seen them. @type {Map<string, string>} */
  const addresses = new Map()
  let waiting = 0
  /** @type {<T>(answer: Promise<T>) => Promise<T>} */
  const trackWaiting = answer => {
    waiting++
    return answer.finally(() => waiting--)
  }
  return {
    async expectFirst({ pod, spec: { program } }, expected) {
      /** @type {{ address: string, times: import('../../model/types.ts').ConfigurationTimes } | null} */
      const first = await trackWaiting(session.call('expectFirst', { uid: pod?.uid, program, expected }))
      if (first === null) return null
      addresses.set(expected.name, first.address)
      return first.times
    },
    expect(expected) {
      const endpoint = { ...expected.endpoint, address: addresses.get(expected.name) }
      return trackWaiting(session.call('expect', { ...expected, endpoint }))
    },
    countWaiting: () => waiting,
    giveUp: () => session.call('giveUp', null),
    perform: (actions, signal) => session.call('bring', { actions }, { signal }),
    readCosts: () => session.call('readCosts', null),
    close: () => void session.call('closeAsking', null).catch(() => {}),
  }
}
