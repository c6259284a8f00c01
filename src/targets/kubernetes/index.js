import { BenchError, SiteLostError } from '../../lib/errors.js'
import { renderCommand } from '../../lib/render-command.js'
import { PORTS, PROBER } from '../../model/sidecar-contract.js'
import { openAsking, startAgents } from './agents.js'
import { createDeploy } from './deploy.js'
import { createFiles } from './files.js'
import { lookByKubelet, observeByKubelet, readSummary } from './kubelet.js'
import { LABELS, MANAGER, renderNamespace, renderService } from './manifests.js'
import { createNamespace, removeNamespaces } from './namespaces.js'
import { lookByReaders, observeByReaders } from './observations.js'
import { watchPods } from './pod-watch.js'

/**
 * @import { Handle, Place, Target } from '../../model/types.ts'
 * @import { Where } from './pod.js'
 */

/**
 * @typedef {object} ClusterOptions
 * @property {import('./api.js').Api} api
 * @property {import('../../model/types.ts').Ledger} ledger is closed with the target
 * @property {string} namespace of the services, after which the readers' is named
 * @property {Where} where the services are
 * @property {Where} loadWhere the load is
 * @property {string} nodeImage of the kit's own pods
 * @property {boolean} hasNativeSidecars
 * @property {boolean} hasRecursiveReadOnly
 * @property {import('../../model/types.ts').SampleSource} sampleSource with `kubelet` no reader is started
 * @property {number} cpus of the services' node
 * @property {string} node the name of the services' node
 * @property {string} nodeLabel the value of its label HOST_LABEL
 * @property {AbortSignal} signal ends every wait
 */

/** @typedef {Awaited<ReturnType<typeof openNamespaces>>} Opened */

/**
 * Creates the target that runs every service in a pod. Its namespaces are created when they are first needed; `close`
 * removes them, unless they are retained.
 * @param {ClusterOptions} options
 * @returns {Target & { open: () => Promise<Opened>, namespace: string, allowRules: (image: string) => Promise<void>
 *   }} open: creates the namespaces, with the kit's own pods; allowRules: makes the namespace privileged, so that the
 *   image may set rules in its pods
 */
export function createKubernetesTarget(options) {
  const { api, ledger, namespace, sampleSource, cpus, node } = options
  const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: ledger.runId }
  const files = createFiles({ api, namespace, labels })
  /** @type {string[]} */
  const created = []
  /** @type {Promise<Opened> | null} */
  let opening = null
  const open = () => {
    opening ??= openNamespaces({ ...options, labels, created })
    return opening
  }
  /** @type {string | undefined} */
  let rulesImage

  return {
    name: 'kubernetes',
    namespace,
    open,
    locate: files.locate,
    pods: { place: createPodPlace(''), openAsking: async () => openAsking({ agents: (await open()).agents, node }) },
    deploy: createDeploy({
      ...options,
      labels,
      files,
      openPods: async () => (await open()).pods,
      rulesImage: () => rulesImage,
    }),

    async placesFor(start, services) {
      const { agents } = await open()
      const startLabels = { ...labels, [LABELS.start]: `${start}` }
      const ports = [PORTS.application, PORTS.outbound, PORTS.inbound, PORTS.control, PORTS.stream]
      const places = services.map(async service => {
        const name = `${service}-${start}`
        const made = await api.apply(renderService({ service, name, namespace, labels: startLabels, ports }))
        return [service, createPodPlace(/** @type {any} */ (made).spec.clusterIP)]
      })
      return { ...Object.fromEntries(await Promise.all(places)), [PROBER]: createPodPlace(agents.proberAddress()) }
    },

    async allowRules(image) {
      rulesImage = image
      await open()
      await api.apply(renderNamespace({ name: namespace, runId: ledger.runId, level: 'privileged' }))
    },

    async call(procedure, args, { signal } = {}) {
      const { agents } = await open()
      const session = await agents.session(PROBER, null)
      return session.call(procedure, args, { signal }).then(result => /** @type {any} */ (result))
    },

    async look(processes) {
      if (sampleSource === 'kubelet') return lookByKubelet(toContainerHandles(processes))
      return lookByReaders((await open()).agents, toContainerHandles(processes))
    },

    async observe(processes, { window, signal }) {
      const containers = toContainerHandles(processes)
      if (sampleSource === 'cgroup') return observeByReaders((await open()).agents, containers, { window, signal })
      const read = () => readSummary(api, containers[0]?.watched().node ?? node)
      return observeByKubelet({ readSummary: read, containers, cpus, window, signal })
    },

    async close({ retain } = { retain: false }) {
      const opened = await opening?.catch(() => null)
      opened?.agents.close()
      opened?.pods.close()
      if (retain) {
        ledger.close({ retain })
        return created.map(name => `the namespace ${name}`)
      }
      await removeNamespaces({ api, names: created }).catch(error => {
        const advice = `what the run left there is removed by: ${renderCommand('cleanup', '--target kubernetes')}`
        throw error instanceof BenchError ? new BenchError(`${error.message}; ${advice}`, { cause: error }) : error
      })
      for (const name of created) ledger.release('namespace', `${name} of ${api.server}`)
      ledger.close()
      return []
    },
  }
}

/**
 * Creates the addresses of a service in a pod.
 * @param {string} reach the address by which others reach it
 * @returns {Place}
 */
function createPodPlace(reach) {
  return { reach, listen: '0.0.0.0', inside: '127.0.0.1' }
}

/**
 * Creates the namespaces, with the kit's own pods.
 * @param {ClusterOptions & Pick<import('./manifests.js').Meta, 'labels'> & { created: string[] }} options created:
 *   the names of created namespaces, to which this adds
 * @returns {Promise<{ pods: Awaited<ReturnType<typeof watchPods>>, agents: Awaited<ReturnType<typeof startAgents>>
 *   }>}
 * @throws {BenchError} if a namespace is refused, or a pod does not become ready
 */
async function openNamespaces({ nodeImage, created, ...options }) {
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
    created.push(name)
  }
  await create(namespace, 'restricted')
  if (readerNamespace !== null) await create(readerNamespace, 'privileged')
  const pods = await watchPods({ api, namespaces: created })
  try {
    return { pods, agents: await startAgents({ ...options, pods, readerNamespace, image: nodeImage }) }
  } catch (error) {
    pods.close()
    throw error
  }
}

/**
 * Casts handles of this target to their own type.
 * @param {Handle[]} processes of this target
 */
function toContainerHandles(processes) {
  return /** @type {import('./container.js').ContainerHandle[]} */ (processes)
}
