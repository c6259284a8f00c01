/** @import { DataPlane } from '../model/types.ts' */

/**
 * The loader of each data plane, in the order of reports: its code is loaded when a run names it.
 * @type {Record<string, () => Promise<DataPlane>>}
 */
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

/** The plane and profile that each mesh deploys, by the name of the mesh. @type {Record<string, string>} */
export const MESHES = { istio: 'envoy:istio', ambient: 'ztunnel:istio', osm: 'envoy:osm-1.1', fsm: 'pipy:fsm' }

/**
 * Loads planes, each once.
 * @param {Iterable<string>} [names] absent: all; names that the kit does not have are left out
 * @returns {Promise<Record<string, DataPlane>>} by name, in the order of the registry; {}: the kit has none of the names
 * @throws {Error} if a line of the registry loads no plane of its name, as after copying a folder, or a module cannot be loaded
 */
export async function loadPlanes(names = PLANE_NAMES) {
  const chosen = new Set(names)
  const loaders = Object.entries(PLANES).filter(([name]) => chosen.has(name))
  const entries = loaders.map(async ([name, load]) => [name, assertPlaneName(name, await load())])
  return Object.fromEntries(await Promise.all(entries))
}

/**
 * Checks the name of the plane that a line of the registry loads, and returns the plane.
 * @param {string} name of the line
 * @param {DataPlane | undefined} plane undefined: the module exports no such name
 * @throws {Error} if there is no plane, or its name is not that of the line
 */
export function assertPlaneName(name, plane) {
  if (plane?.name === name) return plane
  const loaded = plane === undefined ? 'no export of that name' : `a plane with the name "${plane.name}"`
  throw new Error(
    `src/dataplanes/registry.js: the line "${name}" loads ${loaded}: in the index.js of its folder, write "export const ${name}", and name: '${name}' in it and in its tool`,
  )
}
