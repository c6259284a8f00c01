/**
 * What a run asks of a cluster, as plain objects. Pure.
 * @import { ProcessSpec } from '../../model/types.ts'
 */

/** Files that containers see: a folder of a ConfigMap or a Secret. @typedef {{ path: string, files: Record<string, string> }} Folder */

/** Where pods may go: a node's name, or `label=value`; null anywhere. @typedef {string | null} Where */

/**
 * A container: the process, and the folders that it sees, each by the name of the ConfigMap or Secret that holds it.
 * @typedef {object} Container
 * @property {ProcessSpec} spec
 * @property {{ path: string, configMap?: string, secret?: string, names: string[] }[]} folders
 */

export const LABELS = {
  managed: 'app.kubernetes.io/managed-by',
  service: 'app.kubernetes.io/name',
  role: 'app.kubernetes.io/component',
  run: 'sidecar-bench/run',
  start: 'sidecar-bench/start',
}
export const MANAGER = 'sidecar-bench'
/** The label by which a node carries its name. */
export const HOST_LABEL = 'kubernetes.io/hostname'

const USER = 65532
// Pipy as PID 1 ignores SIGTERM: nothing is gained by waiting.
const GRACE_SECONDS = 1

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  seccompProfile: { type: 'RuntimeDefault' },
}

/**
 * @param {{ name: string, runId: string, level: 'restricted' | 'privileged', annotations?: Record<string, string> }} options
 *   level: of the Pod Security Standards
 */
export function renderNamespace({ name, runId, level, annotations }) {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      ...(annotations ? { annotations } : {}),
      labels: { [LABELS.managed]: MANAGER, [LABELS.run]: runId, 'pod-security.kubernetes.io/enforce': level },
    },
  }
}

/**
 * @param {{ name: string, namespace: string, labels: Record<string, string>, files: Record<string, string>, isSecret?: boolean }} options
 *   files: by path; a key of a ConfigMap has no slashes, so they are put back where it is mounted
 */
export function renderFiles({ name, namespace, labels, files, isSecret = false }) {
  const entries = Object.fromEntries(Object.entries(files).map(([file, text]) => [keyOf(file), text]))
  return {
    apiVersion: 'v1',
    kind: isSecret ? 'Secret' : 'ConfigMap',
    metadata: { name, namespace, labels },
    ...(isSecret ? { type: 'Opaque', stringData: entries } : { data: entries }),
  }
}

/**
 * The address of a service, before anything listens there.
 * @param {{ service: string, name: string, namespace: string, labels: Record<string, string>, ports: number[] }} options
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
 * A service: its application and, before it, its sidecar.
 * @param {{ service: string, name: string, namespace: string, labels: Record<string, string>, containers: Container[],
 *   where: Where, hasNativeSidecars: boolean }} options
 *   hasNativeSidecars: the cluster has init containers that go on running (Kubernetes 1.29)
 */
export function renderDeployment({ service, name, namespace, labels, containers, where, hasNativeSidecars }) {
  return renderController({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', service, name, namespace, labels },
    spec: {
      replicas: 1,
      revisionHistoryLimit: 0,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [LABELS.service]: service, [LABELS.start]: labels[LABELS.start] } },
    },
    pod: renderPod({ containers, where, hasNativeSidecars }),
  })
}

/**
 * A process that ends: the load.
 * @param {{ service: string, name: string, namespace: string, labels: Record<string, string>, container: Container, where: Where }} options
 */
export function renderJob({ service, name, namespace, labels, container, where }) {
  const pod = renderPod({ containers: [container], where, hasNativeSidecars: false })
  return renderController({
    ...{ apiVersion: 'batch/v1', kind: 'Job', service, name, namespace, labels },
    spec: { backoffLimit: 0 },
    pod: { ...pod, restartPolicy: 'Never' },
  })
}

/**
 * A pod of the kit's own that stays idle until it is asked: it runs what `exec` starts in it.
 * @param {{ name: string, namespace: string, labels: Record<string, string>, image: string, folder: Container['folders'][0], where: Where }} options
 */
export function renderProber({ name, namespace, labels, image, folder, where }) {
  const { volumes, mounts } = renderVolumes([folder])
  return renderController({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', service: name, name, namespace, labels },
    spec: { replicas: 1, selector: { matchLabels: { [LABELS.service]: name } } },
    pod: {
      ...OWN_POD_DEFAULTS,
      ...renderWhere(where),
      securityContext: POD_SECURITY,
      volumes,
      containers: [{ name, image, command: IDLE, securityContext: RESTRICTED, volumeMounts: mounts, resources: SMALL }],
    },
  })
}

/**
 * The reader: a pod on every node of the run that sees the node's processes and, to read only, its cgroups.
 * @param {{ name: string, namespace: string, labels: Record<string, string>, image: string, folder: Container['folders'][0], wheres: Where[],
 *   hasRecursiveReadOnly: boolean }} options wheres: of services and load
 */
export function renderReader({ name, namespace, labels, image, folder, wheres, hasRecursiveReadOnly }) {
  const { volumes, mounts } = renderVolumes([folder])
  const terms = wheres.some(where => where === null) ? [] : wheres.map(where => termOf(/** @type {string} */ (where)))
  return renderController({
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', service: name, name, namespace, labels },
    spec: { selector: { matchLabels: { [LABELS.service]: name } } },
    pod: {
      ...OWN_POD_DEFAULTS,
      ...(terms.length > 0 ? { affinity: affinityTo(terms) } : {}),
      // Threads, listening sockets and memory of the processes are under the node's /proc.
      hostPID: true,
      tolerations: [{ operator: 'Exists' }],
      volumes: [...volumes, { name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' } }],
      containers: [
        {
          ...{ name, image, command: IDLE, resources: SMALL },
          // To look at other users' processes takes a capability (ptrace(2), PTRACE_MODE_READ); nothing is traced.
          securityContext: {
            ...RESTRICTED,
            runAsUser: 0,
            capabilities: { drop: ['ALL'], add: ['SYS_PTRACE', 'DAC_READ_SEARCH'] },
          },
          volumeMounts: [
            ...mounts,
            {
              ...{ name: 'cgroup', mountPath: '/host/cgroup', readOnly: true },
              // Under cgroup v1 each hierarchy is a mount of its own below this one (Kubernetes 1.31).
              ...(hasRecursiveReadOnly ? { recursiveReadOnly: 'IfPossible' } : {}),
            },
          ],
        },
      ],
    },
  })
}

/**
 * A process that says its version.
 * @param {{ name: string, namespace: string, labels: Record<string, string>, image: string, command: string[], where: Where }} options
 */
export function renderVersionJob({ name, namespace, labels, image, command, where }) {
  return renderController({
    ...{ apiVersion: 'batch/v1', kind: 'Job', service: name, name, namespace, labels },
    spec: { backoffLimit: 0 },
    pod: {
      ...OWN_POD_DEFAULTS,
      ...renderWhere(where),
      restartPolicy: 'Never',
      securityContext: POD_SECURITY,
      containers: [{ name, image, command, securityContext: RESTRICTED, resources: SMALL }],
    },
  })
}

/**
 * What makes pods: it and they carry the labels of the service.
 * @template {object} Spec
 * @template {object} Pod
 * @param {{ apiVersion: string, kind: string, service: string, name: string, namespace: string, labels: Record<string, string>,
 *   spec: Spec, pod: Pod }} options spec: all but the template
 */
function renderController({ apiVersion, kind, service, name, namespace, labels, spec, pod }) {
  const own = { ...labels, [LABELS.service]: service }
  const template = { metadata: { labels: own }, spec: pod }
  return { apiVersion, kind, metadata: { name, namespace, labels: own }, spec: { ...spec, template } }
}

const TMP_VOLUME = { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }
const TMP_MOUNT = { name: 'tmp', mountPath: '/tmp' }
const SMALL = { requests: { cpu: '10m', memory: '16Mi' } }
const IDLE = ['node', '-e', 'setInterval(() => {}, 1e9)']
const POD_DEFAULTS = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: GRACE_SECONDS,
}
// The kit's own pods hold nothing that could be lost.
const OWN_POD_DEFAULTS = { ...POD_DEFAULTS, terminationGracePeriodSeconds: 0 }

/** @param {{ containers: Container[], where: Where, hasNativeSidecars: boolean }} options */
function renderPod({ containers, where, hasNativeSidecars }) {
  const { volumes, mounts } = renderVolumes(containers.flatMap(c => c.folders))
  const isNative = (/** @type {Container} */ { spec }) =>
    hasNativeSidecars && spec.role === 'sidecar' && containers.length > 1
  const render = (/** @type {Container} */ container) => ({
    ...renderContainer(container, mounts),
    ...(isNative(container) ? { restartPolicy: 'Always' } : {}),
  })
  const first = containers.filter(isNative)
  return {
    ...POD_DEFAULTS,
    ...renderWhere(where),
    securityContext: POD_SECURITY,
    volumes: [...volumes, TMP_VOLUME],
    ...(first.length > 0 ? { initContainers: first.map(render) } : {}),
    containers: containers.filter(c => !isNative(c)).map(render),
  }
}

/**
 * @param {Container} container
 * @param {{ name: string, mountPath: string, readOnly: boolean }[]} mounts of the pod
 */
function renderContainer({ spec, folders }, mounts) {
  const [probed] = spec.listens.filter(({ address }) => address === '0.0.0.0')
  const own = mounts.filter(({ mountPath }) => folders.some(({ path }) => path === mountPath))
  return {
    name: spec.role,
    image: spec.image,
    command: [spec.program, ...spec.argv],
    env: renderEnvironment(spec),
    ...(spec.listens.length > 0 ? { ports: spec.listens.map(({ port }) => ({ containerPort: port })) } : {}),
    ...(probed ? { readinessProbe: { tcpSocket: { port: probed.port }, periodSeconds: 1 } } : {}),
    resources: renderResources(spec),
    securityContext: RESTRICTED,
    volumeMounts: [...own, TMP_MOUNT],
  }
}

/** @param {ProcessSpec} spec */
function renderEnvironment({ env }) {
  return Object.entries(env).map(([name, value]) => ({ name, value }))
}

/**
 * Request and limit are the cap, so that the scheduler does not promise the CPU twice.
 * @param {ProcessSpec} spec
 */
function renderResources({ cpuCores, memoryLimitBytes }) {
  const limits = {
    ...(cpuCores === null ? {} : { cpu: `${Math.round(cpuCores * 1000)}m` }),
    ...(memoryLimitBytes === null ? {} : { memory: `${memoryLimitBytes}` }),
  }
  return { requests: { ...SMALL.requests, ...limits }, ...(Object.keys(limits).length > 0 ? { limits } : {}) }
}

/** @param {Container['folders']} folders */
function renderVolumes(folders) {
  const distinct = [...new Map(folders.map(folder => [folder.path, folder])).values()]
  return {
    volumes: distinct.map(({ configMap, secret, names, path }) => {
      const items = names.map(name => ({ key: keyOf(name), path: name }))
      const source = configMap
        ? { configMap: { name: configMap, items } }
        : { secret: { secretName: secret, items, defaultMode: 0o440 } }
      return { name: volumeOf(path), ...source }
    }),
    mounts: distinct.map(({ path }) => ({ name: volumeOf(path), mountPath: path, readOnly: true })),
  }
}

/** @param {Where} where */
function renderWhere(where) {
  return where === null ? {} : { affinity: affinityTo([termOf(where)]) }
}

/** @param {{ matchExpressions: unknown[] }[]} terms any of which a node must match */
function affinityTo(terms) {
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } }
}

/**
 * The label that a place asks of nodes: its own, or that of a node's name.
 * @param {string} where
 */
export function parseWhere(where) {
  const [label, value] = where.includes('=') ? where.split('=', 2) : [HOST_LABEL, where]
  return { label, value }
}

/** @param {string} where */
function termOf(where) {
  const { label, value } = parseWhere(where)
  return { matchExpressions: [{ key: label, operator: 'In', values: [value] }] }
}

/** @param {string} file */
function keyOf(file) {
  return file.replaceAll('/', '__')
}

/** @param {string} path */
function volumeOf(path) {
  const words = path.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-')
}
