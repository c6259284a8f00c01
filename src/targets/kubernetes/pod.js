import { chooseFreeName } from '../../lib/free-name.js'
import { uniqueBy } from '../../lib/group-by.js'
import { SIDECAR_USER } from '../../model/sidecar-contract.js'

/** The pods of a run, as plain objects. Pure. */
/** @import { ProcessSpec } from '../../model/types.ts' */

/**
 * The nodes where pods may go: a node's name, or `label=value`; null: any.
 * @typedef {string | null} NodePlace
 */

/**
 * A folder that a process sees. Its files are in a ConfigMap or a Secret.
 * @typedef {object} Folder
 * @property {string} path at which the process sees it
 * @property {string} [configMap] the name of the ConfigMap; absent: it is a Secret
 * @property {string} [secret] the name of the Secret
 * @property {string[]} names of the files, as paths below it
 */
/** @typedef {{ spec: ProcessSpec, folders: Folder[] }} Container */
/** @typedef {ReturnType<typeof renderVolumes>['mounts']} Mounts */

/** The label by which a node carries its name. */
export const HOST_LABEL = 'kubernetes.io/hostname'

/** The file of iptables rules in the folder of the process to which connections are redirected. */
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
 * @property {NodePlace} where
 * @property {boolean} hasNativeSidecars the cluster has init containers that keep running: a sidecar beside others is one
 * @property {boolean} [isProbed] the pod has readiness probes; by default it has
 * @property {string} [rulesImage] with iptables-restore; absent: no container has redirects
 */

/** Renders the spec of a pod. @param {PodOptions} options @returns a PodSpec */
export function renderPodSpec({ containers, where, hasNativeSidecars, isProbed = true, rulesImage = '' }) {
  const { volumes, mounts } = renderVolumes(containers.flatMap(c => c.folders))
  const isNative = (/** @type {Container} */ { spec }) =>
    hasNativeSidecars && spec.role === 'sidecar' && containers.length > 1
  const redirected = containers.filter(({ spec }) => spec.redirects)
  const initContainers = [
    ...redirected.map(({ spec }) => renderRulesContainer({ folder: spec.folder, image: rulesImage, mounts })),
    ...containers
      .filter(isNative)
      .map(container => ({ ...renderContainer(container, { mounts, isProbed }), restartPolicy: 'Always' })),
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
    ...(initContainers.length > 0 ? { initContainers } : {}),
    containers: containers.filter(c => !isNative(c)).map(c => renderContainer(c, { mounts, isProbed })),
  }
}

/**
 * Renders the container of a process.
 * @param {Container} container
 * @param {{ mounts: Mounts, isProbed: boolean }} options mounts: all of the pod; isProbed: it has a readiness probe, if it listens
 *   at 0.0.0.0
 */
function renderContainer({ spec, folders }, { mounts, isProbed }) {
  const probed = isProbed ? spec.listens.find(({ address }) => address === '0.0.0.0') : undefined
  const containerMounts = mounts.filter(({ mountPath }) => folders.some(({ path }) => path === mountPath))
  const isRedirectedTo = spec.redirects && spec.role === 'sidecar'
  return {
    name: spec.role,
    image: spec.image,
    command: [spec.program, ...spec.argv],
    // Every other folder is read-only.
    workingDir: TMP_MOUNT.mountPath,
    env: Object.entries(spec.env).map(([name, value]) => ({ name, value })),
    ...(spec.listens.length > 0 ? { ports: spec.listens.map(({ port }) => ({ containerPort: port })) } : {}),
    ...(probed ? { readinessProbe: { tcpSocket: { port: probed.port }, periodSeconds: 1 } } : {}),
    resources: renderResources(spec),
    securityContext: isRedirectedTo ? { ...RESTRICTED, runAsUser: SIDECAR_USER } : RESTRICTED,
    volumeMounts: [...containerMounts, TMP_MOUNT],
  }
}

/**
 * Renders the resources of a container. Its requests are its limits, so that the scheduler does not promise the CPU twice, and SMALL
 * where it has none. Another CPU is requested by a container of a pod with a quota (SMALL), and by a sidecar with `cpuRequestCores`.
 * @param {ProcessSpec} spec
 * @returns `limits`: absent if it has none
 */
function renderResources({ role, cpuLimitCores, memoryLimitBytes, cpuRequestCores, podCpuCores }) {
  const limits = {
    ...(cpuLimitCores === null ? {} : { cpu: renderCpu(cpuLimitCores) }),
    ...(memoryLimitBytes === null ? {} : { memory: `${memoryLimitBytes}` }),
  }
  const requests = { ...SMALL.requests, ...limits }
  // The pod requests the CPU of all its containers.
  if (podCpuCores !== undefined) requests.cpu = SMALL.requests.cpu
  // Only a sidecar has another request, for its share of a full node; others keep theirs, which a small cluster has room for.
  else if (cpuRequestCores !== undefined && role === 'sidecar') requests.cpu = renderCpu(cpuRequestCores)
  return { requests, ...(Object.keys(limits).length > 0 ? { limits } : {}) }
}

/**
 * Renders the init container that sets the rules of redirected connections. The Pod Security Standards baseline and restricted
 * forbid its capabilities.
 * @param {{ folder: string, image: string, mounts: Mounts }} options folder: that of the process with the file RULES; image: with
 *   iptables-restore; mounts: all of the pod
 */
function renderRulesContainer({ folder, image, mounts }) {
  const capabilities = { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] }
  return {
    name: 'rules',
    image,
    command: ['iptables-restore', `${folder}/${RULES}`],
    env: [{ name: 'XTABLES_LOCKFILE', value: `${TMP_MOUNT.mountPath}/xtables.lock` }],
    resources: SMALL,
    securityContext: { ...RESTRICTED, runAsNonRoot: false, runAsUser: 0, capabilities },
    volumeMounts: [...mounts.filter(({ mountPath }) => mountPath === folder), TMP_MOUNT],
  }
}

/** Renders cores in millicores, such as `250m`. @param {number} cores */
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
 * Renders the spec of a pod of the kit's own. It is idle until `exec` starts something in it, unless its container has a command.
 * @param {object} options
 * @param {string} options.name of the container
 * @param {string} options.image
 * @param {NodePlace[]} options.nodePlaces the pod may run at any of them
 * @param {object} [options.pod] fields of the pod, in the place of the defaults
 * @param {any} options.container fields of the container, in the place of the defaults; its `securityContext` is added to the
 *   default, and its resources are always SMALL
 * @returns {any} a PodSpec
 */
export function renderKitPodSpec({ name, image, nodePlaces, pod, container }) {
  const { securityContext, ...containerFields } = container
  const containerDefaults = { name, image, command: IDLE, securityContext: { ...RESTRICTED, ...securityContext } }
  return {
    ...OWN_POD_DEFAULTS,
    ...renderNodeAffinity(nodePlaces),
    securityContext: POD_SECURITY,
    ...pod,
    containers: [{ ...containerDefaults, ...containerFields, resources: SMALL }],
  }
}

/**
 * Renders the field `affinity` of a pod that may run on nodes of several places.
 * @param {NodePlace[]} nodePlaces a node must match any of them
 * @returns an object with it; an empty one: a place is null (any node), or there are no places
 */
function renderNodeAffinity(nodePlaces) {
  const selectivePlaces = nodePlaces.filter(place => place !== null)
  if (selectivePlaces.length === 0 || selectivePlaces.length < nodePlaces.length) return {}
  const nodeSelectorTerms = selectivePlaces.map(place => {
    const { label, value } = parseNodeLabel(place)
    return { matchExpressions: [{ key: label, operator: 'In', values: [value] }] }
  })
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

/**
 * Parses the label that a node must have. For a node's name it is HOST_LABEL.
 * @param {string} place `label=value`, or a node's name
 * @returns {{ label: string, value: string }}
 */
export function parseNodeLabel(place) {
  const [label, value] = place.includes('=') ? place.split('=', 2) : [HOST_LABEL, place]
  return { label, value }
}

/** Renders the key of a file in a ConfigMap or Secret: its path with `__` for each slash. @param {string} file @returns {string} */
export function renderFileKey(file) {
  return file.replaceAll('/', '__')
}

/**
 * Creates a name for a volume of each path, as Kubernetes allows it: a–z, 0–9 and hyphens, at most VOLUME_NAME_MOST characters. A
 * name that is taken gets a number.
 * @param {string[]} paths
 * @returns {Map<string, string>} names by path
 */
function createVolumeNames(paths) {
  const names = new Map()
  const taken = new Set([TMP_VOLUME.name])
  for (const path of paths) {
    const base = (path.toLowerCase().match(/[a-z0-9]+/g) ?? ['folder']).join('-')
    const name = chooseFreeName(taken, suffix => `${cutName(base, VOLUME_NAME_MOST - suffix.length)}${suffix}`)
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
