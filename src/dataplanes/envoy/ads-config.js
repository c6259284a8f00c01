import { renderCluster } from './clusters.js'
import { renderCommonBootstrap } from './config.js'
import { renderListeners } from './listeners.js'
import { renderRouteConfig } from './routes.js'
import { HTTP2_OPTIONS, renderHttpProtocolOptions, renderSocketAddress } from './shared.js'

/**
 * The sidecar model as Envoy takes it from a control plane (its aggregated discovery service): a bootstrap that names only the
 * control plane, and the rest as resources. Routes and endpoints are resources of their own, so that a change of them closes no
 * listener and no connection.
 * @import { Endpoint, SidecarModel } from '../../model/types.ts'
 */

const CLUSTER = 'control-plane'
const FROM_ADS = { resource_api_version: 'V3', ads: {} }

/**
 * Renders a bootstrap whose only cluster is the control plane, from which Envoy gets listeners and clusters.
 * @param {SidecarModel} model
 * @param {{ server: Endpoint, apiType: 'GRPC' | 'DELTA_GRPC' }} options server: the control plane's gRPC endpoint
 * @returns a Bootstrap of Envoy's v3 API
 */
export function renderAdsBootstrap(model, { server, apiType }) {
  return {
    ...renderCommonBootstrap(model),
    dynamic_resources: {
      ads_config: {
        api_type: apiType,
        transport_api_version: 'V3',
        // The node, with its 500 extensions, is 61 KB: one request of a stream is enough for it.
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: CLUSTER } }],
      },
      lds_config: FROM_ADS,
      cds_config: FROM_ADS,
    },
    static_resources: {
      clusters: [
        {
          name: CLUSTER,
          type: 'STATIC',
          load_assignment: {
            cluster_name: CLUSTER,
            endpoints: [{ lb_endpoints: [{ endpoint: { address: renderSocketAddress(server) } }] }],
          },
          ...renderHttpProtocolOptions({ explicit_http_config: { http2_protocol_options: HTTP2_OPTIONS } }),
        },
      ],
    },
  }
}

/**
 * Renders the resources of a sidecar by type, in the form that ads/main.go reads.
 * @param {SidecarModel} model
 * @param {string | null} profile one of PROFILES; null: the first
 * @returns clusters without endpoints, the endpoints of each, the listeners, and the route configuration of each direction that it has
 */
export function renderAdsResources(model, profile) {
  const clusters = model.clusters.map(cluster => renderCluster(model, cluster))
  const directions = /** @type {const} */ (['inbound', 'outbound'])
  return {
    clusters: clusters.map(({ load_assignment, ...cluster }) => ({
      ...cluster,
      type: 'EDS',
      eds_cluster_config: { eds_config: FROM_ADS },
    })),
    endpoints: clusters.map(({ load_assignment }) => load_assignment),
    listeners: renderListeners(model, profile, { inbound: FROM_ADS, outbound: FROM_ADS }),
    routes: directions
      .filter(direction => model[direction] !== null)
      .map(direction => renderRouteConfig(model, direction)),
  }
}
