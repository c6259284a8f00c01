// The sidecar model as an Envoy bootstrap. What is pinned here, and why, is in README.md, "Fairness".

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
 * @param {string | null} profile one of PROFILES; null: the first
 * @param {Sources} [sources] of what is not in it
 * @returns a Bootstrap of Envoy's v3 API
 */
export function renderBootstrap(model, profile, sources = {}) {
  return {
    ...renderLeanBootstrap(model),
    static_resources: {
      listeners: renderListeners(model, profile, sources),
      clusters: model.clusters.map(cluster => renderCluster(model, cluster, sources.certificate)),
    },
  }
}

/**
 * Renders the part of a bootstrap that is the same wherever the rest comes from.
 * @param {SidecarModel} model
 * @returns the node, the administration port, and histogram buckets if metrics are on
 */
export function renderLeanBootstrap(model) {
  return {
    node: { id: model.service, cluster: model.service },
    admin: { address: renderSocketAddress(model.admin) },
    ...renderStatsConfig(model.features),
  }
}
