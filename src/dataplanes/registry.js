/** @import { DataPlane } from '../model/types.ts' */

/** Every data plane of the kit, in the order of the reports: its code is loaded when a run names it. */
/** @type {Record<string, () => Promise<DataPlane>>} */
const PLANES = {
  none: async () => (await import('./none/index.js')).none,
  pipy: async () => (await import('./pipy/index.js')).pipy,
  envoy: async () => (await import('./envoy/index.js')).envoy,
  haproxy: async () => (await import('./haproxy/index.js')).haproxy,
  nginx: async () => (await import('./nginx/index.js')).nginx,
  caddy: async () => (await import('./caddy/index.js')).caddy,
  ztunnel: async () => (await import('./ztunnel/index.js')).ztunnel,
  linkerd: async () => (await import('./linkerd/index.js')).linkerd,
  proxy: async () => (await import('./proxy/index.js')).proxy,
}

export const PLANE_NAMES = Object.keys(PLANES)

/**
 * Loads planes, all where none is named, each once. @param {Iterable<string>} [names] those that the kit does not have are left out
 * @returns {Promise<Record<string, DataPlane>>} by name, in the order of the registry
 */
export async function loadPlanes(names = PLANE_NAMES) {
  const chosen = new Set(names)
  const entries = Object.entries(PLANES).filter(([name]) => chosen.has(name))
  return Object.fromEntries(await Promise.all(entries.map(async ([name, load]) => [name, await load()])))
}
