import { renderFileKey, renderKitPodSpec, renderPodSpec, renderVolumes } from './pod.js'

/** The objects that a run creates in a cluster. Pure. */
/** @import { Container, NodePlace } from './pod.js' */

/** The labels of the objects of a run. `start` distinguishes the pods of a service's starts. */
export const LABELS = {
  managed: 'app.kubernetes.io/managed-by',
  service: 'app.kubernetes.io/name',
  run: 'sidecar-bench/run',
  start: 'sidecar-bench/start',
}
/** The value of LABELS.managed. */
export const MANAGER = 'sidecar-bench'

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' }
const JOB = { apiVersion: 'batch/v1', kind: 'Job' }
const DAEMON_SET = { apiVersion: 'apps/v1', kind: 'DaemonSet' }

/** @typedef {{ name: string, namespace: string, labels: Record<string, string> }} Meta */
/** @typedef {Meta & { service: string }} ServiceMeta */
/**
 * A pod of the kit's own.
 * @typedef {Meta & { image: string, folder: Container['folders'][0] }} KitPod
 */

/**
 * Renders a namespace of a run.
 * @param {{ name: string, runId: string, level: 'restricted' | 'privileged', annotations?: Record<string, string> }}
 *   options level: the Pod Security Standard that its pods must meet
 * @returns a Namespace
 */
export function renderNamespace({ name, runId, level, annotations }) {
  const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: runId, 'pod-security.kubernetes.io/enforce': level }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...(annotations ? { annotations } : {}), labels } }
}

/**
 * Renders a ConfigMap of files. A key has no slashes; `renderVolumes` restores the paths.
 * @param {Meta & { files: Record<string, string> }} options files: text by path
 * @returns a ConfigMap
 */
export function renderConfigMap({ name, namespace, labels, files }) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data: renderFileEntries(files) }
}

/**
 * Renders a Secret of files, with keys as in a ConfigMap.
 * @param {Meta & { files: Record<string, string> }} options files: text by path
 * @returns a Secret
 */
export function renderSecret({ name, namespace, labels, files }) {
  const metadata = { name, namespace, labels }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData: renderFileEntries(files) }
}

/**
 * Renders the entries of a ConfigMap or Secret.
 * @param {Record<string, string>} files text by path
 * @returns {Record<string, string>} text by key
 */
function renderFileEntries(files) {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [renderFileKey(file), text]))
}

/**
 * Renders a Service, whose address exists before anything listens there.
 * @param {ServiceMeta & { ports: number[] }} options
 * @returns a Service with a port `p<number>` for each port
 */
export function renderService({ service, name, namespace, labels, ports }) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels },
    spec: {
      selector: { [LABELS.service]: service, [LABELS.start]: labels[LABELS.start] },
      ports: ports.map(port => ({ name: `p${port}`, port, targetPort: port })),
    },
  }
}

/**
 * Renders a Deployment of a service: its application, its sidecar, or both. A native sidecar starts before the application.
 * @param {ServiceMeta & { containers: Container[], where: NodePlace, hasNativeSidecars: boolean, rulesImage?: string }}
 *   options as for `renderPodSpec`
 * @returns a Deployment of one replica
 */
export function renderDeployment({ containers, where, hasNativeSidecars, rulesImage, ...meta }) {
  const spec = {
    replicas: 1,
    revisionHistoryLimit: 0,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { [LABELS.service]: meta.service, [LABELS.start]: meta.labels[LABELS.start] } },
  }
  const podSpec = renderPodSpec({ containers, where, hasNativeSidecars, rulesImage })
  return renderController({ type: DEPLOYMENT, meta, spec, podSpec })
}

/**
 * Renders the pod of a sidecar of a rollout. It has no controller, so that its start takes only the time of scheduler
 * and kubelet. It has no readiness probe, which would also probe the sidecar, and delay Ready until it has its
 * configuration.
 * @param {ServiceMeta & { container: Container, where: NodePlace }} options
 * @returns a Pod
 */
export function renderSidecarPod({ service, name, namespace, labels, container, where }) {
  const podSpec = renderPodSpec({ containers: [container], where, hasNativeSidecars: false, isProbed: false })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { ...labels, [LABELS.service]: service } },
    spec: { ...podSpec, restartPolicy: 'Never' },
  }
}

/**
 * Renders a Job for a process that ends: the load.
 * @param {ServiceMeta & { container: Container, where: NodePlace }} options
 * @returns a Job, which is not retried
 */
export function renderJob({ container, where, ...meta }) {
  const podSpec = renderPodSpec({ containers: [container], where, hasNativeSidecars: false })
  const spec = { backoffLimit: 0 }
  return renderController({ type: JOB, meta, spec, podSpec: { ...podSpec, restartPolicy: 'Never' } })
}

/**
 * Renders the prober: a pod that is idle until `exec` starts the agent in it.
 * @param {KitPod & { where: NodePlace }} options
 * @returns a Deployment
 */
export function renderProber({ folder, where, ...meta }) {
  const { volumes, mounts } = renderVolumes([folder])
  const spec = { replicas: 1, selector: { matchLabels: { [LABELS.service]: meta.name } } }
  const container = { volumeMounts: mounts }
  return renderKitController({ type: DEPLOYMENT, meta, spec, nodePlaces: [where], pod: { volumes }, container })
}

/**
 * Renders the reader: a pod on every node of the run, which sees the node's processes and, read-only, its cgroups.
 * @param {KitPod & { nodePlaces: NodePlace[], hasRecursiveReadOnly: boolean }} options nodePlaces: those of services and load;
 *   hasRecursiveReadOnly: the cluster mounts volumes read-only with the mounts below them
 * @returns a DaemonSet
 */
export function renderReader({ folder, nodePlaces, hasRecursiveReadOnly, ...meta }) {
  const { volumes, mounts } = renderVolumes([folder])
  // Each hierarchy of cgroup v1 is a mount of its own below this one (Kubernetes 1.31).
  const recursive = hasRecursiveReadOnly ? { recursiveReadOnly: 'IfPossible' } : {}
  const cgroups = { name: 'cgroup', mountPath: '/host/cgroup', readOnly: true, ...recursive }
  // Reading /proc of other users' processes takes SYS_PTRACE (ptrace(2), PTRACE_MODE_READ), and files of theirs DAC_READ_SEARCH;
  // nothing is traced.
  const capabilities = { drop: ['ALL'], add: ['SYS_PTRACE', 'DAC_READ_SEARCH'] }
  const container = { securityContext: { runAsUser: 0, capabilities }, volumeMounts: [...mounts, cgroups] }
  const pod = {
    // It runs as root, which POD_SECURITY forbids.
    securityContext: undefined,
    // Threads, listening sockets and memory of the processes are under the node's /proc.
    hostPID: true,
    tolerations: [{ operator: 'Exists' }],
    volumes: [...volumes, { name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' } }],
  }
  const spec = { selector: { matchLabels: { [LABELS.service]: meta.name } } }
  return renderKitController({ type: DAEMON_SET, meta, spec, nodePlaces, pod, container })
}

/**
 * Renders a Job whose command prints a program's version.
 * @param {Meta & { image: string, command: string[], where: NodePlace }} options
 * @returns a Job, which is not retried
 */
export function renderVersionJob({ command, where, ...meta }) {
  const pod = { restartPolicy: 'Never' }
  const spec = { backoffLimit: 0 }
  return renderKitController({ type: JOB, meta, spec, nodePlaces: [where], pod, container: { command } })
}

/**
 * Renders a controller with a pod of the kit's own, whose service is named as the object.
 * @param {{ type: typeof JOB, meta: Meta & { image: string }, spec: object } &
 *   Omit<Parameters<typeof renderKitPodSpec>[0], 'name' | 'image'>} options spec: without the template
 * @returns an object of the given type
 */
function renderKitController({ type, meta: { image, ...meta }, spec, ...podOptions }) {
  const podSpec = renderKitPodSpec({ name: meta.name, image, ...podOptions })
  return renderController({ type, meta: { ...meta, service: meta.name }, spec, podSpec })
}

/**
 * Renders a controller of pods. It and its pods have the label of the service.
 * @template {object} Spec
 * @template {object} PodSpec
 * @param {{ type: typeof JOB, meta: ServiceMeta, spec: Spec, podSpec: PodSpec }} options spec: without the template
 * @returns an object of the given type
 */
function renderController({ type, meta: { service, name, namespace, labels }, spec, podSpec }) {
  const serviceLabels = { ...labels, [LABELS.service]: service }
  const template = { metadata: { labels: serviceLabels }, spec: podSpec }
  return { ...type, metadata: { name, namespace, labels: serviceLabels }, spec: { ...spec, template } }
}
