import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { NOT_OFFERED, openCountersV1, openCountersV2, parseMounts } from '../node/kernel/cgroup.js'
import { createProbe } from '../node/kernel/probe.js'
import { lookAtProbes, observeProbes } from '../node/observer.js'

/** Reads the containers of the node it runs on: the sampler, under the node's own /proc and cgroups. */
/** @import { Endpoint, Probe, Window } from '../model/types.ts' */

/** The path in the pod at which the node's /sys/fs/cgroup is mounted. */
const ROOT = '/host/cgroup'

/**
 * A container to read, by its id in the runtime, and the endpoints at which it listens.
 * @typedef {{ id: string, listens: Endpoint[] }} Watched
 */

/**
 * Creates the agent's procedures that read containers. The probe of a container is opened once, and kept.
 * @returns the procedures
 */
export function createReader() {
  /** @type {Map<string, Probe>} */
  const probes = new Map()
  const findProbes = (/** @type {Watched[]} */ watched) =>
    watched.map(({ id, listens }) => {
      const probe = probes.get(id) ?? guardProbe(createProbe({ group: findContainer({ id }), listens }))
      probes.set(id, probe)
      return probe
    })
  return {
    /**
     * Reads memory, identity and workers of each (observer.js).
     * @param {{ watched: Watched[] }} args
     */
    look: ({ watched }) => lookAtProbes(findProbes(watched)),

    /**
     * Samples each until the window ends, or the signal aborts (observer.js).
     * @param {{ watched: Watched[], window: Window }} args
     * @param {AbortSignal} signal
     */
    observe: ({ watched, window }, signal) => observeProbes(findProbes(watched), { window, signal }),
  }
}

/**
 * Opens the cgroup counters of a container. The kubelet's cgroup drivers name its folder differently (`<id>` under cgroupfs,
 * `cri-containerd-<id>.scope` under systemd), and the folders above it too; both names contain the container's id.
 * @param {{ id: string, root?: string, mountinfo?: string }} options root: the path of the node's /sys/fs/cgroup; mountinfo:
 *   text of /proc/PID/mountinfo (proc(5)), whose mounts below the root tell cgroup v1 from v2
 * @returns its counters, of cgroup v1 or v2
 * @throws if the node has no such container, or lacks one of the v1 controllers' folders for it
 */
export function findContainer({ id, root = ROOT, mountinfo = readFileSync('/proc/self/mountinfo', 'utf8') }) {
  const below = mountinfo.split('\n').filter(line => line.split(' ')[4]?.startsWith(root))
  const { v1, v2 } = parseMounts(below.join('\n'))
  const isV1 = ['cpu', 'cpuacct', 'memory'].every(name => v1.has(name))
  const mounts = isV1 ? ['cpu', 'cpuacct', 'memory'].map(name => v1.get(name)) : v2 === null ? [] : [v2]
  const [folder, cpuacct, memory] = mounts.map(mount => findFolder(mount, id))
  if (isV1 && folder && cpuacct && memory) return openCountersV1({ cpu: folder, cpuacct, memory })
  if (!isV1 && folder) return openCountersV2(folder)
  throw new Error(`no cgroup of the container ${id} is under ${root}: is this its node?`)
}

/**
 * Finds the folder nearest to the root whose name contains a container's id.
 * @param {string} root
 * @param {string} id
 * @returns {string | null} its path; null: there is none
 */
export function findFolder(root, id) {
  let level = [root]
  while (level.length > 0) {
    const next = []
    for (const folder of level) {
      const entries = callSafely(() => readdirSync(folder, { withFileTypes: true }), [])
      for (const { name } of entries.filter(entry => entry.isDirectory())) {
        if (name.includes(id)) return path.join(folder, name)
        next.push(path.join(folder, name))
      }
    }
    level = next
  }
  return null
}

const UNREAD = ['atSeconds', 'cpuSeconds', ...Object.keys(NOT_OFFERED)].map(name => [name, Number.NaN])
const GONE = /** @type {import('../model/types.ts').Reading} */ (/** @type {any} */ (Object.fromEntries(UNREAD)))

/**
 * Guards a probe against the end of its container, whose cgroup is then removed: `read` gives NaN, the others null, 0 or nothing.
 * @param {Probe} probe
 * @returns {Probe}
 */
function guardProbe(probe) {
  /** @type {<T>(read: () => T, otherwise: T) => () => T} */
  const guard = (read, otherwise) => () => callSafely(read, otherwise)
  return {
    read: guard(probe.read, GONE),
    readCpuLimitCores: guard(probe.readCpuLimitCores, null),
    readThreads: guard(probe.readThreads, []),
    readUsage: guard(probe.readUsage, []),
    listOutside: guard(probe.listOutside, []),
    readMemory: guard(probe.readMemory, null),
    countListeners: guard(probe.countListeners, 0),
    listListening: guard(probe.listListening, []),
    countConnections: listEstablished => guard(() => probe.countConnections(listEstablished), 0)(),
    identify: guard(probe.identify, []),
    readCpuSet: guard(probe.readCpuSet, ''),
  }
}
