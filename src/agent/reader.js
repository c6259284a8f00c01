import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { NOT_OFFERED, openCountersV1, openCountersV2, parseMounts } from '../node/kernel/cgroup.js'
import { createProbe } from '../node/kernel/probe.js'
import { lookAtProbes, observeProbes } from '../node/observer.js'

/** The agent's procedures that sample containers, under the /proc and the cgroups of the node that it runs on. */
/** @import { Endpoint, Probe, Reading, Window } from '../model/types.ts' */

/** The path in the pod at which the node's /sys/fs/cgroup is mounted. */
const CGROUP_ROOT = '/host/cgroup'
const V1_CONTROLLERS = ['cpu', 'cpuacct', 'memory']

const COUNTERS = ['atSeconds', 'cpuSeconds', ...Object.keys(NOT_OFFERED)]
/** The reading of a container that has ended. @type {Reading} */
const ENDED_READING = /** @type {any} */ (Object.fromEntries(COUNTERS.map(name => [name, Number.NaN])))

/**
 * @typedef {object} ReadContainer
 * @property {string} id in the container runtime
 * @property {Endpoint[]} listens the endpoints at which it listens
 */

/**
 * Creates the agent's procedures that read containers. The probe of a container is opened at its first call, and kept until the
 * agent ends.
 * @returns look, observe: both throw as `openContainerCounters`; observe also as `observeProbes`
 */
export function createReader() {
  /** @type {Map<string, Probe>} */
  const probes = new Map()
  const openProbe = (/** @type {ReadContainer} */ { id, listens }) => {
    const probe = probes.get(id) ?? guardProbe(createProbe({ group: openContainerCounters({ id }), listens }))
    probes.set(id, probe)
    return probe
  }
  return {
    /**
     * Looks at each container, in their order, as `lookAtProbes` (node/observer.js).
     * @param {{ containers: ReadContainer[] }} args
     */
    look: ({ containers }) => lookAtProbes(containers.map(openProbe)),

    /**
     * Samples each container until the window ends, or the signal aborts, as `observeProbes` (node/observer.js).
     * @param {{ containers: ReadContainer[], window: Window }} args
     * @param {AbortSignal} signal
     */
    observe: ({ containers, window }, signal) => observeProbes(containers.map(openProbe), { window, signal }),
  }
}

/**
 * Opens the cgroup counters of a container. The kubelet's cgroup drivers name its folder differently (`<id>` under cgroupfs,
 * `cri-containerd-<id>.scope` under systemd), and the folders above it too; both names contain the container's id.
 * @param {object} options
 * @param {string} options.id in the container runtime
 * @param {string} [options.root] the path of the node's /sys/fs/cgroup; CGROUP_ROOT by default
 * @param {string} [options.mountinfo] text of /proc/PID/mountinfo (proc(5)), whose mounts below the root tell cgroup v1 from v2; by
 *   default that of this process
 * @returns its counters, of cgroup v1 or v2
 * @throws {Error} if the node has no such container, or lacks the folder of one of the v1 controllers for it; the system's error
 *   if a counter file cannot be opened
 */
export function openContainerCounters({
  id,
  root = CGROUP_ROOT,
  mountinfo = readFileSync('/proc/self/mountinfo', 'utf8'),
}) {
  const nodeMounts = mountinfo.split('\n').filter(line => line.split(' ')[4]?.startsWith(root))
  const { v1, v2 } = parseMounts(nodeMounts.join('\n'))
  if (V1_CONTROLLERS.every(name => v1.has(name))) {
    const [cpu, cpuacct, memory] = V1_CONTROLLERS.map(name => findContainerFolder(v1.get(name), id))
    if (cpu && cpuacct && memory) return openCountersV1({ cpu, cpuacct, memory })
  } else if (v2 !== null) {
    const folder = findContainerFolder(v2, id)
    if (folder) return openCountersV2(folder)
  }
  throw new Error(`no cgroup of the container ${id} is under ${root}: is this its node?`)
}

/**
 * Finds the folder nearest to the root whose name contains a container's id. A folder that cannot be listed counts as empty.
 * @param {string} root
 * @param {string} id
 * @returns {string | null} its path; null: there is none
 */
export function findContainerFolder(root, id) {
  let level = [root]
  while (level.length > 0) {
    const nextLevel = []
    for (const folder of level) {
      const entries = callSafely(() => readdirSync(folder, { withFileTypes: true }), [])
      for (const { name } of entries.filter(entry => entry.isDirectory())) {
        if (name.includes(id)) return path.join(folder, name)
        nextLevel.push(path.join(folder, name))
      }
    }
    level = nextLevel
  }
  return null
}

/**
 * Guards a probe against errors, such as those after the end of its container, whose cgroup is then removed.
 * @param {Probe} probe
 * @returns {Probe} after an error, its reading is NaN, limit and memory are null, counts are 0, lists and texts are empty
 */
function guardProbe(probe) {
  /** @type {<T>(read: () => T, fallback: T) => () => T} */
  const guard = (read, fallback) => () => callSafely(read, fallback)
  return {
    read: guard(probe.read, ENDED_READING),
    readCpuLimitCores: guard(probe.readCpuLimitCores, null),
    readThreads: guard(probe.readThreads, []),
    readUsage: guard(probe.readUsage, []),
    listOutside: guard(probe.listOutside, []),
    readMemory: guard(probe.readMemory, null),
    countListeners: guard(probe.countListeners, 0),
    listListening: guard(probe.listListening, []),
    countConnections: listEstablished => callSafely(() => probe.countConnections(listEstablished), 0),
    identify: guard(probe.identify, []),
    readCpuSet: guard(probe.readCpuSet, ''),
  }
}
