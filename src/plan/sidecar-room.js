import { renderMebibytes } from '../lib/units.js'

/** The room that a machine or a node has for the sidecars of an arm. Pure: supply and need are arguments. */
/** @import { Conditions, Control, Limits, NodeLimits } from '../model/types.ts' */

// The most sidecars of a machine that are not checked here: src/prepare/memory-and-ports.js checks what every run needs.
const UNCHECKED_MOST = 10
const KIT_BYTES = 300e6
// Sandbox, shim and the kubelet's share of a pod.
const POD_BYTES = 12e6
/** The least requests of a pod. */
const REQUESTED = { bytes: 16 * 2 ** 20, millicores: 10 }
// The application and two of the kit; shards of the control plane are counted apart.
const OTHER_PODS = 3
/** Memory of an application beside a sidecar. */
export const APPLICATION_BYTES = 6e6
// Connections of a sidecar: to the control plane, from it, and to the application.
const CONNECTIONS = 3
// Open files of the control plane and the kit.
const OWN_FILES = 200

/**
 * @typedef {object} Resource
 * @property {string} name
 * @property {number} each the need of each real sidecar
 * @property {number} fixed the need of all else
 * @property {number} offered by the machine or node
 * @property {(value: number) => string} [render] makes the text of a value; as a plain number by default
 * @property {string} [more] how to raise what is offered
 */

/** @typedef {Pick<Conditions, 'shards' | 'controlCpuLimitCores' | 'controlMemoryBytes'>} ControlConditions */
/** @typedef {ReturnType<NonNullable<Control['estimateNeeds']>>} Needs */
/** Simulated sidecars. @typedef {{ count: number, bytes: number }} Simulated bytes: the memory of one */

/**
 * Renders the first resource that the machine or node has too little of, with the arithmetic. A machine with at most
 * UNCHECKED_MOST sidecars is not checked.
 * @param {object} options
 * @param {number} options.sidecars the number of real ones
 * @param {Needs} options.needs
 * @param {Limits | NodeLimits} options.limits of the machine that runs all, or of a node on which each sidecar has a
 *   pod
 * @param {Simulated} [options.simulated] none by default
 * @param {ControlConditions} [options.conditions] on a node, the limits and the shards of the control plane; absent: one shard without
 *   limits
 * @returns {string | null} the message; null: there is enough of all, or it is not checked
 */
export function renderShortage({ sidecars, needs, limits, simulated = { count: 0, bytes: 0 }, conditions = {} }) {
  const isNode = 'node' in limits
  if (!isNode && sidecars + simulated.count <= UNCHECKED_MOST) return null
  const rows = isNode
    ? listNodeResources({ needs, limits, simulated, conditions })
    : listMachineResources({ needs, limits, simulated })
  const shortage = rows.find(({ each, fixed, offered }) => each > 0 && sidecars * each + fixed > offered)
  if (!shortage) return null
  const { name, each, fixed, offered, render = String, more } = shortage
  const most = Math.max(0, Math.floor((offered - fixed) / each))
  const fixedText = fixed > 0 ? ` + ${render(fixed)}` : ''
  const place = isNode ? `the node ${limits.node}` : 'this machine'
  return `${sidecars} sidecars take ${render(sidecars * each + fixed)} of ${name} (${sidecars} × ${render(each)}${fixedText}), and ${place} has ${render(offered)}: at most ${most} fit${more ? `; ${more} allows more` : ''}`
}

/**
 * Lists the resources of a machine that runs all sidecars, the control plane and the kit.
 * @param {{ needs: Needs, limits: Limits, simulated: Simulated }} options
 * @returns {Resource[]}
 */
function listMachineResources({ needs: { sidecarBytes, controlBytes, threads, inotifyInstances }, limits, simulated }) {
  const { memoryBytes, files, ports } = limits
  return [
    {
      name: 'memory',
      each: sidecarBytes + controlBytes,
      offered: memoryBytes,
      render: renderMemoryWithUnit,
      fixed: KIT_BYTES + simulated.count * (simulated.bytes + controlBytes),
    },
    { name: 'threads', each: threads, fixed: limits.threadsUsed, offered: limits.threads },
    { name: 'open files of one process', each: CONNECTIONS, fixed: OWN_FILES + simulated.count, offered: files },
    { name: 'ports for connections', each: CONNECTIONS, fixed: simulated.count, offered: ports },
    {
      name: 'inotify instances',
      each: inotifyInstances,
      fixed: limits.inotifyInstancesUsed,
      offered: limits.inotifyInstances,
      more: 'sysctl fs.inotify.max_user_instances=N',
    },
  ]
}

/**
 * Lists the resources of a node, as the scheduler counts them; a sidecar that needs more memory than its pod requests
 * counts with its need.
 * @param {{ needs: Needs, limits: NodeLimits, simulated: Simulated, conditions: ControlConditions }} options
 *   conditions: limits and shards of the control plane
 * @returns {Resource[]}
 */
function listNodeResources({ needs: { sidecarBytes, controlBytes }, limits, simulated, conditions }) {
  const { podsUsed, memoryRequestedBytes, cpusRequested, ...offered } = limits
  const { shards = 1, controlCpuLimitCores, controlMemoryBytes } = conditions
  // A control plane with a limit takes no more than that.
  const controlBytesPerSidecar = controlMemoryBytes ? 0 : controlBytes
  const sidecarPodBytes = Math.max(REQUESTED.bytes, sidecarBytes + controlBytesPerSidecar + POD_BYTES)
  // Simulated sidecars share one pod.
  const otherPods = OTHER_PODS + Math.sign(simulated.count)
  // A pod with a limit requests that.
  const shardMillicores = controlCpuLimitCores ? Math.round(1000 * controlCpuLimitCores) : REQUESTED.millicores
  const shardBytes = controlMemoryBytes ?? REQUESTED.bytes
  const fixedBytes = otherPods * REQUESTED.bytes + shards * shardBytes
  const simulatedBytes = simulated.count * (simulated.bytes + controlBytesPerSidecar)
  const fixedMillicores = otherPods * REQUESTED.millicores + shards * shardMillicores
  return [
    { name: 'pods', each: 1, fixed: podsUsed + otherPods + shards, offered: offered.pods },
    {
      name: 'memory',
      each: sidecarPodBytes,
      fixed: memoryRequestedBytes + fixedBytes + simulatedBytes,
      offered: offered.memoryBytes,
      render: renderMemoryWithUnit,
    },
    {
      name: 'CPU requests',
      each: REQUESTED.millicores,
      offered: Math.round(1000 * offered.cpus),
      fixed: Math.round(1000 * cpusRequested) + fixedMillicores,
      render: millicores => `${millicores}m`,
    },
  ]
}

/** Renders bytes in MiB, with the unit. @param {number} bytes */
function renderMemoryWithUnit(bytes) {
  return `${renderMebibytes(bytes)} MiB`
}
