import { readFileSync } from 'node:fs'
import { createProbe } from '../kernel/probe.js'
import { look, observe } from '../observer.js'
import { findContainer } from './containers.js'

/** Reads the containers of the node it runs on: the sampler, under the node's own /proc and cgroups. */
/** @import { Endpoint, Probe, Window } from '../../model/types.ts' */

/** Where the node's /sys/fs/cgroup is mounted in the pod. */
const ROOT = '/host/cgroup'

/** A container as the target names it. @typedef {{ id: string, listens: Endpoint[] }} Watched */

/** @returns the procedures */
export function createReader() {
  /** @type {Map<string, Probe>} */
  const probes = new Map()
  const probesOf = (/** @type {Watched[]} */ watched) =>
    watched.map(({ id, listens }) => {
      const probe = probes.get(id) ?? whileThere(createProbe({ group: openContainer(id), listens }))
      probes.set(id, probe)
      return probe
    })
  return {
    /** @param {{ watched: Watched[] }} args */
    look: ({ watched }) => look(probesOf(watched)),

    /** @param {{ watched: Watched[], window: Window }} args @param {AbortSignal} signal */
    observe: ({ watched, window }, signal) => observe(probesOf(watched), { window, signal }),
  }
}

/** @param {string} id of a container */
function openContainer(id) {
  const counters = findContainer({ id, root: ROOT, mountinfo: readFileSync('/proc/self/mountinfo', 'utf8') })
  if (counters === null) throw new Error(`no cgroup of the container ${id} is under ${ROOT}: is this its node?`)
  return counters
}

const GONE = {
  atSeconds: Number.NaN,
  cpuSeconds: Number.NaN,
  periods: Number.NaN,
  throttledPeriods: Number.NaN,
  throttledSeconds: Number.NaN,
  anonBytes: Number.NaN,
  workingSetBytes: Number.NaN,
  peakBytes: Number.NaN,
  oomKills: Number.NaN,
}

/**
 * A container's cgroup disappears with it: from then on its readings are missing, and the others go on.
 * @param {Probe} probe
 * @returns {Probe}
 */
function whileThere(probe) {
  /** @type {<T>(read: () => T, otherwise: T) => () => T} */
  const guard = (read, otherwise) => () => {
    try {
      return read()
    } catch {
      return otherwise
    }
  }
  return {
    read: guard(probe.read, GONE),
    readCapCores: guard(probe.readCapCores, null),
    readThreads: guard(probe.readThreads, []),
    readMemory: guard(probe.readMemory, null),
    countListeners: guard(probe.countListeners, 0),
    countConnections: guard(probe.countConnections, 0),
    identify: guard(probe.identify, []),
    readCpuSet: guard(probe.readCpuSet, ''),
  }
}
