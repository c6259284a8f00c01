import { listByteListeners } from '../../model/byte-listeners.js'
import { renderAccessLogs, renderFeatureFilters, renderTracing } from './features.js'
import { OSM, OSM_ACCESS_LOG, renderOsmFilters } from './osm.js'
import { renderRouteConfig } from './routes.js'
import {
  BUFFER_BYTES,
  copyChainsForPorts,
  HTTP2_OPTIONS,
  renderExtension,
  renderProtoDuration,
  renderSocketAddress,
} from './shared.js'
import { renderTlsContext, renderTransportSocket } from './tls.js'

/**
 * @import { ByteListener } from '../../model/byte-listeners.js'
 * @import { Endpoint, SidecarModel } from '../../model/types.ts'
 */
/** @typedef {Endpoint & { redirectedPorts?: number[] }} Listener */

/**
 * The config sources from which Envoy gets the routes of each listener, and the certificate; absent: they are in the bootstrap.
 * @typedef {Partial<Record<'inbound' | 'outbound' | 'certificate', unknown>>} Sources
 */

const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
// Envoy's own answer is 503 if a connect timed out; here it is 504, as with other planes.
const CONNECT_TIMEOUT_IS_504 = {
  filter: {
    extension_filter: renderExtension(
      'envoy.access_loggers.extension_filters.cel',
      'envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
      { expression: "response.code_details.contains('connection_timeout')" },
    ),
  },
  status_code: 504,
}

/**
 * Renders the listeners of a model: of requests, one for each direction that it has; of bytes, one for each route, whatever the profile and
 * the sources.
 * @param {SidecarModel} model
 * @param {string | null} profile one of PROFILES; null: the first; any but osm-1.1 renders as lean
 * @param {Sources} sources
 * @returns listeners of Envoy's v3 API, inbound first
 */
export function renderListeners(model, profile, sources) {
  if (model.carriesBytes) return renderByteListeners(model)
  const renderManager = (/** @type {'inbound' | 'outbound'} */ direction) =>
    renderConnectionManager(model, { direction, profile, source: sources[direction] })
  const { inbound, outbound } = model
  const listeners = []
  if (inbound) {
    const chains = renderInboundChains(model, renderManager('inbound'), sources.certificate)
    listeners.push(renderListener('inbound', inbound, chains))
  }
  if (outbound) listeners.push(renderListener('outbound', outbound, renderOutboundChains(renderManager('outbound'))))
  return listeners
}

/** Renders a listener for each route of a model that carries bytes, inbound first. @param {SidecarModel} model */
function renderByteListeners(model) {
  return listByteListeners(model).map(byteListener => {
    const filter = renderTcpProxy(model, byteListener)
    const isInbound = byteListener.direction === 'inbound'
    const chains = isInbound ? renderInboundChains(model, filter) : renderOutboundChains(filter)
    return renderListener(byteListener.name, byteListener, chains)
  })
}

/**
 * Renders a listener, of redirected connections if it has redirected ports.
 * @param {string} name
 * @param {Listener} listener
 * @param {ReturnType<typeof renderInboundChains | typeof renderOutboundChains>} chains with the listener filters that they need
 */
function renderListener(name, listener, chains) {
  const envoyListener = {
    name,
    address: renderSocketAddress(listener),
    per_connection_buffer_limit_bytes: BUFFER_BYTES,
    ...chains,
  }
  return listener.redirectedPorts ? matchOriginalPorts(envoyListener, listener.redirectedPorts) : envoyListener
}

/** Renders the one filter chain of an outbound listener. @param {object} filter */
function renderOutboundChains(filter) {
  return { filter_chains: [{ filters: [filter] }] }
}

/**
 * Renders the filter chains of an inbound listener: for peers with TLS (strict), without (disabled), or for both (permissive, with the
 * listener filter that tells them apart).
 * @param {SidecarModel} model with an inbound listener
 * @param {object} filter
 * @param {unknown} [source] config source of the certificate; absent: its files
 */
function renderInboundChains(model, filter, source) {
  const inbound = /** @type {NonNullable<SidecarModel['inbound']>} */ (model.inbound)
  const tlsChain = {
    filters: [filter],
    transport_socket: renderTransportSocket('Downstream', {
      require_client_certificate: true,
      disable_stateless_session_resumption: true,
      disable_stateful_session_resumption: true,
      common_tls_context: renderTlsContext(model, inbound.acceptedIdentities, source),
    }),
  }
  const plainChain = { filters: [filter] }
  const permissive = {
    listener_filters: [
      renderExtension(
        'envoy.filters.listener.tls_inspector',
        'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
      ),
    ],
    filter_chains: [
      { filter_chain_match: { transport_protocol: 'tls' }, ...tlsChain },
      { filter_chain_match: { transport_protocol: 'raw_buffer' }, ...plainChain },
    ],
  }
  const chains = { strict: { filter_chains: [tlsChain] }, disabled: { filter_chains: [plainChain] }, permissive }
  return chains[inbound.mtls]
}

/**
 * Adds the listener filter original_dst, and a filter chain match on each redirected port: Envoy closes connections to others.
 * @param {{ filter_chains: { filter_chain_match?: object, filters: object[] }[], listener_filters?: object[] }} envoyListener
 * @param {number[]} redirectedPorts
 */
function matchOriginalPorts(envoyListener, redirectedPorts) {
  const { filter_chains, listener_filters = [] } = envoyListener
  return {
    ...envoyListener,
    listener_filters: [
      renderExtension(
        'envoy.filters.listener.original_dst',
        'envoy.extensions.filters.listener.original_dst.v3.OriginalDst',
      ),
      ...listener_filters,
    ],
    filter_chains: copyChainsForPorts(filter_chains, redirectedPorts),
  }
}

/**
 * Renders the HTTP connection manager of a listener: its routes, timeouts, filters and access logs.
 * @param {SidecarModel} model
 * @param {{ direction: 'inbound' | 'outbound', profile: string | null, source?: unknown }} options profile: one of PROFILES;
 *   null: the first; source: config source of the routes; absent: they are in the manager itself
 */
function renderConnectionManager(model, { direction, profile, source }) {
  const isOsm = profile === OSM
  const accessLogs = isOsm ? [OSM_ACCESS_LOG] : renderAccessLogs(model.features)
  const hasHttp2 = model.carriesGrpc || (direction === 'inbound' && model.inbound?.protocol === 'http/2')
  return renderExtension('envoy.filters.network.http_connection_manager', MANAGER, {
    stat_prefix: direction,
    ...(hasHttp2 ? { codec_type: 'AUTO', http2_protocol_options: HTTP2_OPTIONS } : { codec_type: 'HTTP1' }),
    generate_request_id: isOsm,
    server_header_transformation: 'PASS_THROUGH',
    skip_xff_append: true,
    stream_idle_timeout: renderProtoDuration(model.timeouts.idleSeconds),
    common_http_protocol_options: { idle_timeout: renderProtoDuration(model.timeouts.idleSeconds) },
    ...(source
      ? { rds: { route_config_name: direction, config_source: source } }
      : { route_config: renderRouteConfig(model, direction) }),
    ...renderTracing(model),
    local_reply_config: { mappers: [CONNECT_TIMEOUT_IS_504] },
    ...(accessLogs.length > 0 ? { access_log: accessLogs } : {}),
    http_filters: [
      ...(isOsm ? renderOsmFilters(model) : renderFeatureFilters(model.features, model[direction]?.routes ?? [])),
      renderExtension('envoy.filters.http.router', 'envoy.extensions.filters.http.router.v3.Router', {
        dynamic_stats: isOsm || 'metrics' in model.features,
        suppress_envoy_headers: true,
      }),
    ],
  })
}

/**
 * Renders the filter of a listener that carries bytes to one cluster. It tries a connect again as often as the model retries.
 * @param {SidecarModel} model
 * @param {ByteListener} listener
 */
function renderTcpProxy({ retries, timeouts }, { name, cluster }) {
  return renderExtension('envoy.filters.network.tcp_proxy', 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    stat_prefix: name,
    cluster: cluster.name,
    max_connect_attempts: retries + 1,
    idle_timeout: renderProtoDuration(timeouts.idleSeconds),
  })
}
