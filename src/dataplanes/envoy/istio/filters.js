import { renderRbac } from '../features.js'
import { renderExtension } from '../shared.js'
import { createPeerHeaders, NAMESPACE, renderServiceHost } from './names.js'
import { UPSTREAM_ALPN } from './tls.js'

/** @import { SidecarModel } from '../../../model/types.ts' */
/** @typedef {'inbound' | 'outbound'} Direction */

const HTTP = 'envoy.extensions.filters.http'
// Headers by which proxies describe their pods to each other.
const PEER_HEADERS = ['x-envoy-peer-metadata-id', 'x-envoy-peer-metadata']

/**
 * A filter chain that handles HTTP.
 * @typedef {object} HttpChain
 * @property {Direction} direction
 * @property {boolean} hasIstioFilters the build has Istio's own filters
 * @property {boolean} isFromProxy the peer is another proxy of the mesh
 * @property {string[] | null} allowedIdentities of a policy; null: no policy; []: nobody may call
 */

/**
 * Renders the HTTP filters in Istio's order (pilot/pkg/networking/core/listener_builder.go). A build without Istio's own filters gets
 * neither istio.alpn nor istio.stats and, if the peer is a proxy, headers of the peer in place of metadata_exchange.
 * @param {SidecarModel} model
 * @param {HttpChain} chain
 * @returns HTTP filters of Envoy's v3 API, the router last
 */
export function renderIstioFilters({ service }, { direction, hasIstioFilters, isFromProxy, allowedIdentities }) {
  const isOutbound = direction === 'outbound'
  return [
    ...(hasIstioFilters ? [renderMetadataExchange(direction)] : []),
    ...(!hasIstioFilters && isFromProxy ? renderPeerHeaders(service, direction) : []),
    // An AuthorizationPolicy becomes this filter.
    ...(allowedIdentities
      ? [renderExtension('envoy.filters.http.rbac', `${HTTP}.rbac.v3.RBAC`, { rules: renderRbac(allowedIdentities) })]
      : []),
    renderExtension('envoy.filters.http.grpc_stats', `${HTTP}.grpc_stats.v3.FilterConfig`, {
      emit_filter_state: true,
      stats_for_all_methods: false,
    }),
    ...(hasIstioFilters && isOutbound ? [renderAlpnFilter()] : []),
    renderExtension('envoy.filters.http.fault', `${HTTP}.fault.v3.HTTPFault`),
    renderExtension('envoy.filters.http.cors', `${HTTP}.cors.v3.Cors`),
    ...(hasIstioFilters
      ? [
          renderTypedStruct(
            'istio.stats',
            'stats.PluginConfig',
            isOutbound ? {} : { disable_host_header_fallback: true },
          ),
        ]
      : []),
    renderExtension('envoy.filters.http.router', `${HTTP}.router.v3.Router`),
  ]
}

/** @param {Direction} direction */
function renderMetadataExchange(direction) {
  const end = direction === 'inbound' ? 'downstream' : 'upstream'
  return renderTypedStruct('istio.metadata_exchange', 'io.istio.http.peer_metadata.Config', {
    [`${end}_discovery`]: [{ istio_headers: {} }, { workload_discovery: {} }],
    [`${end}_propagation`]: [{ istio_headers: {} }],
  })
}

function renderAlpnFilter() {
  return renderExtension('istio.alpn', 'istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig', {
    alpn_override: Object.entries(UPSTREAM_ALPN).map(([upstream_protocol, alpn_override]) => ({
      upstream_protocol,
      alpn_override,
    })),
  })
}

/**
 * Renders the stand-in for istio.metadata_exchange: two filters that add the headers of this pod, and move those of the peer into metadata.
 * @param {string} service
 * @param {Direction} direction
 */
function renderPeerHeaders(service, direction) {
  const { id, encoded } = createPeerHeaders(service)
  const isInbound = direction === 'inbound'
  const [sent, received] = isInbound ? ['response', 'request'] : ['request', 'response']
  const headersToAdd = PEER_HEADERS.map((key, i) => ({ append: { header: { key, value: [id, encoded][i] } } }))
  const headersToMove = PEER_HEADERS.map(header => ({
    header,
    on_header_present: { metadata_namespace: 'istio', key: header, type: 'STRING' },
    remove: true,
  }))
  return [
    renderExtension('envoy.filters.http.header_to_metadata', `${HTTP}.header_to_metadata.v3.Config`, {
      [`${received}_rules`]: headersToMove,
    }),
    renderExtension('envoy.filters.http.header_mutation', `${HTTP}.header_mutation.v3.HeaderMutation`, {
      mutations: { [`${sent}_mutations`]: headersToAdd },
    }),
  ]
}

/**
 * Renders a filter whose configuration has no type in Envoy's API.
 * @param {string} name
 * @param {string} type of its configuration, without the prefix of the URL
 * @param {object} value the configuration
 */
function renderTypedStruct(name, type, value) {
  return renderExtension(name, 'udpa.type.v1.TypedStruct', { type_url: `type.googleapis.com/${type}`, value })
}

/**
 * Renders the stand-in for istio.stats: an access logger with the same four statistics and labels.
 * @param {SidecarModel} model
 * @param {HttpChain} chain
 * @returns an access log of Envoy's v3 API
 */
export function renderRequestStats(model, chain) {
  const labels = Object.entries(createRequestLabels(model, chain))
  const renderStat = (/** @type {string} */ stat) => ({
    name: `istio_${stat}`,
    tags: labels.map(([name, value_format]) => ({ name, value_format })),
  })
  return renderExtension('envoy.access_loggers.stats', 'envoy.extensions.access_loggers.stats.v3.Config', {
    stat_prefix: 'istiocustom',
    counters: [{ stat: renderStat('requests_total'), value_fixed: 1 }],
    histograms: [
      { stat: renderStat('request_duration_milliseconds'), unit: 'Milliseconds', value_format: '%DURATION%' },
      { stat: renderStat('request_bytes'), unit: 'Bytes', value_format: '%BYTES_RECEIVED%' },
      { stat: renderStat('response_bytes'), unit: 'Bytes', value_format: '%BYTES_SENT%' },
    ],
  })
}

/**
 * Creates the labels of a request, whose values are Envoy's command operators or fixed.
 * @param {SidecarModel} model
 * @param {HttpChain} chain
 */
function createRequestLabels({ service, clusters }, { direction, isFromProxy }) {
  const isOutbound = direction === 'outbound'
  // The labels of an outbound chain name one callee: the first that is called over mTLS.
  const callee = isOutbound ? (clusters.find(({ mtls }) => mtls)?.name ?? service) : service
  const peer = `%DYNAMIC_METADATA(istio:${PEER_HEADERS[0]})%`
  const [source, destination] = isOutbound ? [service, peer] : [peer, service]
  const [sourcePrincipal, destinationPrincipal] = isOutbound
    ? ['%DOWNSTREAM_LOCAL_URI_SAN%', '%UPSTREAM_PEER_URI_SAN%']
    : ['%DOWNSTREAM_PEER_URI_SAN%', '%DOWNSTREAM_LOCAL_URI_SAN%']
  const inboundPolicy = isFromProxy ? 'mutual_tls' : 'none'
  return {
    reporter: isOutbound ? 'source' : 'destination',
    ...createEndLabels('source', source, sourcePrincipal),
    ...createEndLabels('destination', destination, destinationPrincipal),
    destination_service: renderServiceHost(callee),
    destination_service_name: callee,
    destination_service_namespace: NAMESPACE,
    request_protocol: 'http',
    response_code: '%RESPONSE_CODE%',
    grpc_response_status: '%GRPC_STATUS_NUMBER%',
    response_flags: '%RESPONSE_FLAGS%',
    connection_security_policy: isOutbound ? 'unknown' : inboundPolicy,
  }
}

/**
 * Creates the labels of one end of a request.
 * @param {'source' | 'destination'} end
 * @param {string} workload its name, or a command operator that gives it
 * @param {string} principal the command operator that gives its identity
 */
function createEndLabels(end, workload, principal) {
  const names = ['workload', 'canonical_service', 'app']
  return {
    ...Object.fromEntries(names.map(name => [`${end}_${name}`, workload])),
    [`${end}_workload_namespace`]: NAMESPACE,
    [`${end}_principal`]: principal,
    [`${end}_canonical_revision`]: 'latest',
    [`${end}_version`]: 'unknown',
    [`${end}_cluster`]: 'Kubernetes',
  }
}
