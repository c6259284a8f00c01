import { renderFileKey, renderKitPod, renderPod, renderVolumes } from './pod.js'

/** The objects that a run creates in a cluster. Pure. */
/** @import { Container, Where } from './pod.js' */

/** Labels of the objects of a run; `start` distinguishes the pods of a service's starts. */
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
/** @typedef {Meta & { service: string }} OfService */
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
 * Renders a ConfigMap, or a Secret, of files.
 * @param {Meta & { files: Record<string, string>, isSecret?: boolean }} options files: text by path; a key of a
 *   ConfigMap has no slashes, so `renderVolumes` restores them
 * @returns a ConfigMap; a Secret if `isSecret`
 */
export function renderFiles({ name, namespace, labels, files, isSecret = false }) {
  const entries = Object.fromEntries(Object.entries(files).map(([file, text]) => [renderFileKey(file), text]))
  return {
    apiVersion: 'v1',
    kind: isSecret ? 'Secret' : 'ConfigMap',
    metadata: { name, namespace, labels },
    ...(isSecret ? { type: 'Opaque', stringData: entries } : { data: entries }),
  }
}

/**
 * Renders a Service, whose address exists before anything listens there.
 * @param {OfService & { ports: number[] }} options
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
 * Renders a Deployment with a service's application and, before it, its sidecar.
 * @param {OfService & { containers: Container[], where: Where, hasNativeSidecars: boolean, rulesImage?: string }}
 *   options hasNativeSidecars: the cluster supports native sidecars: init containers that keep running (Kubernetes
 *   1.29)
 * @returns a Deployment of one replica
 */
export function renderDeployment({ containers, where, hasNativeSidecars, rulesImage, ...at }) {
  const spec = {
    replicas: 1,
    revisionHistoryLimit: 0,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { [LABELS.service]: at.service, [LABELS.start]: at.labels[LABELS.start] } },
  }
  const pod = renderPod({ containers, where, hasNativeSidecars, rulesImage })
  return renderController({ type: DEPLOYMENT, at, spec, pod })
}

/**
 * Renders the pod of a sidecar of a rollout. It has no controller, so that its start takes only the time of scheduler
 * and kubelet. It has no readiness probe, which would also probe the sidecar, and delay Ready until it has its
 * configuration.
 * @param {OfService & { container: Container, where: Where }} options
 * @returns a Pod
 */
export function renderSidecarPod({ service, name, namespace, labels, container, where }) {
  const pod = renderPod({ containers: [container], where, hasNativeSidecars: false, isProbed: false })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { ...labels, [LABELS.service]: service } },
    spec: { ...pod, restartPolicy: 'Never' },
  }
}

/**
 * Renders a Job for a process that ends: the load.
 * @param {OfService & { container: Container, where: Where }} options
 * @returns a Job, which is not retried
 */
export function renderJob({ container, where, ...at }) {
  const pod = { ...renderPod({ containers: [container], where, hasNativeSidecars: false }), restartPolicy: 'Never' }
  return renderController({ type: JOB, at, spec: { backoffLimit: 0 }, pod })
}

/**
 * Renders the prober: a pod that is idle until `exec` starts the agent in it.
 * @param {KitPod & { where: Where }} options
 * @returns a Deployment
 */
export function renderProber({ folder, where, ...meta }) {
  const { volumes, mounts } = renderVolumes([folder])
  const spec = { replicas: 1, selector: { matchLabels: { [LABELS.service]: meta.name } } }
  const container = { volumeMounts: mounts }
  return renderKitController({ type: DEPLOYMENT, workload: meta, spec, wheres: [where], pod: { volumes }, container })
}

/**
 * Renders the reader: a pod on every node of the run, which sees the node's processes and, read-only, its cgroups.
 * @param {KitPod & { wheres: Where[], hasRecursiveReadOnly: boolean }} options wheres: the places of services and
 *   load
 * @returns a DaemonSet
 */
export function renderReader({ folder, wheres, hasRecursiveReadOnly, ...meta }) {
  const { volumes, mounts } = renderVolumes([folder])
  // Each hierarchy of cgroup v1 is a mount of its own below this one (Kubernetes 1.31).
  const recursive = hasRecursiveReadOnly ? { recursiveReadOnly: 'IfPossible' } : {}
  const cgroups = { name: 'cgroup', mountPath: '/host/cgroup', readOnly: true, ...recursive }
  // Looking at other users' processes takes a capability (ptrace(2), PTRACE_MODE_READ); nothing is traced.
  const capabilities = { drop: ['ALL'], add: ['SYS_PTRACE', 'DAC_READ_SEARCH'] }
  const container = { securityContext: { runAsUser: 0, capabilities }, volumeMounts: [...mounts, cgroups] }
  const pod = {
    securityContext: undefined,
    // Threads, listening sockets and memory of the processes are under the node's /proc.
    hostPID: true,
    tolerations: [{ operator: 'Exists' }],
    volumes: [...volumes, { name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' } }],
  }
  const spec = { selector: { matchLabels: { [LABELS.service]: meta.name } } }
  return renderKitController({ type: DAEMON_SET, workload: meta, spec, wheres, pod, container })
}

/**
 * Renders a Job whose command prints a program's version.
 * @param {Meta & { image: string, command: string[], where: Where }} options
 * @returns a Job, which is not retried
 */
export function renderVersionJob({ command, where, ...meta }) {
  const pod = { restartPolicy: 'Never' }
  return renderKitController({
    type: JOB,
    workload: meta,
    spec: { backoffLimit: 0 },
    wheres: [where],
    pod,
    container: { command },
  })
}

/**
 * Renders a pod of the kit's own, with its controller.
 * @param {{ type: typeof JOB, workload: Meta & { image: string }, spec: object } &
 *   Omit<Parameters<typeof renderKitPod>[0], 'name' | 'image'>} options
 * @returns an object of the given type
 */
function renderKitController({ type, workload: { image, ...meta }, spec, ...of }) {
  const pod = renderKitPod({ name: meta.name, image, ...of })
  return renderController({ type, at: { ...meta, service: meta.name }, spec, pod })
}

/**
 * Renders a controller of pods. It and its pods have the label of the service.
 * @template {object} Spec
 * @template {object} Pod
 * @param {{ type: typeof JOB, at: OfService, spec: Spec, pod: Pod }} options spec: without the template
 * @returns an object of the given type
 */
function renderController({ type, at: { service, name, namespace, labels }, spec, pod }) {
  const serviceLabels = { ...labels, [LABELS.service]: service }
  const template = { metadata: { labels: serviceLabels }, spec: pod }
  return { ...type, metadata: { name, namespace, labels: serviceLabels }, spec: { ...spec, template } }
}
