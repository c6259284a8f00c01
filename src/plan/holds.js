import { renderMebibytes } from '../lib/units.js'

/** Judges whether a machine has room for the sidecars of an arm. Pure: supply and need are arguments. */
/** @import { Conditions, Control, Limits, NodeLimits } from '../model/types.ts' */

// The memory of few sidecars is part of what every run needs, which src/prepare/room.js checks.
const FEW = 10
const KIT_BYTES = 300e6
// Sandbox, shim and the kubelet's share of a pod.
const POD_BYTES = 12e6
/** Requests of a sidecar's pod, at least. */
const REQUESTED = { bytes: 16 * 2 ** 20, millicores: 10 }
// The application and two of the kit; shards of the control plane are counted apart.
const OTHER_PODS = 3
/** Memory of an application beside a sidecar. */
export const APPLICATION_BYTES = 6e6
// Connections to the control plane, from it, and to the application.
const CONNECTIONS = 3
// Open files of the control plane and the kit.
const OWN_FILES = 200

/**
 * A resource.
 * @typedef {object} Row
 * @property {string} what its name
 * @property {number} each the need of each sidecar
 * @property {number} fixed what is used beside
 * @property {number} offered by the machine
 * @property {(value: number) => string} [render] makes the text of a value; as a plain number by default
 * @property {string} [more] how to raise what is offered
 */

/** @typedef {Pick<Conditions, 'shards' | 'controlCpuLimitCores' | 'controlMemoryBytes'>} Controlled */
/** @typedef {ReturnType<NonNullable<Control['estimateNeeds']>>} Needs */
/** Simulated sidecars. @typedef {{ count: number, bytes: number }} Simulated bytes: of one */

/**
 * Renders the first resource that is short, with the arithmetic. On a machine, FEW sidecars are not checked.
 * @param {object} options
 * @param {number} options.sidecars the real ones
 * @param {Needs} options.needs
 * @param {Limits | NodeLimits} options.limits of the machine that runs all, or of a node with a pod each
 * @param {Simulated} [options.simulated] none by default
 * @param {Controlled} [options.conditions] there
 * @returns {string | null} null: none is short
 */
export function findShortage({ sidecars, needs, limits, simulated = { count: 0, bytes: 0 }, conditions = {} }) {
  const isNode = 'node' in limits
  if (!isNode && sidecars + simulated.count <= FEW) return null
  const rows = isNode
    ? countOfNode({ needs, limits, simulated, conditions })
    : countOfMachine({ needs, limits, simulated })
  const short = rows.find(({ each, fixed, offered }) => sidecars * each + fixed > offered)
  if (!short) return null
  const { what, each: one, fixed, offered, render = String, more } = short
  const most = Math.max(0, Math.floor((offered - fixed) / one))
  const also = fixed > 0 ? ` + ${render(fixed)}` : ''
  const whose = isNode ? `the node ${limits.node}` : 'this machine'
  return `${sidecars} sidecars take ${render(sidecars * one + fixed)} of ${what} (${sidecars} × ${render(one)}${also}), and ${whose} has ${render(offered)}: at most ${most} fit${more ? `; ${more} allows more` : ''}`
}

/**
 * Lists the resources of a machine.
 * @param {{ needs: Needs, limits: Limits, simulated: Simulated }} options
 * @returns {Row[]}
 */
function countOfMachine({ needs: { sidecarBytes, controlBytes, threads, inotifyInstances }, limits, simulated }) {
  const { memoryBytes, files, ports } = limits
  return [
    {
      what: 'memory',
      each: sidecarBytes + controlBytes,
      offered: memoryBytes,
      render: formatMemory,
      fixed: KIT_BYTES + simulated.count * (simulated.bytes + controlBytes),
    },
    { what: 'threads', each: threads, fixed: limits.threadsUsed, offered: limits.threads },
    { what: 'open files of one process', each: CONNECTIONS, fixed: OWN_FILES + simulated.count, offered: files },
    { what: 'ports for connections', each: CONNECTIONS, fixed: simulated.count, offered: ports },
    {
      what: 'inotify instances',
      each: inotifyInstances,
      fixed: limits.inotifyInstancesUsed,
      offered: limits.inotifyInstances,
      more: 'sysctl fs.inotify.max_user_instances=N',
    },
  ]
}

/**
 * Lists the resources of a node, counted as the scheduler does, or by the need of a sidecar if that is more than its pod requests.
 * @param {{ needs: Needs, limits: NodeLimits, simulated: Simulated, conditions: Controlled }} options
 * @returns {Row[]}
 */
function countOfNode({ needs: { sidecarBytes, controlBytes }, limits, simulated, conditions }) {
  const { podsUsed, memoryRequestedBytes, cpusRequested, ...offered } = limits
  const { shards = 1, controlCpuLimitCores, controlMemoryBytes } = conditions
  // A control plane with a limit takes no more than that.
  const ofControl = controlMemoryBytes ? 0 : controlBytes
  const bytes = Math.max(REQUESTED.bytes, sidecarBytes + ofControl + POD_BYTES)
  // Simulated sidecars share one pod.
  const others = OTHER_PODS + Math.sign(simulated.count)
  // A pod with a limit requests that.
  const millicoresOfShard = controlCpuLimitCores ? Math.round(1000 * controlCpuLimitCores) : REQUESTED.millicores
  return [
    { what: 'pods', each: 1, fixed: podsUsed + others + shards, offered: offered.pods },
    {
      what: 'memory',
      each: bytes,
      offered: offered.memoryBytes,
      render: formatMemory,
      fixed:
        memoryRequestedBytes +
        others * REQUESTED.bytes +
        shards * (controlMemoryBytes ?? REQUESTED.bytes) +
        simulated.count * (simulated.bytes + ofControl),
    },
    {
      what: 'CPU requests',
      each: REQUESTED.millicores,
      offered: Math.round(1000 * offered.cpus),
      fixed: Math.round(1000 * cpusRequested) + others * REQUESTED.millicores + shards * millicoresOfShard,
      render: millicores => `${millicores}m`,
    },
  ]
}

/** @param {number} bytes */
function formatMemory(bytes) {
  return `${renderMebibytes(bytes)} MiB`
}
