import { renderCluster } from '../clusters.js'
import { renderRouteConfig } from '../routes.js'
import { extension, renderUpstreamHttp, socketAddress } from '../shared.js'
import { renderTls, renderTransport } from '../tls.js'
import { renderFilters, renderRequestStats } from './filters.js'
import { describePeer, nameHost, nameSni } from './names.js'

/** The sidecar model as Istio's control plane and agent render it (pilot/pkg/networking/core, tools/packaging/common). */
/** @import { Cluster, SidecarModel } from '../../../model/types.ts' */
/** @import { Direction, Part } from './filters.js' */

const MOST = 4_294_967_295
const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const LISTENER = 'envoy.extensions.filters.listener'
// From this address a proxy calls its own application, or its rules would redirect the connection back to it.
const OWN_SOURCE = '127.0.0.6'
const CIPHERS = [
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'AES128-GCM-SHA256'],
]
const MTLS_ALPN = ['istio', 'istio-peer-exchange', 'istio-http/1.0', 'istio-http/1.1', 'istio-h2']
const TLS_VERSIONS = { tls_minimum_protocol_version: 'TLSv1_2', tls_maximum_protocol_version: 'TLSv1_3' }

/** @param {SidecarModel} model @param {{ isIstios: boolean }} options isIstios: the build has Istio's own filters */
export function renderIstioBootstrap(model, { isIstios }) {
  const { service, inbound, outbound, clusters, admin } = model
  return {
    node: { id: describePeer(service).id, cluster: `${service}.bench` },
    admin: { address: socketAddress(admin) },
    layered_runtime: {
      layers: [
        {
          name: 'global config',
          static_layer: {
            're2.max_program_size.error_level': 32768,
            'envoy.reloadable_features.http_reject_path_with_fragment': false,
            'envoy.reloadable_features.fixed_heap_use_allocated': true,
            'envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update': false,
          },
        },
        { name: 'admin', admin_layer: {} },
      ],
    },
    bootstrap_extensions: [
      extension(
        'envoy.bootstrap.internal_listener',
        'envoy.extensions.bootstrap.internal_listener.v3.InternalListener',
        { buffer_size_kb: 64 },
      ),
    ],
    stats_config: { use_all_default_tags: false, stats_matcher: { inclusion_list: { patterns: listIncluded() } } },
    deferred_stat_options: { enable_deferred_creation_stats: true },
    overload_manager: {
      resource_monitors: [
        extension(
          'envoy.resource_monitors.global_downstream_max_connections',
          'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
          { max_active_downstream_connections: 2_147_483_647 },
        ),
      ],
    },
    static_resources: {
      listeners: [
        ...(inbound ? [renderInbound(model, inbound, isIstios)] : []),
        ...(outbound ? renderOutbound(model, outbound, isIstios) : []),
      ],
      clusters: clusters.map(cluster => renderIstioCluster(model, cluster)),
    },
  }
}

/** The statistics that the agent lets its proxy keep (pkg/bootstrap/config.go). */
function listIncluded() {
  const prefixes = ['reporter=', 'cluster_manager', 'listener_manager', 'server', 'cluster.xds-grpc', 'wasm']
  const suffixes = ['rbac.allowed', 'rbac.denied', 'shadow_allowed', 'shadow_denied']
  return [
    ...[...prefixes, 'component', 'istio'].map(prefix => ({ prefix })),
    ...suffixes.map(suffix => ({ suffix })),
    { safe_regex: { regex: 'vhost\\..*\\.route\\..*' } },
  ]
}

/** @param {SidecarModel} model @param {NonNullable<SidecarModel['inbound']>} inbound @param {boolean} isIstios */
function renderInbound(model, inbound, isIstios) {
  const { mtls, acceptedIdentities, redirectedPorts } = inbound
  const allowed = mtls === 'strict' ? acceptedIdentities : null
  const part = { direction: /** @type {const} */ ('inbound'), isIstios, allowed }
  const tls = {
    filters: [renderManager(model, { ...part, isFromProxy: true })],
    transport_socket: renderTransport('Downstream', {
      require_client_certificate: true,
      common_tls_context: renderContext(model, {
        tls_params: { ...TLS_VERSIONS, cipher_suites: CIPHERS },
        alpn_protocols: ['h2', 'http/1.1'],
        // Any workload of the trust domain: who may call is a policy's matter.
        sans: [{ san_type: 'URI', matcher: { prefix: `${/^spiffe:\/\/[^/]+\//.exec(model.identity)?.[0]}` } }],
      }),
    }),
  }
  const ofTls = { transport_protocol: 'tls' }
  const plain = {
    filter_chain_match: { transport_protocol: 'raw_buffer' },
    filters: [renderManager(model, { ...part, isFromProxy: mtls === 'disabled' })],
  }
  const chains = {
    strict: [{ filter_chain_match: ofTls, ...tls }],
    permissive: [{ filter_chain_match: { ...ofTls, application_protocols: MTLS_ALPN }, ...tls }, plain],
    disabled: [plain],
  }
  const ports = redirectedPorts ?? [inbound.port]
  return {
    name: 'virtualInbound',
    traffic_direction: 'INBOUND',
    address: socketAddress(inbound),
    continue_on_listener_filters_timeout: true,
    listener_filters_timeout: '0s',
    listener_filters: [
      ...(redirectedPorts
        ? [extension('envoy.filters.listener.original_dst', `${LISTENER}.original_dst.v3.OriginalDst`)]
        : []),
      extension('envoy.filters.listener.tls_inspector', `${LISTENER}.tls_inspector.v3.TlsInspector`, {
        initial_read_buffer_size: 512,
      }),
      {
        ...extension('envoy.filters.listener.http_inspector', `${LISTENER}.http_inspector.v3.HttpInspector`),
        // Ports that are declared http are not sniffed.
        filter_disabled: renderPorts(ports),
      },
    ],
    filter_chains: redirectedPorts
      ? redirectedPorts.flatMap(destination_port =>
          chains[mtls].map(chain => ({
            ...chain,
            filter_chain_match: { ...chain.filter_chain_match, destination_port },
          })),
        )
      : chains[mtls],
  }
}

/** @param {number[]} ports */
function renderPorts(ports) {
  const rules = ports.map(port => ({ destination_port_range: { start: port, end: port + 1 } }))
  return rules.length === 1 ? rules[0] : { or_match: { rules } }
}

/**
 * A listener for a port; where connections are redirected, it has them from the one to which they come.
 * @param {SidecarModel} model @param {NonNullable<SidecarModel['outbound']>} outbound @param {boolean} isIstios
 */
function renderOutbound(model, outbound, isIstios) {
  const { redirectedPorts } = outbound
  const own = {
    traffic_direction: 'OUTBOUND',
    filter_chains: [
      { filters: [renderManager(model, { direction: 'outbound', isIstios, isFromProxy: true, allowed: null })] },
    ],
  }
  if (!redirectedPorts) return [{ name: 'outbound', address: socketAddress(outbound), ...own }]
  const tcp = 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'
  return [
    {
      name: 'virtualOutbound',
      traffic_direction: 'OUTBOUND',
      address: socketAddress(outbound),
      use_original_dst: true,
      filter_chains: [
        {
          filters: [
            extension('envoy.filters.network.tcp_proxy', tcp, {
              stat_prefix: 'BlackHoleCluster',
              cluster: 'BlackHoleCluster',
            }),
          ],
        },
      ],
    },
    ...redirectedPorts.map(port => ({
      name: `0.0.0.0_${port}`,
      address: socketAddress({ address: '0.0.0.0', port }),
      bind_to_port: false,
      ...own,
    })),
  ]
}

/** @param {SidecarModel} model @param {Part} part */
function renderManager(model, part) {
  const { direction, isIstios } = part
  const percent = (/** @type {number} */ value) => ({ value })
  return extension('envoy.filters.network.http_connection_manager', MANAGER, {
    stat_prefix: `${direction}_0.0.0.0_8080;`,
    codec_type: 'AUTO',
    server_name: 'istio-envoy',
    use_remote_address: false,
    normalize_path: true,
    stream_idle_timeout: '0s',
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    ...(direction === 'inbound' && {
      forward_client_cert_details: 'APPEND_FORWARD',
      set_current_client_cert_details: { subject: true, uri: true, dns: true },
    }),
    // No tracer is named: requests are chosen to be traced, and no span is made.
    tracing: { client_sampling: percent(100), random_sampling: percent(1), overall_sampling: percent(100) },
    route_config: renderRoutes(model, direction),
    ...(isIstios ? {} : { access_log: [renderRequestStats(model, part)] }),
    http_filters: renderFilters(model, part),
  })
}

/** @param {SidecarModel} model @param {Direction} direction */
function renderRoutes(model, direction) {
  const { virtual_hosts, ...config } = renderRouteConfig(model, direction)
  const isOutbound = direction === 'outbound'
  const retry_policy = isOutbound
    ? {
        retry_on: 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes',
        num_retries: 2,
        host_selection_retry_max_attempts: 5,
        retry_host_predicate: [
          extension(
            'envoy.retry_host_predicates.previous_hosts',
            'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
          ),
        ],
      }
    : { retry_on: 'reset-before-request', num_retries: 2 }
  return {
    ...config,
    validate_clusters: false,
    virtual_hosts: virtual_hosts.map(({ name, domains, routes }) => ({
      name,
      domains,
      include_request_attempt_count: isOutbound,
      routes: routes.map(({ match, route }) => ({
        name: 'default',
        match,
        decorator: { operation: `${nameHost(isOutbound ? name : model.service)}:8080/*` },
        route: { ...route, max_grpc_timeout: '0s', retry_policy },
      })),
    })),
  }
}

/** @param {SidecarModel} model @param {Cluster} cluster */
function renderIstioCluster(model, cluster) {
  const { name, type, connect_timeout, load_assignment } = renderCluster(model, cluster)
  const limit = { max_connections: MOST, max_pending_requests: MOST, max_requests: MOST, max_retries: MOST }
  const { address, redirectedPorts = [] } = model.inbound ?? {}
  // A proxy calls its application at the address that the client meant.
  const meansDestination = cluster.endpoints.every(own => own.address === address && redirectedPorts.includes(own.port))
  return {
    name,
    connect_timeout,
    ...(meansDestination
      ? {
          type: 'ORIGINAL_DST',
          lb_policy: 'CLUSTER_PROVIDED',
          cleanup_interval: '9223372035s',
          upstream_bind_config: { source_address: { address: OWN_SOURCE, port_value: 0 } },
        }
      : { type, lb_policy: 'LEAST_REQUEST', load_assignment }),
    circuit_breakers: { thresholds: [{ ...limit, track_remaining: true }] },
    common_lb_config: {},
    ...(cluster.protocol === 'http/2' && renderUpstreamHttp({ explicit_http_config: { http2_protocol_options: {} } })),
    ...(cluster.mtls && {
      transport_socket: renderTransport('Upstream', {
        sni: nameSni(cluster.mtls.serverName),
        common_tls_context: renderContext(model, {
          tls_params: TLS_VERSIONS,
          alpn_protocols:
            cluster.protocol === 'http/2' ? ['istio-h2', 'istio', 'h2'] : ['istio-http/1.1', 'istio', 'http/1.1'],
          sans: cluster.mtls.acceptedIdentities?.map(exact => ({ san_type: 'URI', matcher: { exact } })),
        }),
      }),
    }),
  }
}

/** @param {SidecarModel} model @param {{ tls_params: object, alpn_protocols: string[], sans?: object[] }} own sans: absent: any */
function renderContext(model, { tls_params, alpn_protocols, sans }) {
  const { tls_certificates, validation_context } = renderTls(model, null)
  return {
    tls_params,
    alpn_protocols,
    tls_certificates,
    validation_context: { ...validation_context, ...(sans ? { match_typed_subject_alt_names: sans } : {}) },
  }
}
