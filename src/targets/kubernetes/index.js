import { BenchError } from '../../lib/errors.js'
import { PORTS, PROBER } from '../../model/sidecar-contract.js'
import { READER, startAgents } from './agents.js'
import { awaitPods } from './await-pods.js'
import { createHandle } from './container.js'
import { createFiles } from './files.js'
import { lookByKubelet, observeByKubelet, readSummary } from './kubelet.js'
import { LABELS, MANAGER, renderDeployment, renderJob, renderService } from './manifests.js'
import { createNamespace, removeNamespaces } from './namespaces.js'
import { mergeObservations } from './observations.js'
import { findContainerId } from './pod-status.js'
import { watchPods } from './pod-watch.js'
import { measureClockOffset } from './session.js'

/**
 * @import { V1Pod } from '@kubernetes/client-node'
 * @import { Deployment, Handle, Look, Place, ProcessSpec, Target } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { ContainerHandle } from './container.js'
 * @import { Where } from './manifests.js'
 * @import { Seen } from './observations.js'
 */

const READY_SECONDS = 120
const GONE_SECONDS = 60

/**
 * @typedef {object} ClusterOptions
 * @property {Api} api
 * @property {string} runId
 * @property {string} namespace of the services; that of the reader is named after it
 * @property {Where} where the services go
 * @property {Where} loadWhere
 * @property {string} nodeImage of the kit's own pods
 * @property {boolean} hasNativeSidecars
 * @property {boolean} hasRecursiveReadOnly
 * @property {import('../../model/types.ts').SampleSource} sampleSource kubelet: no reader is started
 * @property {number} cpus of the services' node
 * @property {string} node that one's name
 * @property {AbortSignal} signal ends what waits
 */

/** @typedef {Awaited<ReturnType<typeof openNamespaces>>} Opened */

/**
 * Runs every service in a pod. Its namespaces are made at the first need, and go with `close`.
 * @param {ClusterOptions} options
 * @returns {Target & { open: () => Promise<Opened>, namespace: string }}
 */
export function createKubernetesTarget(options) {
  const { api, runId, namespace, where, loadWhere, hasNativeSidecars, sampleSource, cpus, node, signal } = options
  const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: runId }
  const files = createFiles({ api, namespace, labels })
  /** @type {string[]} */
  const created = []
  let starts = 0
  /** The services that have addresses in the last start. @type {string[]} */
  let placed = []
  /** @type {Promise<Opened> | null} */
  let opening = null
  const open = () => {
    opening ??= openNamespaces({ ...options, labels, created })
    return opening
  }

  /** @type {Target} */
  const target = {
    name: 'kubernetes',
    locate: files.locate,

    async placesFor(_, services) {
      const { agents } = await open()
      const start = `${++starts}`
      placed = services
      const own = { ...labels, [LABELS.start]: start }
      const ports = [PORTS.application, PORTS.outbound, PORTS.inbound]
      const made = await Promise.all(
        services.map(service =>
          api.apply(renderService({ service, name: `${service}-${start}`, namespace, labels: own, ports })),
        ),
      )
      /** @type {(reach: string) => Place} */
      const placeAt = reach => ({ reach, listen: '0.0.0.0', inside: '127.0.0.1' })
      return {
        ...Object.fromEntries(services.map((name, i) => [name, placeAt(/** @type {any} */ (made[i]).spec.clusterIP)])),
        [PROBER]: placeAt(agents.proberAddress()),
      }
    },

    async deploy(specs, folder) {
      const { pods } = await open()
      const isLoad = specs.every(spec => spec.role === 'generator')
      // Services start where their addresses have been made.
      const start = `${isLoad ? ++starts : starts}`
      const own = { ...labels, [LABELS.start]: start }
      const services = [...new Set(specs.map(spec => spec.service))]
      const addressed = placed
      /** @type {ContainerHandle[]} */
      const processes = specs.map(spec => createHandle({ api, pods, namespace, spec, start, folder }))
      /** @type {Deployment} */
      const deployment = {
        processes,
        remove: () =>
          removeStart({
            pods,
            start,
            processes,
            isLoad,
            services: isLoad ? services : [...new Set([...addressed, ...services])],
          }),
      }
      try {
        await Promise.all(services.map(service => applyService({ service, specs, start, own, folder })))
        if (isLoad) await awaitContainers({ pods, start, processes })
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
      if (sampleSource === 'kubelet') return lookByKubelet(processes.map(asContainer))
      const { agents } = await open()
      /** @type {Look[]} */
      const looks = []
      for (const [node, { watched, places }] of groupByNode(processes)) {
        const session = await agents.session(READER, node)
        /** @type {Look[]} */
        const seen = await session.call('look', { watched })
        for (const [i, place] of places.entries()) looks[place] = seen[i]
      }
      return looks
    },

    async observe(processes, { window, signal: stop }) {
      const { agents } = await open()
      if (sampleSource === 'kubelet') {
        const watched = processes.map(asContainer)
        const readOwn = () =>
          readSummary(api, `${/** @type {ContainerHandle | undefined} */ (processes[0])?.watched().node ?? node}`)
        return {
          ...(await observeByKubelet({ readSummary: readOwn, watched, cpus, window, signal: stop })),
          clockOffsetMs: 0,
        }
      }
      const seen = await Promise.all(
        [...groupByNode(processes)].map(async ([node, { watched, places }]) => {
          const session = await agents.session(READER, node)
          const offsetMs = await measureClockOffset(session)
          /** @type {Seen} */
          const observation = await session.call('observe', { watched, window }, { signal: stop })
          return { places, offsetMs, observation }
        }),
      )
      return mergeObservations(seen, { processes })
    },

    async close({ retain } = { retain: false }) {
      const opened = await opening?.catch(() => null)
      opened?.agents.close()
      opened?.pods.close()
      if (retain) return created.map(name => `the namespace ${name}`)
      await removeNamespaces({ api, names: created })
      return []
    },
  }
  return { ...target, open, namespace }

  /**
   * @param {{ service: string, specs: ProcessSpec[], start: string, own: Record<string, string>, folder: string }} options
   */
  async function applyService({ service, specs, start, own, folder }) {
    const name = `${service}-${start}`
    const group = specs.filter(spec => spec.service === service)
    const containers = await Promise.all(group.map(spec => files.apply(spec, { name, own, folder })))
    const common = { service, name, namespace, labels: own }
    const [container] = containers
    if (container.spec.role !== 'generator') {
      return api.apply(renderDeployment({ ...common, containers, where, hasNativeSidecars }))
    }
    return api.apply(renderJob({ ...common, container, where: loadWhere }))
  }

  /**
   * Waits until every pod of a load has a container that can be read.
   * @param {{ pods: Opened['pods'], start: string, processes: ContainerHandle[] }} options
   */
  function awaitContainers({ pods, start, processes }) {
    const [{ spec }] = processes
    const isStarted = (/** @type {V1Pod} */ pod) => findContainerId(pod, `${pod.spec?.containers[0]?.name}`) !== null
    return awaitPods({
      ...{ api, pods, namespace, signal, what: 'the load', deadlineSeconds: READY_SECONDS },
      find: () => pods.find({ [LABELS.service]: spec.service, [LABELS.start]: start }),
      maker: `${spec.service}-${start}`,
      isDone: found => found.filter(isStarted).length >= processes.length,
    })
  }

  /**
   * Removes everything of one start, and waits until its pods are gone.
   * @param {{ pods: Opened['pods'], start: string, services: string[], processes: ContainerHandle[], isLoad: boolean }} options
   */
  async function removeStart({ pods, start, services, processes, isLoad }) {
    await Promise.all(processes.map(p => p.saveLog()))
    const kinds = [
      ['v1', 'Service'],
      ['v1', 'ConfigMap'],
      ['v1', 'Secret'],
      isLoad ? ['batch/v1', 'Job'] : ['apps/v1', 'Deployment'],
    ]
    const names = services.map(service => `${service}-${start}`)
    await Promise.all(
      kinds.flatMap(([apiVersion, kind]) =>
        names.map(name => api.remove({ apiVersion, kind, metadata: { name, namespace } })),
      ),
    )
    const isGone = () => pods.find({ [LABELS.start]: start }).length === 0
    if (await pods.until(isGone, { deadlineSeconds: GONE_SECONDS })) return
    throw new BenchError(`the pods of ${services.join(' and ')} were not gone within ${GONE_SECONDS} s`)
  }
}

/**
 * Makes the run's namespaces, with the kit's own pods in them.
 * @param {ClusterOptions & { labels: Record<string, string>, created: string[] }} options created: gets their names
 */
async function openNamespaces({
  api,
  runId,
  namespace,
  where,
  loadWhere,
  nodeImage,
  hasRecursiveReadOnly,
  sampleSource,
  signal,
  labels,
  created,
}) {
  const readerNamespace = sampleSource === 'kubelet' ? null : `${namespace}-reader`
  for (const [name, level] of /** @type {const} */ ([
    [namespace, 'restricted'],
    [readerNamespace, 'privileged'],
  ])) {
    if (name === null) continue
    await createNamespace({ api, name, runId, level })
    created.push(name)
  }
  const pods = await watchPods({ api, namespaces: created })
  try {
    const common = { api, pods, namespace, readerNamespace, labels, where, loadWhere, hasRecursiveReadOnly, signal }
    return { pods, agents: await startAgents({ ...common, image: nodeImage }) }
  } catch (error) {
    pods.close()
    throw error
  }
}

/**
 * A container as the kubelet names it.
 * @param {Handle} process
 */
function asContainer(process) {
  const { watched } = /** @type {ContainerHandle} */ (process)
  const { namespace, pod, container } = watched()
  return { namespace, pod, container, identify: () => [watched().id, `${watched().restarts} restarts`] }
}

/**
 * The containers of each node, each with its place among all; without any, the machine of the services.
 * @param {Handle[]} processes
 */
function groupByNode(processes) {
  /** @type {Map<string | null, { watched: ReturnType<ContainerHandle['watched']>[], places: number[] }>} */
  const nodes = new Map()
  if (processes.length === 0) nodes.set(null, { watched: [], places: [] })
  for (const [i, process] of processes.entries()) {
    const watched = /** @type {ContainerHandle} */ (process).watched()
    const group = nodes.get(watched.node) ?? { watched: [], places: [] }
    group.watched.push(watched)
    group.places.push(i)
    nodes.set(watched.node, group)
  }
  return nodes
}
