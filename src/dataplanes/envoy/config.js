// The sidecar model as an Envoy bootstrap. What is pinned here, and why, is in README.md, "Fairness".

import {
  renderAccessLogs,
  renderFilters,
  renderOutlierDetection,
  renderRetryBudget,
  renderRouteFeatures,
  renderStatsConfig,
  renderTracing,
} from './features.js'

/**
 * @import { Cluster, SidecarModel } from '../../model/types.ts'
 */

/** What OSM 1.1 shipped. */
export const OSM = 'osm-1.1'
export const PROFILES = ['lean', OSM]

export const TYPE = 'type.googleapis.com/'
const UNLIMITED = 1_000_000_000
const BUFFER_BYTES = 1024 * 1024
// Both planes are given Pipy's windows: Envoy's own are 16 and 24 MiB.
export const HTTP2_OPTIONS = { initial_stream_window_size: 1024 * 1024, initial_connection_window_size: 1024 * 1024 }
const NOBODY = 'spiffe://sidecar-bench/nobody'
const RETRY_INTERVAL = '0.001s'

/** @typedef {Partial<Record<'inbound' | 'outbound', unknown>>} RouteSources where the routes of a listener come from; absent: they are in it */

/**
 * @param {SidecarModel} model
 * @param {string | null} profile one of PROFILES; null: the first
 * @param {RouteSources} [sources]
 */
export function renderBootstrap(model, profile, sources = {}) {
  return {
    ...renderOwn(model),
    static_resources: {
      listeners: renderListeners(model, profile, sources),
      clusters: model.clusters.map(cluster => renderCluster(model, cluster)),
    },
  }
}

/**
 * What is in a bootstrap wherever the rest comes from.
 * @param {SidecarModel} model
 */
export function renderOwn(model) {
  return {
    node: { id: model.service, cluster: model.service },
    admin: { address: socketAddress(model.admin) },
    ...renderStatsConfig(model.features),
  }
}

/**
 * @param {SidecarModel} model
 * @param {string | null} profile one of PROFILES; null: the first
 * @param {RouteSources} sources
 */
export function renderListeners(model, profile, sources) {
  const renderManager = (/** @type {'inbound' | 'outbound'} */ direction) =>
    renderConnectionManager(model, { direction, profile, source: sources[direction] })
  const listeners = []
  if (model.inbound) listeners.push(renderInbound(model, model.inbound, renderManager('inbound')))
  if (model.outbound) {
    listeners.push({
      name: 'outbound',
      address: socketAddress(model.outbound),
      per_connection_buffer_limit_bytes: BUFFER_BYTES,
      filter_chains: [{ filters: [renderManager('outbound')] }],
    })
  }
  return listeners
}

/**
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {ReturnType<typeof renderConnectionManager>} manager
 */
function renderInbound(model, inbound, manager) {
  const tlsChain = {
    filters: [manager],
    transport_socket: {
      name: 'envoy.transport_sockets.tls',
      typed_config: {
        '@type': `${TYPE}envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext`,
        require_client_certificate: true,
        disable_stateless_session_resumption: true,
        disable_stateful_session_resumption: true,
        common_tls_context: renderTls(model, inbound.acceptedIdentities),
      },
    },
  }
  const plainChain = { filters: [manager] }
  const permissive = {
    listener_filters: [
      {
        name: 'envoy.filters.listener.tls_inspector',
        typed_config: { '@type': `${TYPE}envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector` },
      },
    ],
    filter_chains: [
      { filter_chain_match: { transport_protocol: 'tls' }, ...tlsChain },
      { filter_chain_match: { transport_protocol: 'raw_buffer' }, ...plainChain },
    ],
  }
  return {
    name: 'inbound',
    address: socketAddress(inbound),
    per_connection_buffer_limit_bytes: BUFFER_BYTES,
    ...{ strict: { filter_chains: [tlsChain] }, disabled: { filter_chains: [plainChain] }, permissive }[inbound.mtls],
  }
}

/**
 * @param {SidecarModel} model
 * @param {{ direction: 'inbound' | 'outbound', profile: string | null, source?: unknown }} options profile: one of PROFILES;
 *   null: the first; source: of the routes
 */
function renderConnectionManager(model, { direction, profile, source }) {
  const isOsm = profile === OSM
  const accessLogs = isOsm ? [OSM_ACCESS_LOG] : renderAccessLogs(model.features)
  const hasHttp2 = direction === 'inbound' && model.inbound?.protocol === 'http/2'
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: {
      '@type': `${TYPE}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: direction,
      ...(hasHttp2 ? { codec_type: 'AUTO', http2_protocol_options: HTTP2_OPTIONS } : { codec_type: 'HTTP1' }),
      generate_request_id: isOsm,
      server_header_transformation: 'PASS_THROUGH',
      skip_xff_append: true,
      stream_idle_timeout: seconds(model.timeouts.idleSeconds),
      common_http_protocol_options: { idle_timeout: seconds(model.timeouts.idleSeconds) },
      ...(source
        ? { rds: { route_config_name: direction, config_source: source } }
        : { route_config: renderRouteConfig(model, direction) }),
      ...renderTracing(model),
      local_reply_config: { mappers: [CONNECT_TIMEOUT_IS_504] },
      ...(accessLogs.length > 0 ? { access_log: accessLogs } : {}),
      http_filters: [
        ...(isOsm ? renderOsmFilters(model) : renderFilters(model.features, model[direction]?.routes ?? [])),
        {
          name: 'envoy.filters.http.router',
          typed_config: {
            '@type': `${TYPE}envoy.extensions.filters.http.router.v3.Router`,
            dynamic_stats: isOsm || 'metrics' in model.features,
            suppress_envoy_headers: true,
          },
        },
      ],
    },
  }
}

/**
 * @param {SidecarModel} model
 * @param {'inbound' | 'outbound'} direction
 */
export function renderRouteConfig(model, direction) {
  const virtual_hosts = renderHosts(model, direction)
  return { name: direction, ignore_port_in_host_matching: true, virtual_hosts }
}

// Envoy answers 503 where the connect timeout ran out; both planes answer 504 here.
const CONNECT_TIMEOUT_IS_504 = {
  filter: {
    extension_filter: {
      name: 'envoy.access_loggers.extension_filters.cel',
      typed_config: {
        '@type': `${TYPE}envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter`,
        expression: "response.code_details.contains('connection_timeout')",
      },
    },
  },
  status_code: 504,
}

/**
 * One virtual host per name and one for any, each with its routes in order: first match wins, and a
 * thousand services cost a request one look-up (as in pipy-scripts/router.js).
 * @param {SidecarModel} model
 * @param {'inbound' | 'outbound'} direction
 */
function renderHosts(model, direction) {
  const routes = model[direction]?.routes ?? []
  const names = [...new Set(routes.map(route => route.host))]
  const hosts = names.includes(null) ? names : [...names, null]
  return hosts.map(host => ({
    name: host ?? 'any',
    domains: [host ?? '*'],
    routes: routes
      .filter(route => route.host === null || route.host === host)
      .map(route => ({
        ...renderRouteFeatures(model.features, { route, direction }),
        match: {
          prefix: route.pathPrefix,
          headers: Object.entries(route.headers).map(([name, exact]) => ({ name, string_match: { exact } })),
        },
        route: {
          timeout: seconds(model.timeouts.requestSeconds),
          ...(route.split.length === 1
            ? { cluster: route.split[0].cluster }
            : {
                weighted_clusters: { clusters: route.split.map(({ cluster, weight }) => ({ name: cluster, weight })) },
              }),
          ...(model.retries > 0
            ? {
                retry_policy: {
                  retry_on: 'connect-failure',
                  num_retries: model.retries,
                  retry_back_off: { base_interval: RETRY_INTERVAL },
                },
              }
            : {}),
        },
      })),
  }))
}

/**
 * @param {SidecarModel} model
 * @param {Cluster} cluster
 */
export function renderCluster(model, cluster) {
  const { name, endpoints, balancing, mtls, protocol, maxRequests } = cluster
  const breaker = model.features['circuit-breaker']
  return {
    name,
    type: 'STATIC',
    connect_timeout: seconds(model.timeouts.connectSeconds),
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
      endpoints: [{ lb_endpoints: endpoints.map(endpoint => ({ endpoint: { address: socketAddress(endpoint) } })) }],
    },
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPE}envoy.extensions.upstreams.http.v3.HttpProtocolOptions`,
        common_http_protocol_options: { idle_timeout: seconds(model.timeouts.requestSeconds) },
        explicit_http_config:
          protocol === 'http/2' ? { http2_protocol_options: HTTP2_OPTIONS } : { http_protocol_options: {} },
      },
    },
    ...(mtls
      ? {
          transport_socket: {
            name: 'envoy.transport_sockets.tls',
            typed_config: {
              '@type': `${TYPE}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
              sni: mtls.serverName,
              max_session_keys: 0,
              common_tls_context: renderTls(model, mtls.acceptedIdentities),
            },
          },
        }
      : {}),
  }
}

/**
 * @param {SidecarModel} model
 * @param {string[] | null} acceptedIdentities
 */
function renderTls({ tls, trust }, acceptedIdentities) {
  return {
    tls_params: {
      tls_minimum_protocol_version: 'TLSv1_3',
      tls_maximum_protocol_version: 'TLSv1_3',
      ecdh_curves: [tls.group],
    },
    tls_certificates: [
      { certificate_chain: { filename: trust.certificatePath }, private_key: { filename: trust.keyPath } },
    ],
    validation_context: {
      trusted_ca: { filename: trust.caPath },
      ...(acceptedIdentities ? { match_typed_subject_alt_names: renderAccepted(acceptedIdentities) } : {}),
    },
  }
}

/**
 * An empty list would accept everybody; who accepts nobody names an identity that nobody has.
 * @param {string[]} identities
 */
function renderAccepted(identities) {
  const named = identities.length > 0 ? identities : [NOBODY]
  return named.map(exact => ({ san_type: 'URI', matcher: { exact } }))
}

/** @param {{ address: string, port: number }} endpoint */
export function socketAddress({ address, port }) {
  return { socket_address: { address, port_value: port } }
}

/** @param {number} value */
function seconds(value) {
  return `${value}s`
}

// --- The profile osm-1.1: what OSM 1.1 asked of its Envoy (docs of openservicemesh/osm v1.1, pkg/envoy/lds) ---

// Its Wasm stats filter cannot be had; a second Lua script that reads the same headers stands for it.
/** @param {SidecarModel} model */
function renderOsmFilters({ service }) {
  const add = ['namespace', 'kind', 'name', 'pod'].map(key => `h:add('osm-stats-${key}', '${service}')`).join(' ')
  const drop = ['namespace', 'kind', 'name', 'pod'].map(key => `h:get('osm-stats-${key}') h:remove('osm-stats-${key}')`)
  return [
    {
      name: 'envoy.filters.http.rbac',
      typed_config: {
        '@type': `${TYPE}envoy.extensions.filters.http.rbac.v3.RBAC`,
        rules: { action: 'ALLOW', policies: { any: { permissions: [{ any: true }], principals: [{ any: true }] } } },
      },
    },
    // Responses pass the filters from the last to the first.
    luaFilter(`function envoy_on_response(r) local h = r:headers() ${drop.join(' ')} end`),
    luaFilter(`function envoy_on_response(r) local h = r:headers() ${add} end`),
  ]
}

/** @param {string} code */
function luaFilter(code) {
  return {
    name: 'envoy.filters.http.lua',
    typed_config: {
      '@type': `${TYPE}envoy.extensions.filters.http.lua.v3.Lua`,
      default_source_code: { inline_string: code },
    },
  }
}

// OSM logs to stdout; the lines are formatted and written here too, and thrown away.
const OSM_ACCESS_LOG = {
  name: 'envoy.access_loggers.file',
  typed_config: {
    '@type': `${TYPE}envoy.extensions.access_loggers.file.v3.FileAccessLog`,
    path: '/dev/null',
    log_format: {
      json_format: {
        start_time: '%START_TIME%',
        method: '%REQ(:METHOD)%',
        path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
        protocol: '%PROTOCOL%',
        response_code: '%RESPONSE_CODE%',
        response_code_details: '%RESPONSE_CODE_DETAILS%',
        time_to_first_byte: '%RESPONSE_DURATION%',
        upstream_cluster: '%UPSTREAM_CLUSTER%',
        response_flags: '%RESPONSE_FLAGS%',
        bytes_received: '%BYTES_RECEIVED%',
        bytes_sent: '%BYTES_SENT%',
        duration: '%DURATION%',
        upstream_service_time: '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
        x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
        user_agent: '%REQ(USER-AGENT)%',
        request_id: '%REQ(X-REQUEST-ID)%',
        requested_server_name: '%REQUESTED_SERVER_NAME%',
        authority: '%REQ(:AUTHORITY)%',
        upstream_host: '%UPSTREAM_HOST%',
      },
    },
  },
}
