import { readFileSync } from 'node:fs'
import { createProbe } from '../../../kernel/probe.js'
import { look, observe } from '../../../observer.js'
import { findContainer } from './containers.js'

/**
 * Reads the containers of the node it runs on: the sampler, under the node's own /proc and cgroups.
 * @import { Endpoint, Probe, Window } from '../../../types.ts'
 */

/** Where the node's /sys/fs/cgroup is mounted in the pod. */
const ROOT = '/host/cgroup'

/** A container as the target names it. @typedef {{ id: string, listens: Endpoint[] }} Watched */

/**
 * @returns the procedures
 */
export function createReader() {
  /** @type {Map<string, Probe>} */
  const probes = new Map()
  const probesOf = (/** @type {Watched[]} */ watched) =>
    watched.map(({ id, listens }) => {
      const probe = probes.get(id) ?? createProbe({ group: openContainer(id), listens })
      probes.set(id, probe)
      return probe
    })
  return {
    /** @param {{ watched: Watched[] }} args */
    look: ({ watched }) => look(probesOf(watched)),

    /**
     * @param {{ watched: Watched[], window: Window }} args
     * @param {AbortSignal} signal
     */
    observe: ({ watched, window }, signal) => observe(probesOf(watched), { window, signal }),
  }
}

/** @param {string} id of a container */
function openContainer(id) {
  const counters = findContainer({ id, root: ROOT, mountinfo: readFileSync('/proc/self/mountinfo', 'utf8') })
  if (counters === null) throw new Error(`no cgroup of the container ${id} is under ${ROOT}: is this its node?`)
  return counters
}
