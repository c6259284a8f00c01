import { readNowMs } from '../../lib/clock.js'
import { BenchError } from '../../lib/errors.js'
import { renderServiceRules } from '../iptables-rules.js'
import { awaitPods } from './await-pods.js'
import { createContainerHandle } from './container.js'
import { LABELS, renderDeployment, renderJob, renderSidecarPod } from './manifests.js'
import { RULES } from './pod.js'
import { findContainerId } from './pod-status.js'

/** Processes run as pods: services by Deployments, the load by a Job, sidecars of a rollout in pods without a controller. */
/**
 * @import { Deployment, Handle, ProcessSpec, Target } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { ContainerHandle } from './container.js'
 * @import { Files } from './files.js'
 * @import { ClusterOptions } from './index.js'
 * @import { PodWatch } from './pod-watch.js'
 */

const REMOVE_SECONDS = 60
const REMOVE_SECONDS_PER_PROCESS = 1

/**
 * @typedef {object} DeployOptions
 * @property {Record<string, string>} labels of all objects of the run
 * @property {Files} files
 * @property {() => Promise<PodWatch>} openPods creates the namespaces when they are first needed
 * @property {() => string | undefined} findRulesImage finds the image that has iptables-restore; undefined: no rules are needed
 */
/** @typedef {{ start: number, folder: string }} StartPlace start: its number; folder: here, for logs and the rendered files */

/**
 * Creates the function that runs processes as pods: those of a service in one controller, all services at once; with `onStart`, each
 * in a pod of its own, one after the other.
 * @param {ClusterOptions & DeployOptions} options
 * @returns {Target['deploy']} it throws a BenchError if an object is refused or the load does not start, a SiteLostError if the API
 *   server does not answer, and the signal's reason when it aborts, after it has removed all
 */
export function createDeploy({ api, namespace, labels, files, openPods, findRulesImage, signal, ...options }) {
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
   * Applies the files of a process, as `apply` of Files.
   * @param {ProcessSpec} spec
   * @param {StartPlace} at
   */
  const applyFiles = (spec, { start, folder }) => {
    const { name, labels } = createMetadata(spec.service, start)
    return files.apply(spec, { name, labels, folder })
  }

  return async (specs, { start, folder, onStart }) => {
    const pods = await openPods()
    const services = [...new Set(specs.map(spec => spec.service))]
    const processes = specs.map(spec =>
      createContainerHandle({ api, pods, namespace, spec, start: `${start}`, folder }),
    )
    const at = { start, folder }
    /** @type {Deployment} */
    const deployment = {
      processes,
      remove: () => removeStart(processes, { api, namespace, pods, start, services, areBarePods: Boolean(onStart) }),
    }
    try {
      if (onStart) {
        for (const process of processes) {
          signal.throwIfAborted()
          onStart({ ...process, pod: await applySidecarPod(process, at) })
        }
        return deployment
      }
      const listServiceSpecs = (/** @type {string} */ service) => specs.filter(spec => spec.service === service)
      await Promise.all(services.map(service => applyService(listServiceSpecs(service), at)))
      const generator = specs.find(({ role }) => role === 'generator')
      if (generator) await awaitGenerator(generator, { pods, start })
      return deployment
    } catch (error) {
      await deployment.remove()
      throw error
    }
  }

  /**
   * Applies a service: the files of its processes, and its controller, which is a Job for the generator and else a Deployment.
   * @param {ProcessSpec[]} specs of the service
   * @param {StartPlace} at
   * @throws {BenchError} if an object is refused; {SiteLostError} if the API server does not answer
   */
  async function applyService(specs, at) {
    const rules = renderServiceRules(specs)
    const addRules = (/** @type {ProcessSpec} */ spec) =>
      spec.redirects && rules ? { ...spec, files: [...spec.files, { name: RULES, content: rules }] } : spec
    const containers = await Promise.all(specs.map(spec => applyFiles(addRules(spec), at)))
    const [container] = containers
    const metadata = createMetadata(container.spec.service, at.start)
    if (container.spec.role === 'generator') {
      await api.apply(renderJob({ ...metadata, container, where: loadWhere }))
    } else {
      const rulesImage = findRulesImage()
      await api.apply(renderDeployment({ ...metadata, containers, where, hasNativeSidecars, rulesImage }))
    }
  }

  /**
   * Waits until the container of the load exists.
   * @param {ProcessSpec} spec
   * @param {{ pods: PodWatch, start: number }} options
   * @throws as `awaitPods`
   */
  async function awaitGenerator({ service, role }, { pods, start }) {
    await awaitPods({
      api,
      pods,
      namespace,
      noun: 'the load',
      controllerPrefix: `${service}-${start}`,
      listPods: () => pods.find(service, `${start}`),
      isDone: podsSoFar => podsSoFar.some(pod => findContainerId(pod, role) !== null),
      signal,
    })
  }

  /**
   * Applies the pod of a sidecar of a rollout, with its files.
   * @param {Handle} process
   * @param {StartPlace} at
   * @returns {Promise<NonNullable<Handle['pod']>>} its id, and when it was requested
   * @throws {BenchError} if an object is refused; {SiteLostError} if the API server does not answer
   */
  async function applySidecarPod({ spec }, at) {
    const container = await applyFiles(spec, at)
    const pod = renderSidecarPod({ ...createMetadata(spec.service, at.start), container, where: nodeLabel })
    const createdMs = readNowMs()
    const appliedPod = await api.apply(pod)
    return { uid: /** @type {any} */ (appliedPod).metadata.uid, createdMs }
  }
}

/**
 * Saves the logs, removes the services of a start with their addresses, and waits until their pods are gone.
 * @param {ContainerHandle[]} processes
 * @param {{ api: Api, namespace: string, pods: PodWatch, start: number, services: string[], areBarePods: boolean }}
 *   options areBarePods: pods without controllers
 * @throws {BenchError} if a log cannot be read (after the removal), a removal is refused, or the pods are not gone in time;
 *   {SiteLostError} if the API server does not answer
 */
async function removeStart(processes, { api, namespace, pods, start, services, areBarePods }) {
  // Pods must not run beside the next trial because a log cannot be read.
  const savings = await Promise.allSettled(processes.map(p => p.saveLog()))
  const hasFiles = processes.some(({ spec }) => spec.files.length > 0)
  const hasCredentials = processes.some(({ spec }) => spec.credentials.length > 0)
  const controller = processes[0].spec.role === 'generator' ? ['batch/v1', 'Job'] : ['apps/v1', 'Deployment']
  // Beside the files of its processes, a service may have a file of rules. Deleting what does not exist is no error.
  const kinds = [
    ...(areBarePods ? [['v1', 'Pod']] : [['v1', 'Service'], controller]),
    ...(hasFiles || !areBarePods ? [['v1', 'ConfigMap']] : []),
    ...(hasCredentials || !areBarePods ? [['v1', 'Secret']] : []),
  ]
  const objects = services.flatMap(service =>
    kinds.map(([apiVersion, kind]) => ({ apiVersion, kind, metadata: { name: `${service}-${start}`, namespace } })),
  )
  await Promise.all(objects.map(object => api.remove(object)))
  const areGone = () => services.every(service => pods.find(service, `${start}`).length === 0)
  const deadlineSeconds = REMOVE_SECONDS + REMOVE_SECONDS_PER_PROCESS * processes.length
  if (!(await pods.until(areGone, { deadlineSeconds })))
    throw new BenchError(
      `the pods of ${services.join(' and ')} were not gone ${deadlineSeconds} s after they were deleted: kubectl -n ${namespace} get pods shows what holds them`,
    )
  for (const saving of savings) if (saving.status === 'rejected') throw saving.reason
}
