import { BenchError, SiteLostError } from '../../lib/errors.js'
import { renderCommand } from '../../lib/render-command.js'
import { PORTS, PROBER } from '../../model/sidecar-contract.js'
import { startAgents } from './agents.js'
import { createDeploy } from './deploy.js'
import { createFiles } from './files.js'
import { lookByKubelet, observeByKubelet, readKubeletSummary } from './kubelet.js'
import { LABELS, MANAGER, renderNamespace, renderService } from './manifests.js'
import { createNamespace, removeNamespaces } from './namespaces.js'
import { lookByReaders, observeByReaders } from './observations.js'
import { watchPods } from './pod-watch.js'
import { openRolloutPoller } from './rollout-poller.js'

/**
 * @import { Handle, Ledger, Place, SampleSource, Target } from '../../model/types.ts'
 * @import { Agents } from './agents.js'
 * @import { Api } from './api.js'
 * @import { ContainerHandle } from './container.js'
 * @import { NodePlace } from './pod.js'
 * @import { PodWatch } from './pod-watch.js'
 */

/**
 * @typedef {object} ClusterOptions
 * @property {Api} api
 * @property {Ledger} ledger is closed with the target
 * @property {string} namespace of the services, after which the readers' is named
 * @property {NodePlace} where the services are
 * @property {NodePlace} loadWhere the load is
 * @property {string} nodeImage of the kit's own pods
 * @property {boolean} hasNativeSidecars the cluster has init containers that keep running (Kubernetes 1.29)
 * @property {boolean} hasRecursiveReadOnly the cluster mounts volumes read-only with the mounts below them (Kubernetes 1.31)
 * @property {SampleSource} sampleSource with `kubelet` no reader is started
 * @property {number} cpus of the services' node
 * @property {string} node the name of the services' node
 * @property {string} nodeLabel the value of its label HOST_LABEL
 * @property {AbortSignal} signal ends every wait
 */

/** @typedef {{ pods: PodWatch, agents: Agents }} OpenedNamespaces */
/**
 * @typedef {object} ClusterTarget
 * @property {string} namespace
 * @property {() => Promise<OpenedNamespaces>} open creates the namespaces with the kit's own pods, at its first call
 * @property {(image: string) => Promise<void>} allowRules makes the namespace privileged, so that the image may set rules in its
 *   pods
 */

/**
 * Creates the target that runs every service in a pod. Its namespaces are created when they are first needed; `close`
 * removes them, unless they are retained.
 * @param {ClusterOptions} options
 * @returns {Target & ClusterTarget}
 */
export function createKubernetesTarget(options) {
  const { api, ledger, namespace, sampleSource, cpus, node } = options
  const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: ledger.runId }
  const files = createFiles({ api, namespace, labels })
  /** The namespaces created so far. @type {string[]} */
  const namespaces = []
  /** @type {Promise<OpenedNamespaces> | null} */
  let opening = null
  const open = () => {
    opening ??= openNamespaces({ ...options, labels, namespaces })
    return opening
  }
  /** @type {string | undefined} */
  let rulesImage

  return {
    name: 'kubernetes',
    namespace,
    open,
    locate: files.locate,
    pods: {
      place: createPodPlace(''),
      openRolloutPoller: async () => openRolloutPoller({ agents: (await open()).agents, node }),
    },
    deploy: createDeploy({
      ...options,
      labels,
      files,
      openPods: async () => (await open()).pods,
      findRulesImage: () => rulesImage,
    }),

    async placesFor(start, services) {
      const { agents } = await open()
      const startLabels = { ...labels, [LABELS.start]: `${start}` }
      const ports = [PORTS.application, PORTS.outbound, PORTS.inbound, PORTS.control, PORTS.stream]
      const places = services.map(async service => {
        const name = `${service}-${start}`
        const object = await api.apply(renderService({ service, name, namespace, labels: startLabels, ports }))
        return [service, createPodPlace(/** @type {any} */ (object).spec.clusterIP)]
      })
      return { ...Object.fromEntries(await Promise.all(places)), [PROBER]: createPodPlace(agents.readProberAddress()) }
    },

    async allowRules(image) {
      rulesImage = image
      await open()
      await api.apply(renderNamespace({ name: namespace, runId: ledger.runId, level: 'privileged' }))
    },

    async call(procedure, args, { signal } = {}) {
      const { agents } = await open()
      const session = await agents.openSession(PROBER, null)
      return /** @type {any} */ (await session.call(procedure, args, { signal }))
    },

    async look(processes) {
      if (sampleSource === 'kubelet') return lookByKubelet(castToContainers(processes))
      return lookByReaders((await open()).agents, castToContainers(processes))
    },

    async observe(processes, { window, signal }) {
      const containers = castToContainers(processes)
      if (sampleSource === 'cgroup') return observeByReaders((await open()).agents, containers, { window, signal })
      const readSummary = () => readKubeletSummary(api, containers[0]?.locateContainer().node ?? node)
      return observeByKubelet({ readSummary, containers, cpus, window, signal })
    },

    async close({ retain } = { retain: false }) {
      const opened = await opening?.catch(() => null)
      opened?.agents.close()
      opened?.pods.close()
      if (retain) {
        ledger.close({ retain })
        return namespaces.map(name => `the namespace ${name}`)
      }
      await removeNamespaces({ api, names: namespaces }).catch(error => {
        const advice = `what the run left there is removed by: ${renderCommand('cleanup', '--target kubernetes')}`
        throw error instanceof BenchError ? new BenchError(`${error.message}; ${advice}`, { cause: error }) : error
      })
      for (const name of namespaces) ledger.release('namespace', `${name} of ${api.server}`)
      ledger.close()
      return []
    },
  }
}

/**
 * Creates the addresses of a service in a pod.
 * @param {string} reach the address by which others reach it; empty: it is known only once the pod runs
 * @returns {Place}
 */
function createPodPlace(reach) {
  return { reach, listen: '0.0.0.0', inside: '127.0.0.1' }
}

/**
 * Creates the namespaces and enters them in the ledger, and starts the kit's own pods in them.
 * @param {ClusterOptions & { labels: Record<string, string>, namespaces: string[] }} options namespaces: the names of those
 *   created so far, to which this adds
 * @returns {Promise<OpenedNamespaces>}
 * @throws {BenchError} if a namespace is refused, or a pod does not become ready; {SiteLostError} if the API server does not answer;
 *   the signal's reason when it aborts
 */
async function openNamespaces({ nodeImage, namespaces, ...options }) {
  const { api, ledger, namespace } = options
  const readerNamespace = options.sampleSource === 'kubelet' ? null : `${namespace}-reader`
  const create = async (/** @type {string} */ name, /** @type {'restricted' | 'privileged'} */ level) => {
    const holding = `${name} of ${api.server}`
    ledger.hold('namespace', holding)
    try {
      await createNamespace({ api, name, runId: ledger.runId, level })
    } catch (error) {
      // A refused namespace is not there, or not this run's. Without an answer it may be there, so it stays in the ledger.
      if (!(error instanceof SiteLostError)) ledger.release('namespace', holding)
      throw error
    }
    namespaces.push(name)
  }
  await create(namespace, 'restricted')
  if (readerNamespace !== null) await create(readerNamespace, 'privileged')
  const pods = await watchPods({ api, namespaces })
  try {
    return { pods, agents: await startAgents({ ...options, pods, readerNamespace, image: nodeImage }) }
  } catch (error) {
    pods.close()
    throw error
  }
}

/**
 * Casts handles of this target to their own type.
 * @param {Handle[]} processes
 */
function castToContainers(processes) {
  return /** @type {ContainerHandle[]} */ (processes)
}
