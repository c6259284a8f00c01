import { renderCluster } from '../clusters.js'
import { renderExtension, renderHttpProtocolOptions, renderSocketAddress } from '../shared.js'
import { renderAcceptedIdentities, renderTransportSocket } from '../tls.js'
import { renderIstioListeners } from './listeners.js'
import { createPeerHeaders, NAMESPACE, renderSni } from './names.js'
import { renderIstioTlsContext, TLS_VERSIONS, UPSTREAM_ALPN } from './tls.js'

/** The sidecar model as Istio's control plane and agent render it (pilot/pkg/networking/core, tools/packaging/common). */
/** @import { Cluster, SidecarModel } from '../../../model/types.ts' */

const UNLIMITED = 4_294_967_295
// A proxy calls its own application from this address: from another one, its rules would redirect the connection back to it.
const OWN_SOURCE = '127.0.0.6'
const RUNTIME = {
  're2.max_program_size.error_level': 32768,
  'envoy.reloadable_features.http_reject_path_with_fragment': false,
  'envoy.reloadable_features.fixed_heap_use_allocated': true,
  'envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update': false,
}

/**
 * Renders a bootstrap with all listeners and clusters in it.
 * @param {SidecarModel} model
 * @param {{ hasIstioFilters: boolean }} options hasIstioFilters: the build has Istio's own filters
 * @returns a Bootstrap of Envoy's v3 API
 */
export function renderIstioBootstrap(model, { hasIstioFilters }) {
  const { service, clusters, admin } = model
  return {
    node: { id: createPeerHeaders(service).id, cluster: `${service}.${NAMESPACE}` },
    admin: { address: renderSocketAddress(admin) },
    layered_runtime: {
      layers: [
        { name: 'global config', static_layer: RUNTIME },
        { name: 'admin', admin_layer: {} },
      ],
    },
    bootstrap_extensions: [
      renderExtension(
        'envoy.bootstrap.internal_listener',
        'envoy.extensions.bootstrap.internal_listener.v3.InternalListener',
        { buffer_size_kb: 64 },
      ),
    ],
    stats_config: { use_all_default_tags: false, stats_matcher: { inclusion_list: { patterns: listIncludedStats() } } },
    deferred_stat_options: { enable_deferred_creation_stats: true },
    overload_manager: {
      resource_monitors: [
        renderExtension(
          'envoy.resource_monitors.global_downstream_max_connections',
          'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
          { max_active_downstream_connections: 2_147_483_647 },
        ),
      ],
    },
    static_resources: {
      listeners: renderIstioListeners(model, hasIstioFilters),
      clusters: clusters.map(cluster => renderIstioCluster(model, cluster)),
    },
  }
}

/** Lists matchers of the statistics that Istio's agent enables (pkg/bootstrap/config.go). */
function listIncludedStats() {
  const prefixes = ['reporter=', 'cluster_manager', 'listener_manager', 'server', 'cluster.xds-grpc', 'wasm']
  const suffixes = ['rbac.allowed', 'rbac.denied', 'shadow_allowed', 'shadow_denied']
  return [
    ...[...prefixes, 'component', 'istio'].map(prefix => ({ prefix })),
    ...suffixes.map(suffix => ({ suffix })),
    { safe_regex: { regex: 'vhost\\..*\\.route\\..*' } },
  ]
}

/**
 * Renders the lean cluster with Istio's balancing, limits and TLS. One whose endpoints are all redirected inbound ports of this sidecar has
 * no endpoints: Envoy calls the original destination.
 * @param {SidecarModel} model
 * @param {Cluster} cluster
 */
function renderIstioCluster(model, cluster) {
  const { name, type, connect_timeout, load_assignment } = renderCluster(model, cluster)
  const limits = {
    max_connections: UNLIMITED,
    max_pending_requests: UNLIMITED,
    max_requests: UNLIMITED,
    max_retries: UNLIMITED,
    track_remaining: true,
  }
  const { endpoints, mtls } = cluster
  const { address, redirectedPorts = [] } = model.inbound ?? {}
  // A proxy calls its application at the client's original destination address.
  const isOriginalDestination =
    endpoints.length > 0 &&
    endpoints.every(endpoint => endpoint.address === address && redirectedPorts.includes(endpoint.port))
  return {
    name,
    connect_timeout,
    ...(isOriginalDestination
      ? {
          type: 'ORIGINAL_DST',
          lb_policy: 'CLUSTER_PROVIDED',
          cleanup_interval: '9223372035s',
          upstream_bind_config: { source_address: { address: OWN_SOURCE, port_value: 0 } },
        }
      : { type, lb_policy: 'LEAST_REQUEST', load_assignment }),
    circuit_breakers: { thresholds: [limits] },
    common_lb_config: {},
    ...(cluster.protocol === 'http/2' &&
      renderHttpProtocolOptions({ explicit_http_config: { http2_protocol_options: {} } })),
    ...(mtls && {
      transport_socket: renderTransportSocket('Upstream', {
        sni: renderSni(mtls.serverName),
        common_tls_context: renderIstioTlsContext(model, {
          tls_params: TLS_VERSIONS,
          alpn_protocols: cluster.protocol === 'http/2' ? UPSTREAM_ALPN.HTTP2 : UPSTREAM_ALPN.HTTP11,
          ...(mtls.acceptedIdentities && { sans: renderAcceptedIdentities(mtls.acceptedIdentities) }),
        }),
      }),
    }),
  }
}
