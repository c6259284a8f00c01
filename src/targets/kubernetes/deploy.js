import { BenchError } from '../../lib/errors.js'
import { readNowMs } from '../../node/convergence.js'
import { renderServiceRules } from '../rules.js'
import { awaitPods } from './await-pods.js'
import { createHandle } from './container.js'
import { LABELS, renderDeployment, renderJob, renderSidecarPod } from './manifests.js'
import { RULES } from './pod.js'
import { findContainerId } from './pod-status.js'

/** Runs processes as pods: services by Deployments, the load by a Job, sidecars of a rollout in pods without a controller. */
/** @import { Deployment, Handle, ProcessSpec, Target } from '../../model/types.ts' */
/**
 * @import { PodWatch } from './pod-watch.js'
 * @import { Api } from './api.js'
 */

const GONE = { seconds: 60, perProcessSeconds: 1 }

/**
 * Creates `deploy` of the target.
 * @param {import('./index.js').ClusterOptions & { labels: Record<string, string>, files: ReturnType<typeof
 *   import('./files.js').createFiles>, openPods: () => Promise<PodWatch>, rulesImage: () => string | undefined }}
 *   options openPods: creates the namespaces when they are first needed; rulesImage: gives the image that has
 *   iptables-restore; undefined: no rules are needed
 * @returns {Target['deploy']}
 */
export function createDeploy({ api, namespace, labels, files, openPods, rulesImage, signal, ...options }) {
  const { where, loadWhere, nodeLabel, hasNativeSidecars } = options

  /**
   * Creates the name, namespace and labels of a service's objects.
   * @param {string} service
   * @param {number} start its number
   */
  const createMetadata = (service, start) => {
    const startLabels = { ...labels, [LABELS.start]: `${start}` }
    return { service, name: `${service}-${start}`, namespace, labels: startLabels }
  }
  /**
   * Applies the files of a process.
   * @param {ProcessSpec} spec
   * @param {{ start: number, folder: string }} at folder: for the rendered files, here
   */
  const applyFiles = (spec, { start, folder }) => {
    const { name, labels } = createMetadata(spec.service, start)
    return files.apply(spec, { name, labels, folder })
  }

  return async (specs, { start, folder, onStart }) => {
    const pods = await openPods()
    const services = [...new Set(specs.map(spec => spec.service))]
    const processes = specs.map(spec => createHandle({ api, pods, namespace, spec, start: `${start}`, folder }))
    const at = { pods, start, folder }
    /** @type {Deployment} */
    const deployment = {
      processes,
      remove: () => removeStart(processes, { api, namespace, ...at, services, arePods: Boolean(onStart) }),
    }
    try {
      if (onStart) {
        for (const process of processes) {
          signal.throwIfAborted()
          onStart({ ...process, pod: await createPod(process, at) })
        }
        return deployment
      }
      const listServiceSpecs = (/** @type {string} */ service) => specs.filter(spec => spec.service === service)
      await Promise.all(services.map(service => applyService(listServiceSpecs(service), at)))
      const generator = processes.find(({ spec }) => spec.role === 'generator')
      if (generator) {
        const { service, role } = generator.spec
        await awaitPods({
          ...{ api, pods, namespace, signal },
          noun: 'the load',
          controllerPrefix: `${service}-${start}`,
          listPods: () => pods.find(service, `${start}`),
          isDone: started => started.some(pod => findContainerId(pod, role) !== null),
        })
      }
      return deployment
    } catch (error) {
      await deployment.remove()
      throw error
    }
  }

  /**
   * Applies a service: the files of its processes, and its controller.
   * @param {ProcessSpec[]} specs of the service
   * @param {{ start: number, folder: string }} at folder: for the rendered files, here
   */
  async function applyService(specs, at) {
    const rules = renderServiceRules(specs)
    const withRules = (/** @type {ProcessSpec} */ spec) =>
      spec.redirects && rules ? { ...spec, files: [...spec.files, { name: RULES, content: rules }] } : spec
    const containers = await Promise.all(specs.map(spec => applyFiles(withRules(spec), at)))
    const [container] = containers
    const meta = createMetadata(container.spec.service, at.start)
    return container.spec.role === 'generator'
      ? api.apply(renderJob({ ...meta, container, where: loadWhere }))
      : api.apply(renderDeployment({ ...meta, containers, where, hasNativeSidecars, rulesImage: rulesImage() }))
  }

  /**
   * Creates the pod of a sidecar of a rollout.
   * @param {Handle} process
   * @param {{ start: number, folder: string }} at folder: for the rendered files, here
   * @returns {Promise<NonNullable<Handle['pod']>>} its id, and when it was requested
   */
  async function createPod({ spec }, at) {
    const container = await applyFiles(spec, at)
    const pod = renderSidecarPod({ ...createMetadata(spec.service, at.start), container, where: nodeLabel })
    const createdMs = readNowMs()
    const made = await api.apply(pod)
    return { uid: /** @type {any} */ (made).metadata.uid, createdMs }
  }
}

/**
 * Saves the logs, removes the services of a start with their addresses, and waits until their pods are gone.
 * @param {import('./container.js').ContainerHandle[]} processes
 * @param {{ api: Api, namespace: string, pods: PodWatch, start: number, services: string[], arePods: boolean }}
 *   options arePods: the pods have no controllers
 * @throws {BenchError} if they are not gone in time
 */
async function removeStart(processes, { api, namespace, pods, start, services, arePods }) {
  await Promise.all(processes.map(p => p.saveLog()))
  const hasFiles = processes.some(({ spec }) => spec.files.length > 0)
  const hasCredentials = processes.some(({ spec }) => spec.credentials.length > 0)
  const maker = processes[0].spec.role === 'generator' ? ['batch/v1', 'Job'] : ['apps/v1', 'Deployment']
  const kinds = [
    ...(arePods ? [['v1', 'Pod']] : [['v1', 'Service'], maker]),
    ...(hasFiles || !arePods ? [['v1', 'ConfigMap']] : []),
    ...(hasCredentials || !arePods ? [['v1', 'Secret']] : []),
  ]
  const objects = services.flatMap(service =>
    kinds.map(([apiVersion, kind]) => ({ apiVersion, kind, metadata: { name: `${service}-${start}`, namespace } })),
  )
  await Promise.all(objects.map(object => api.remove(object)))
  const isGone = () => services.every(service => pods.find(service, `${start}`).length === 0)
  const deadlineSeconds = GONE.seconds + GONE.perProcessSeconds * processes.length
  if (await pods.until(isGone, { deadlineSeconds })) return
  throw new BenchError(
    `the pods of ${services.join(' and ')} were not gone ${deadlineSeconds} s after they were deleted: kubectl -n ${namespace} get pods shows what holds them`,
  )
}
