import { renderOutlierDetection, renderRetryBudget } from './features.js'
import {
  BUFFER_BYTES,
  HTTP2_OPTIONS,
  renderHttpProtocolOptions,
  renderProtoDuration,
  renderSocketAddress,
} from './shared.js'
import { renderTlsContext, renderTransportSocket } from './tls.js'

/** @import { Cluster, SidecarModel } from '../../model/types.ts' */

const UNLIMITED = 1_000_000_000

/**
 * Renders a cluster with its endpoints and TLS. Only features limit its requests.
 * @param {SidecarModel} model
 * @param {Cluster} cluster
 * @param {unknown} [source] config source of the certificate; absent: its files
 * @returns a Cluster of Envoy's v3 API
 */
export function renderCluster(model, cluster, source) {
  const { name, endpoints, balancing, mtls, protocol, maxRequests } = cluster
  const breaker = model.features['circuit-breaker']
  return {
    name,
    type: 'STATIC',
    connect_timeout: renderProtoDuration(model.timeouts.connectSeconds),
    lb_policy: balancing === 'least-requests' ? 'LEAST_REQUEST' : 'ROUND_ROBIN',
    per_connection_buffer_limit_bytes: BUFFER_BYTES,
    circuit_breakers: {
      thresholds: [
        {
          max_connections: UNLIMITED,
          max_pending_requests: UNLIMITED,
          max_requests: breaker ? (maxRequests ?? breaker.maxRequests) : UNLIMITED,
          max_retries: UNLIMITED,
          ...renderRetryBudget(model.features, cluster),
        },
      ],
    },
    ...renderOutlierDetection(model.features, cluster),
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: endpoints.map(endpoint => ({ endpoint: { address: renderSocketAddress(endpoint) } })) },
      ],
    },
    ...(protocol !== 'tcp' &&
      renderHttpProtocolOptions({
        common_http_protocol_options: { idle_timeout: renderProtoDuration(model.timeouts.requestSeconds) },
        explicit_http_config:
          protocol === 'http/2' ? { http2_protocol_options: HTTP2_OPTIONS } : { http_protocol_options: {} },
      })),
    ...(mtls && {
      transport_socket: renderTransportSocket('Upstream', {
        sni: mtls.serverName,
        max_session_keys: 0,
        common_tls_context: renderTlsContext(model, mtls.acceptedIdentities, source),
      }),
    }),
  }
}
