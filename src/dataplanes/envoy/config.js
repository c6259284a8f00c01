import { renderCluster } from './clusters.js'
import { renderStatsConfig } from './features.js'
import { ISTIO } from './istio/index.js'
import { renderListeners } from './listeners.js'
import { OSM } from './osm.js'
import { renderSocketAddress } from './shared.js'

/**
 * @import { SidecarModel } from '../../model/types.ts'
 * @import { Sources } from './listeners.js'
 */

export const PROFILES = ['lean', OSM, ISTIO]

/**
 * Renders a bootstrap of the profiles lean and osm-1.1, with all listeners and clusters in it; Istio's is in istio/config.js.
 * @param {SidecarModel} model
 * @param {string | null} profile one of PROFILES; null: the first; any but osm-1.1 renders as lean
 * @param {Sources} [sources] of routes or the certificate that Envoy gets elsewhere; absent: all is in it
 * @returns a Bootstrap of Envoy's v3 API
 */
export function renderBootstrap(model, profile, sources = {}) {
  return {
    ...renderCommonBootstrap(model),
    static_resources: {
      listeners: renderListeners(model, profile, sources),
      clusters: model.clusters.map(cluster => renderCluster(model, cluster, sources.certificate)),
    },
  }
}

/**
 * Renders the fields of a bootstrap that are the same with listeners in it and with a control plane.
 * @param {SidecarModel} model
 * @returns the node, named after the service, the administration port, and histogram buckets if metrics are on
 */
export function renderCommonBootstrap(model) {
  return {
    node: { id: model.service, cluster: model.service },
    admin: { address: renderSocketAddress(model.admin) },
    ...renderStatsConfig(model.features),
  }
}
