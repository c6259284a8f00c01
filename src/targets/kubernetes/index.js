import { BenchError, SiteLostError } from '../../lib/errors.js'
import { PORTS, PROBER } from '../../model/sidecar-contract.js'
import { readNowMs } from '../../node/convergence.js'
import { startAgents } from './agents.js'
import { openAsking } from './asking.js'
import { awaitPods } from './await-pods.js'
import { createHandle } from './container.js'
import { createFiles } from './files.js'
import { lookByKubelet, observeByKubelet, readSummary } from './kubelet.js'
import { LABELS, MANAGER, renderDeployment, renderJob, renderService, renderSidecarPod } from './manifests.js'
import { createNamespace, removeNamespaces } from './namespaces.js'
import { lookByReaders, observeByReaders } from './observations.js'
import { findContainerId } from './pod-status.js'
import { watchPods } from './pod-watch.js'

/** @import { Deployment, Handle, Place, ProcessSpec, Target } from '../../model/types.ts' */
/** @import { Ledger } from '../../node/ledger.js' */
/** @import { Api } from './api.js' */
/** @import { ContainerHandle } from './container.js' */
/** @import { Where } from './pod.js' */
/** @import { PodWatch } from './pod-watch.js' */

const READY_SECONDS = 120
const GONE = { seconds: 60, perProcessSeconds: 1 }

/**
 * @typedef {object} ClusterOptions
 * @property {Api} api
 * @property {Ledger} ledger of the run; closing the target closes it
 * @property {string} namespace of the services; the readers' is named after it
 * @property {Where} where the services go
 * @property {Where} loadWhere
 * @property {string} nodeImage of the kit's own pods
 * @property {boolean} hasNativeSidecars
 * @property {boolean} hasRecursiveReadOnly
 * @property {import('../../model/types.ts').SampleSource} sampleSource kubelet: no reader is started
 * @property {number} cpus of the services' node
 * @property {string} node that node's name
 * @property {string} nodeLabel by which that node alone is chosen
 * @property {AbortSignal} signal ends every wait
 */

/** @typedef {Awaited<ReturnType<typeof openNamespaces>>} Opened */

/**
 * Runs every service in a pod. Its namespaces are made when they are first needed, and `close` removes them.
 * @param {ClusterOptions} options
 * @returns {Target & { open: () => Promise<Opened>, namespace: string }}
 */
export function createKubernetesTarget(options) {
  const { api, ledger, namespace, where, loadWhere, hasNativeSidecars, sampleSource, cpus, node, nodeLabel, signal } =
    options
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

  /** @type {(reach: string) => Place} */
  const placeAt = reach => ({ reach, listen: '0.0.0.0', inside: '127.0.0.1' })

  /** @type {Target} */
  const target = {
    name: 'kubernetes',
    locate: files.locate,
    pods: { place: placeAt(''), openAsking: async () => openAsking({ agents: (await open()).agents, node }) },

    async placesFor(start, services) {
      const { agents } = await open()
      const own = { ...labels, [LABELS.start]: `${start}` }
      const ports = [PORTS.application, PORTS.outbound, PORTS.inbound, PORTS.control]
      const places = services.map(async service => {
        const name = `${service}-${start}`
        const made = await api.apply(renderService({ service, name, namespace, labels: own, ports }))
        return [service, placeAt(/** @type {any} */ (made).spec.clusterIP)]
      })
      return { ...Object.fromEntries(await Promise.all(places)), [PROBER]: placeAt(agents.proberAddress()) }
    },

    async deploy(specs, { start, folder, onStart }) {
      const { pods } = await open()
      const services = [...new Set(specs.map(spec => spec.service))]
      const processes = specs.map(spec => createHandle({ api, pods, namespace, spec, start: `${start}`, folder }))
      /** @type {Deployment} */
      const deployment = { processes, remove: () => remove({ pods, start, services, processes, arePods: !!onStart }) }
      try {
        if (onStart) {
          for (const process of processes) {
            signal.throwIfAborted()
            onStart({ ...process, pod: await makePod({ process, start, folder }) })
          }
          return deployment
        }
        await Promise.all(services.map(service => applyService({ service, specs, start, folder })))
        const generator = processes.find(({ spec }) => spec.role === 'generator')
        if (generator) await awaitContainer({ pods, start, generator })
        return deployment
      } catch (error) {
        await deployment.remove()
        throw error
      }
    },

    async call(procedure, args) {
      const { agents } = await open()
      const session = await agents.session(PROBER, null)
      return session.call(procedure, args).then(result => /** @type {any} */ (result))
    },

    async look(processes) {
      if (sampleSource === 'kubelet') return lookByKubelet(containersOf(processes))
      return lookByReaders((await open()).agents, containersOf(processes))
    },

    async observe(processes, { window, signal }) {
      const containers = containersOf(processes)
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
        const advice = 'what the run left there is removed by: npm run cleanup -- --target kubernetes'
        throw error instanceof BenchError ? new BenchError(`${error.message}; ${advice}`, { cause: error }) : error
      })
      for (const name of created) ledger.release('namespace', `${name} of ${api.server}`)
      ledger.close()
      return []
    },
  }
  return { ...target, open, namespace }

  /** @param {{ service: string, specs: ProcessSpec[], start: number, folder: string }} options */
  async function applyService({ service, specs, start, folder }) {
    const name = `${service}-${start}`
    const own = { ...labels, [LABELS.start]: `${start}` }
    const group = specs.filter(spec => spec.service === service)
    const containers = await Promise.all(group.map(spec => files.apply(spec, { name, own, folder })))
    const common = { service, name, namespace, labels: own }
    const [container] = containers
    return container.spec.role === 'generator'
      ? api.apply(renderJob({ ...common, container, where: loadWhere }))
      : api.apply(renderDeployment({ ...common, containers, where, hasNativeSidecars }))
  }

  /**
   * @param {{ process: Handle, start: number, folder: string }} options
   * @returns {Promise<NonNullable<Handle['pod']>>}
   */
  async function makePod({ process: { spec }, start, folder }) {
    const { service } = spec
    const name = `${service}-${start}`
    const own = { ...labels, [LABELS.start]: `${start}` }
    const container = await files.apply(spec, { name, own, folder })
    const pod = renderSidecarPod({ service, name, namespace, labels: own, container, where: nodeLabel })
    const createdMs = readNowMs()
    const made = await api.apply(pod)
    return { uid: /** @type {any} */ (made).metadata.uid, createdMs }
  }

  /**
   * Waits until the load's pod has a container that can be read.
   * @param {{ pods: PodWatch, start: number, generator: Handle }} options
   */
  function awaitContainer({ pods, start, generator: { spec } }) {
    return awaitPods({
      api,
      pods,
      namespace,
      signal,
      what: 'the load',
      maker: `${spec.service}-${start}`,
      deadlineSeconds: READY_SECONDS,
      find: () => pods.find({ [LABELS.service]: spec.service, [LABELS.start]: `${start}` }),
      isDone: ([pod]) => pod !== undefined && findContainerId(pod, spec.role) !== null,
    })
  }

  /**
   * Removes services of a start with their addresses, and waits until their pods are gone.
   * @param {{ pods: PodWatch, start: number, services: string[], processes: ContainerHandle[], arePods: boolean }} options
   *   arePods: no controller makes them
   */
  async function remove({ pods, start, services, processes, arePods }) {
    await Promise.all(processes.map(p => p.saveLog()))
    const maker = processes[0].spec.role === 'generator' ? ['batch/v1', 'Job'] : ['apps/v1', 'Deployment']
    const files = processes.some(({ spec }) => spec.files.length > 0) ? [['v1', 'ConfigMap']] : []
    const credentials = processes.some(({ spec }) => spec.credentials.length > 0) ? [['v1', 'Secret']] : []
    const kinds = arePods
      ? [['v1', 'Pod'], ...files, ...credentials]
      : [['v1', 'Service'], ['v1', 'ConfigMap'], ['v1', 'Secret'], maker]
    await Promise.all(
      services.flatMap(service =>
        kinds.map(([apiVersion, kind]) =>
          api.remove({ apiVersion, kind, metadata: { name: `${service}-${start}`, namespace } }),
        ),
      ),
    )
    const isGone = () =>
      services.every(service => pods.find({ [LABELS.service]: service, [LABELS.start]: `${start}` }).length === 0)
    const deadlineSeconds = GONE.seconds + GONE.perProcessSeconds * processes.length
    if (await pods.until(isGone, { deadlineSeconds })) return
    throw new BenchError(
      `the pods of ${services.join(' and ')} were not gone ${deadlineSeconds} s after they were deleted: kubectl -n ${namespace} get pods shows what holds them`,
    )
  }
}

/**
 * Makes the run's namespaces, with the kit's own pods in them.
 * @param {ClusterOptions & { labels: Record<string, string>, created: string[] }} options created: gets their names
 */
async function openNamespaces({ nodeImage, created, ...options }) {
  const { api, ledger, namespace } = options
  const readerNamespace = options.sampleSource === 'kubelet' ? null : `${namespace}-reader`
  for (const [name, level] of /** @type {const} */ ([
    [namespace, 'restricted'],
    [readerNamespace, 'privileged'],
  ])) {
    if (name === null) continue
    const held = `${name} of ${api.server}`
    ledger.hold('namespace', held)
    try {
      await createNamespace({ api, name, runId: ledger.runId, level })
    } catch (error) {
      // Refused: it is not there, or not this run's. An answer that was lost leaves that open.
      if (!(error instanceof SiteLostError)) ledger.release('namespace', held)
      throw error
    }
    created.push(name)
  }
  const pods = await watchPods({ api, namespaces: created })
  try {
    return { pods, agents: await startAgents({ ...options, pods, readerNamespace, image: nodeImage }) }
  } catch (error) {
    pods.close()
    throw error
  }
}

/** @param {Handle[]} processes of this target */
function containersOf(processes) {
  return /** @type {ContainerHandle[]} */ (processes)
}
