import { renderRouteConfig } from '../routes.js'
import { copyChainsForPorts, renderExtension, renderSocketAddress } from '../shared.js'
import { renderTransportSocket } from '../tls.js'
import { renderIstioFilters, renderRequestStats } from './filters.js'
import { renderServiceHost } from './names.js'
import { renderIstioTlsContext, TLS_VERSIONS } from './tls.js'

/** The listeners of Istio's proxy (pilot/pkg/networking/core: listener_inbound.go, listener.go, listener_builder.go). */
/** @import { SidecarModel } from '../../../model/types.ts' */
/** @import { Direction, HttpChain } from './filters.js' */

const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const LISTENER = 'envoy.extensions.filters.listener'
const CIPHERS = [
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'AES128-GCM-SHA256'],
]
const INBOUND_RETRIES = { retry_on: 'reset-before-request', num_retries: 2 }
const OUTBOUND_RETRIES = {
  retry_on: 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes',
  num_retries: 2,
  host_selection_retry_max_attempts: 5,
  retry_host_predicate: [
    renderExtension(
      'envoy.retry_host_predicates.previous_hosts',
      'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
    ),
  ],
}
const MTLS_ALPN = ['istio', 'istio-peer-exchange', 'istio-http/1.0', 'istio-http/1.1', 'istio-h2']

/**
 * Renders the listeners of the directions that a model has.
 * @param {SidecarModel} model
 * @param {boolean} hasIstioFilters the build has Istio's own filters
 * @returns listeners of Envoy's v3 API, inbound first
 */
export function renderIstioListeners(model, hasIstioFilters) {
  const { inbound, outbound } = model
  return [
    ...(inbound ? [renderInboundListener(model, inbound, hasIstioFilters)] : []),
    ...(outbound ? renderOutboundListeners(model, outbound, hasIstioFilters) : []),
  ]
}

/**
 * Renders the one listener of all inbound ports; with redirected ports, it takes connections to these only.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {boolean} hasIstioFilters the build has Istio's own filters
 */
function renderInboundListener(model, inbound, hasIstioFilters) {
  const chains = renderIstioInboundChains(model, inbound, hasIstioFilters)
  return {
    name: 'virtualInbound',
    traffic_direction: 'INBOUND',
    address: renderSocketAddress(inbound),
    continue_on_listener_filters_timeout: true,
    listener_filters_timeout: '0s',
    listener_filters: renderListenerFilters(inbound),
    filter_chains: inbound.redirectedPorts ? copyChainsForPorts(chains, inbound.redirectedPorts) : chains,
  }
}

/**
 * Renders the filter chains of the inbound listener: of mTLS (strict), of plaintext (disabled), or both (permissive). A policy admits the
 * accepted identities alone if mTLS is strict.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {boolean} hasIstioFilters the build has Istio's own filters
 */
function renderIstioInboundChains(model, { mtls, acceptedIdentities }, hasIstioFilters) {
  const allowedIdentities = mtls === 'strict' ? acceptedIdentities : null
  const common = { direction: /** @type {const} */ ('inbound'), hasIstioFilters, allowedIdentities }
  const tls = {
    filters: [renderIstioManager(model, { ...common, isFromProxy: true })],
    transport_socket: renderTransportSocket('Downstream', {
      require_client_certificate: true,
      common_tls_context: renderIstioTlsContext(model, {
        tls_params: { ...TLS_VERSIONS, cipher_suites: CIPHERS },
        alpn_protocols: ['h2', 'http/1.1'],
        // Any workload of the trust domain may connect: a policy says who may call.
        sans: [{ san_type: 'URI', matcher: { prefix: `${/^spiffe:\/\/[^/]+\//.exec(model.identity)?.[0]}` } }],
      }),
    }),
  }
  const plaintext = {
    filter_chain_match: { transport_protocol: 'raw_buffer' },
    filters: [renderIstioManager(model, { ...common, isFromProxy: mtls === 'disabled' })],
  }
  const tlsMatch = { transport_protocol: 'tls' }
  const chains = {
    strict: [{ filter_chain_match: tlsMatch, ...tls }],
    permissive: [{ filter_chain_match: { ...tlsMatch, application_protocols: MTLS_ALPN }, ...tls }, plaintext],
    disabled: [plaintext],
  }
  return chains[mtls]
}

/**
 * Renders the inbound listener filters: TLS and HTTP, behind original destination if connections are redirected.
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 */
function renderListenerFilters({ port, redirectedPorts }) {
  return [
    ...(redirectedPorts
      ? [renderExtension('envoy.filters.listener.original_dst', `${LISTENER}.original_dst.v3.OriginalDst`)]
      : []),
    renderExtension('envoy.filters.listener.tls_inspector', `${LISTENER}.tls_inspector.v3.TlsInspector`, {
      initial_read_buffer_size: 512,
    }),
    {
      ...renderExtension('envoy.filters.listener.http_inspector', `${LISTENER}.http_inspector.v3.HttpInspector`),
      // Ports that are declared http are not sniffed.
      filter_disabled: renderPortMatch(redirectedPorts ?? [port]),
    },
  ]
}

/** Renders a match of any of the ports; Envoy refuses an `or_match` of one rule. @param {number[]} ports */
function renderPortMatch(ports) {
  const rules = ports.map(port => ({ destination_port_range: { start: port, end: port + 1 } }))
  return rules.length === 1 ? rules[0] : { or_match: { rules } }
}

/**
 * Renders the outbound listeners: one for each redirected port, behind one that takes all redirected connections and hands them on;
 * without redirection a single one.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['outbound']>} outbound
 * @param {boolean} hasIstioFilters the build has Istio's own filters
 */
function renderOutboundListeners(model, outbound, hasIstioFilters) {
  const { redirectedPorts } = outbound
  /** @type {HttpChain} */
  const chain = { direction: 'outbound', hasIstioFilters, isFromProxy: true, allowedIdentities: null }
  const listener = {
    traffic_direction: 'OUTBOUND',
    filter_chains: [{ filters: [renderIstioManager(model, chain)] }],
  }
  if (!redirectedPorts) return [{ name: 'outbound', address: renderSocketAddress(outbound), ...listener }]
  const tcp = 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'
  return [
    {
      name: 'virtualOutbound',
      traffic_direction: 'OUTBOUND',
      address: renderSocketAddress(outbound),
      use_original_dst: true,
      filter_chains: [
        {
          filters: [
            renderExtension('envoy.filters.network.tcp_proxy', tcp, {
              stat_prefix: 'BlackHoleCluster',
              cluster: 'BlackHoleCluster',
            }),
          ],
        },
      ],
    },
    ...redirectedPorts.map(port => ({
      name: `0.0.0.0_${port}`,
      address: renderSocketAddress({ address: '0.0.0.0', port }),
      bind_to_port: false,
      ...listener,
    })),
  ]
}

/**
 * Renders the HTTP connection manager of a chain. A build without Istio's own filters gets the stand-in for istio.stats as its access log.
 * @param {SidecarModel} model
 * @param {HttpChain} chain
 */
function renderIstioManager(model, chain) {
  const { direction, hasIstioFilters } = chain
  const renderPercent = (/** @type {number} */ value) => ({ value })
  return renderExtension('envoy.filters.network.http_connection_manager', MANAGER, {
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
    // Requests are sampled as in Istio, but without a provider no span is made.
    tracing: {
      client_sampling: renderPercent(100),
      random_sampling: renderPercent(1),
      overall_sampling: renderPercent(100),
    },
    route_config: renderIstioRouteConfig(model, direction),
    ...(hasIstioFilters ? {} : { access_log: [renderRequestStats(model, chain)] }),
    http_filters: renderIstioFilters(model, chain),
  })
}

/**
 * Renders the lean routes with Istio's retries and names, and without a route's own features.
 * @param {SidecarModel} model
 * @param {Direction} direction
 */
function renderIstioRouteConfig(model, direction) {
  const { virtual_hosts, ...config } = renderRouteConfig(model, direction)
  const isOutbound = direction === 'outbound'
  const retry_policy = isOutbound ? OUTBOUND_RETRIES : INBOUND_RETRIES
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
        decorator: { operation: `${renderServiceHost(isOutbound ? name : model.service)}:8080/*` },
        route: { ...route, max_grpc_timeout: '0s', retry_policy },
      })),
    })),
  }
}
