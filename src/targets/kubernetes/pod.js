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
// Pipy as PID 1 ignores SIGTERM, so waiting is of no use.
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
 * @property {boolean} hasNativeSidecars the cluster has init containers that go on running: a sidecar beside others is one
 * @property {boolean} [isProbed] has readiness probes; by default it has
 * @property {string} [rulesImage] has iptables-restore
 */

/** Renders the spec of a pod. @param {PodOptions} options */
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

/** @param {number} cores */
const renderCpu = cores => `${Math.round(cores * 1000)}m`

/**
 * Renders the volumes and the read-only mounts of folders, each path once. Their names are distinct.
 * @param {Folder[]} folders all of one pod
 */
export function renderVolumes(folders) {
  const distinct = uniqueBy(folders, ({ path }) => path)
  const volumeNames = nameVolumes(distinct.map(({ path }) => path))
  return {
    volumes: distinct.map(({ configMap, secret, names, path }) => {
      const items = names.map(name => ({ key: renderFileKey(name), path: name }))
      const source = configMap
        ? { configMap: { name: configMap, items } }
        : { secret: { secretName: secret, items, defaultMode: 0o440 } }
      return { name: volumeNames.get(path), ...source }
    }),
    mounts: distinct.map(({ path }) => ({ name: volumeNames.get(path), mountPath: path, readOnly: true })),
  }
}

/**
 * Renders a pod of the kit's own, idle until `exec` starts something in it.
 * @param {{ name: string, image: string, wheres: Where[], pod?: object, container: any }} options wheres: the pod goes to any of
 *   them; pod, container: fields beside the defaults
 * @returns {any}
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
 * Renders the affinity to nodes; {}: one of the places is null, or there are none.
 * @param {Where[]} wheres any of which a node must match
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
 * Parses a place to the label that a node must have: its own, or that of a node's name.
 * @param {string} where
 */
export function parseNodeLabel(where) {
  const [label, value] = where.includes('=') ? where.split('=', 2) : [HOST_LABEL, where]
  return { label, value }
}

/** Makes a key of a ConfigMap or Secret, which has no slashes. @param {string} file */
export function renderFileKey(file) {
  return file.replaceAll('/', '__')
}

/**
 * Names a volume after each path, in what Kubernetes allows: a–z, 0–9 and hyphens, 63 at most. A name that another volume has gets a
 * number.
 * @param {string[]} paths
 * @returns {Map<string, string>} names by path
 */
function nameVolumes(paths) {
  const names = new Map()
  const taken = new Set([TMP_VOLUME.name])
  for (const path of paths) {
    const base = (path.toLowerCase().match(/[a-z0-9]+/g) ?? ['folder']).join('-')
    let name = cut(base, VOLUME_NAME_MOST)
    for (let n = 2; taken.has(name); n++) name = `${cut(base, VOLUME_NAME_MOST - `-${n}`.length)}-${n}`
    taken.add(name)
    names.set(path, name)
  }
  return names
}

/**
 * Cuts a name to a length; it does not end in a hyphen.
 * @param {string} name
 * @param {number} most
 */
const cut = (name, most) => name.slice(0, most).replace(/-$/, '')
