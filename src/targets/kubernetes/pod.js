/** The pods of a run, as plain objects. Pure. */
import { uniqueBy } from '../../lib/group-by.js'
import { SIDECAR_USER } from '../../model/sidecar-contract.js'

/** @import { ProcessSpec } from '../../model/types.ts' */

/**
 * Nodes where pods may go: a node's name, or `label=value`; null: any.
 * @typedef {string | null} Where
 */

/**
 * A folder that a process sees, in a ConfigMap or Secret.
 * @typedef {{ path: string, configMap?: string, secret?: string, names: string[] }} Folder
 */
/** @typedef {{ spec: ProcessSpec, folders: Folder[] }} Container */

/** The label by which a node carries its name. */
export const HOST_LABEL = 'kubernetes.io/hostname'

/** The file of rules in the folder of the process that connections are redirected to. */
export const RULES = 'iptables.rules'

const USER = 65532
const IDLE = ['node', '-e', 'setInterval(() => {}, 1e9)']
// Pipy as PID 1 ignores SIGTERM: a longer grace period would only be waited out.
const GRACE_SECONDS = 1
// A volume's name is a DNS label (RFC 1123).
const VOLUME_NAME_MOST = 63

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

const TMP_VOLUME = { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }
const TMP_MOUNT = { name: 'tmp', mountPath: '/tmp' }
const SMALL = { requests: { cpu: '10m', memory: '16Mi' } }
const POD_DEFAULTS = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: GRACE_SECONDS,
}
// The kit's own pods hold nothing that could be lost, so they need no grace period.
const OWN_POD_DEFAULTS = { ...POD_DEFAULTS, terminationGracePeriodSeconds: 0 }

/**
 * @typedef {object} PodOptions
 * @property {Container[]} containers one for each process
 * @property {Where} where
 * @property {boolean} hasNativeSidecars the cluster has init containers that keep running: a sidecar beside others is one
 * @property {boolean} [isProbed] the pod has readiness probes (default)
 * @property {string} [rulesImage] with iptables-restore, to set rules
 */

/** Renders the spec of a pod. @param {PodOptions} options @returns a PodSpec */
export function renderPod({ containers, where, hasNativeSidecars, isProbed = true, rulesImage = '' }) {
  const { volumes, mounts } = renderVolumes(containers.flatMap(c => c.folders))
  const isNative = (/** @type {Container} */ { spec }) =>
    hasNativeSidecars && spec.role === 'sidecar' && containers.length > 1
  const render = (/** @type {Container} */ container) => {
    const { spec, folders } = container
    const [probed] = isProbed ? spec.listens.filter(({ address }) => address === '0.0.0.0') : []
    const containerMounts = mounts.filter(({ mountPath }) => folders.some(({ path }) => path === mountPath))
    // Request and limit are the cap, so that the scheduler does not promise the CPU twice. Only a sidecar has another
    // request, for its share of a full node; others keep theirs, which a small cluster has room for.
    const limits = {
      ...(spec.cpuLimitCores === null ? {} : { cpu: renderCpu(spec.cpuLimitCores) }),
      ...(spec.memoryLimitBytes === null ? {} : { memory: `${spec.memoryLimitBytes}` }),
    }
    const request =
      spec.podCpuCores !== undefined
        ? // The pod requests the CPU of all its containers.
          { cpu: SMALL.requests.cpu }
        : spec.cpuRequestCores === undefined || spec.role !== 'sidecar'
          ? {}
          : { cpu: renderCpu(spec.cpuRequestCores) }
    return {
      name: spec.role,
      image: spec.image,
      command: [spec.program, ...spec.argv],
      // Every other folder is read-only.
      workingDir: TMP_MOUNT.mountPath,
      env: Object.entries(spec.env).map(([name, value]) => ({ name, value })),
      ...(spec.listens.length > 0 ? { ports: spec.listens.map(({ port }) => ({ containerPort: port })) } : {}),
      ...(probed ? { readinessProbe: { tcpSocket: { port: probed.port }, periodSeconds: 1 } } : {}),
      resources: {
        requests: { ...SMALL.requests, ...limits, ...request },
        ...(Object.keys(limits).length > 0 ? { limits } : {}),
      },
      securityContext:
        spec.redirects && spec.role === 'sidecar' ? { ...RESTRICTED, runAsUser: SIDECAR_USER } : RESTRICTED,
      volumeMounts: [...containerMounts, TMP_MOUNT],
      ...(isNative(container) ? { restartPolicy: 'Always' } : {}),
    }
  }
  // An init container sets rules first; the Pod Security Standards baseline and restricted forbid its capabilities.
  const capabilities = { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] }
  const renderRules = (/** @type {Container} */ { spec: { folder } }) => ({
    name: 'rules',
    image: rulesImage,
    command: ['iptables-restore', `${folder}/${RULES}`],
    env: [{ name: 'XTABLES_LOCKFILE', value: `${TMP_MOUNT.mountPath}/xtables.lock` }],
    resources: SMALL,
    securityContext: { ...RESTRICTED, runAsNonRoot: false, runAsUser: 0, capabilities },
    volumeMounts: [...mounts.filter(({ mountPath }) => mountPath === folder), TMP_MOUNT],
  })
  const first = [
    ...containers.filter(({ spec }) => spec.redirects).map(renderRules),
    ...containers.filter(isNative).map(render),
  ]
  const podCpuCores = containers.find(({ spec }) => spec.podCpuCores !== undefined)?.spec.podCpuCores
  const cpu = podCpuCores === undefined ? null : { cpu: renderCpu(podCpuCores) }
  return {
    ...POD_DEFAULTS,
    ...renderNodeAffinity([where]),
    // Pod-level resources: https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources
    ...(cpu && { resources: { requests: cpu, limits: cpu } }),
    securityContext: POD_SECURITY,
    volumes: [...volumes, TMP_VOLUME],
    ...(first.length > 0 ? { initContainers: first } : {}),
    containers: containers.filter(c => !isNative(c)).map(render),
  }
}

/**
 * Renders cores in millicores, such as `250m`.
 * @param {number} cores
 */
const renderCpu = cores => `${Math.round(cores * 1000)}m`

/**
 * Renders the volumes and the read-only mounts of folders, each path once.
 * @param {Folder[]} folders all of one pod
 * @returns the entries of a pod's `volumes` and of a container's `volumeMounts`, with distinct names
 */
export function renderVolumes(folders) {
  const distinctFolders = uniqueBy(folders, ({ path }) => path)
  const volumeNames = createVolumeNames(distinctFolders.map(({ path }) => path))
  return {
    volumes: distinctFolders.map(({ configMap, secret, names, path }) => {
      const items = names.map(name => ({ key: renderFileKey(name), path: name }))
      const source = configMap
        ? { configMap: { name: configMap, items } }
        : { secret: { secretName: secret, items, defaultMode: 0o440 } }
      return { name: volumeNames.get(path), ...source }
    }),
    mounts: distinctFolders.map(({ path }) => ({ name: volumeNames.get(path), mountPath: path, readOnly: true })),
  }
}

/**
 * Renders a pod of the kit's own, which is idle until `exec` starts something in it.
 * @param {{ name: string, image: string, wheres: Where[], pod?: object, container: any }} options wheres: the pod may
 *   run at any of them; pod, container: fields beside the defaults
 * @returns {any} a PodSpec
 */
export function renderKitPod({ name, image, wheres, pod, container }) {
  const { securityContext, ...rest } = container
  const restricted = { name, image, command: IDLE, securityContext: { ...RESTRICTED, ...securityContext } }
  return {
    ...OWN_POD_DEFAULTS,
    ...renderNodeAffinity(wheres),
    securityContext: POD_SECURITY,
    ...pod,
    containers: [{ ...restricted, ...rest, resources: SMALL }],
  }
}

/**
 * Renders the affinity to nodes.
 * @param {Where[]} wheres a node must match any of them
 * @returns an affinity, or {}: one of the places is null (any node), or there are none
 */
function renderNodeAffinity(wheres) {
  const nodeSelectorTerms = wheres.flatMap(where => {
    if (where === null) return []
    const { label, value } = parseNodeLabel(where)
    return { matchExpressions: [{ key: label, operator: 'In', values: [value] }] }
  })
  if (nodeSelectorTerms.length === 0 || nodeSelectorTerms.length < wheres.length) return {}
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

/**
 * Parses a place to the label that a node must have: the given one, or that of a node's name.
 * @param {string} where `label=value`, or a node's name
 * @returns {{ label: string, value: string }}
 */
export function parseNodeLabel(where) {
  const [label, value] = where.includes('=') ? where.split('=', 2) : [HOST_LABEL, where]
  return { label, value }
}

/** Renders the key of a file in a ConfigMap or Secret, without slashes. @param {string} file its path @returns {string} */
export function renderFileKey(file) {
  return file.replaceAll('/', '__')
}

/**
 * Creates a name for a volume of each path, as Kubernetes allows it: a–z, 0–9 and hyphens, at most 63. A duplicate
 * name gets a number.
 * @param {string[]} paths
 * @returns {Map<string, string>} names by path
 */
function createVolumeNames(paths) {
  const names = new Map()
  const taken = new Set([TMP_VOLUME.name])
  for (const path of paths) {
    const base = (path.toLowerCase().match(/[a-z0-9]+/g) ?? ['folder']).join('-')
    let name = cutName(base, VOLUME_NAME_MOST)
    for (let n = 2; taken.has(name); n++) name = `${cutName(base, VOLUME_NAME_MOST - `-${n}`.length)}-${n}`
    taken.add(name)
    names.set(path, name)
  }
  return names
}

/**
 * Cuts a name to a length, without a hyphen at its end.
 * @param {string} name
 * @param {number} most characters
 */
const cutName = (name, most) => name.slice(0, most).replace(/-$/, '')
