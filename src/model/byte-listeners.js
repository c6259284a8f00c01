/**
 * The listeners of a sidecar that carries bytes. Pure.
 * @import { Cluster, SidecarModel } from './types.ts'
 */

/**
 * Lists a listener for each route of a sidecar: all of its connections go to the first cluster of the route's split. The first
 * listener of a direction is named after it (`inbound`), further ones have a number, too (`inbound_2`).
 * @param {SidecarModel} model that has each of these clusters
 * @returns the inbound ones first; port: that of the route, or else of the direction; redirectedPorts: undefined if connections
 *   are not redirected. []: the model has no route
 */
export function listByteListeners({ inbound, outbound, clusters }) {
  const listDirection = (
    /** @type {'inbound' | 'outbound'} */ direction,
    /** @type {typeof inbound | typeof outbound} */ listener,
  ) =>
    (listener?.routes ?? []).map((route, i) => ({
      name: i === 0 ? direction : `${direction}_${i + 1}`,
      direction,
      address: `${listener?.address}`,
      port: route.port ?? Number(listener?.port),
      redirectedPorts: listener?.redirectedPorts,
      cluster: /** @type {Cluster} */ (clusters.find(({ name }) => name === route.split[0].cluster)),
    }))
  return [...listDirection('inbound', inbound), ...listDirection('outbound', outbound)]
}

/** @typedef {ReturnType<typeof listByteListeners>[number]} ByteListener */
