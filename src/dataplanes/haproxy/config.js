import { renderMilliseconds } from '../../lib/units.js'
import { listByteListeners } from '../../model/byte-listeners.js'
import { quoteConfigWord, renderBackend, renderBind, renderInboundFrontends } from './connections.js'
import { NO_ROUTE, renderMap, renderRoutes } from './routes.js'

/**
 * @import { Cluster, ProcessSpec, SidecarModel } from '../../model/types.ts'
 * @import { Section } from './connections.js'
 */

const HTTP2_WINDOW_BYTES = 1024 * 1024
// By default HAProxy derives this from its limit of open files, which in a container can be a billion, and takes memory for as many.
const MOST_CONNECTIONS = 9000

// A header marks HAProxy's own 503, not an application's, and is removed before the answer leaves.
const MARK = 'x-sidecar-bench-failed'
const IS_MARKED = `res.hdr(${MARK}) -m found`
const REMOVE_MARK = `del-header ${MARK}`
/** Whole responses for an upstream that failed; their status may differ from HAProxy's own, which they replace. */
const ERROR_FILES = [
  createErrorFile({
    replaces: 502,
    status: '503 Service Unavailable',
    reason: 'the upstream closed the connection without an answer',
  }),
  createErrorFile({
    replaces: 503,
    status: '503 Service Unavailable',
    reason: 'the upstream cannot be connected',
    headers: [`${MARK}: 1`],
  }),
  createErrorFile({
    replaces: 504,
    status: '504 Gateway Timeout',
    reason: 'no answer from the upstream in time',
  }),
]

/**
 * Renders haproxy.cfg, and the files that it names.
 * @param {SidecarModel} model
 * @param {string} folder where the files will be
 * @returns {ProcessSpec['files']} haproxy.cfg, a map of hosts for each direction, and error responses; for a sidecar that carries
 *   bytes only haproxy.cfg
 * @throws {Error} if a cluster with mTLS accepts several identities
 */
export function renderFiles(model, folder) {
  const { inbound, outbound, admin, carriesBytes } = model
  const sections = [
    renderGlobal(model),
    ...(carriesBytes ? renderTcpSections(model) : renderHttpSections(model, folder)),
    [
      'frontend admin',
      ...(carriesBytes ? ['mode http'] : []),
      `bind ${admin.address}:${admin.port}`,
      'http-request use-service prometheus-exporter',
    ],
  ]
  const configuration = { name: 'haproxy.cfg', content: sections.map(renderSection).join('\n') }
  if (carriesBytes) return [configuration]
  const maps = Object.entries({ inbound, outbound }).flatMap(([name, listener]) =>
    listener ? [{ name: `${name}.map`, content: renderMap(listener.routes) }] : [],
  )
  return [configuration, ...maps, ...ERROR_FILES]
}

/**
 * Renders the sections of a sidecar that carries requests: defaults, the frontends of each direction that it has, a backend for each
 * cluster, and the one that answers 404.
 * @param {SidecarModel} model
 * @param {string} folder of the maps and error responses
 * @returns {Section[]}
 * @throws {Error} as `renderBackend`
 */
function renderHttpSections(model, folder) {
  const { inbound, outbound, clusters } = model
  const renderRequestRules = (/** @type {'inbound' | 'outbound'} */ name) => [
    ...renderConnectTimeoutStatus(model),
    ...renderRoutes(model[name]?.routes ?? [], `${folder}/${name}.map`),
  ]
  const inboundOptions = inbound && {
    name: 'inbound',
    port: inbound.port,
    routing: renderRequestRules('inbound'),
    alpn: inbound.protocol === 'http/2' ? 'h2,http/1.1' : 'http/1.1',
    plaintext: ['tcp-request content switch-mode http if HTTP'],
  }
  return [
    renderDefaults(model, folder),
    ...(inboundOptions ? renderInboundFrontends(model, inboundOptions) : []),
    ...(outbound ? [['frontend outbound', ...renderBind(outbound), ...renderRequestRules('outbound')]] : []),
    ...clusters.map(cluster => renderCluster(model, cluster)),
    [`backend ${NO_ROUTE}`, 'http-request return status 404 content-type text/plain string "no route matches"'],
  ]
}

/**
 * Renders the backend of a cluster for requests, whose idle connections are closed after the request timeout.
 * @param {SidecarModel} model
 * @param {Cluster} cluster
 * @throws {Error} as `renderBackend`
 */
function renderCluster(model, cluster) {
  const isHttp2 = cluster.protocol === 'http/2'
  const serverOptions = [
    `pool-purge-delay ${renderMilliseconds(model.timeouts.requestSeconds)}`,
    ...(isHttp2 ? ['proto h2'] : []),
  ]
  return renderBackend(model, cluster, { serverOptions, alpn: isHttp2 ? 'h2' : 'http/1.1' })
}

/** @param {SidecarModel} model */
function renderGlobal({ workers }) {
  return [
    'global',
    `nbthread ${workers}`,
    `maxconn ${MOST_CONNECTIONS}`,
    'no strict-limits',
    'tune.ssl.cachesize 0',
    `tune.h2.initial-window-size ${HTTP2_WINDOW_BYTES}`,
  ]
}

/**
 * Renders the defaults for requests: timeouts, retries, and the responses in place of HAProxy's own.
 * @param {SidecarModel} model
 * @param {string} folder of the error responses
 */
function renderDefaults({ timeouts, retries, streamsAnswers }, folder) {
  return [
    'defaults',
    'mode http',
    'http-reuse always',
    `timeout connect ${renderMilliseconds(timeouts.connectSeconds)}`,
    `timeout client ${renderMilliseconds(timeouts.idleSeconds)}`,
    `timeout server ${renderMilliseconds(timeouts.requestSeconds)}`,
    `retries ${retries}`,
    // Without this option, HAProxy lets the kernel wait for more of an answer before it sends a chunk.
    ...(streamsAnswers ? ['option http-no-delay'] : []),
    // The retry goes to the next endpoint.
    'option redispatch 1',
    ...ERROR_FILES.map(({ name, replaces }) => `errorfile ${replaces} ${quoteConfigWord(`${folder}/${name}`)}`),
  ]
}

/**
 * Renders the change of 503 to 504 for connects that timed out, and the removal of the mark. HAProxy answers 503 to refused connects,
 * too, so the duration tells them apart: a try that times out takes the whole timeout, a refused one at most the pause before the next.
 * @param {SidecarModel} model
 * @returns lines of a frontend
 */
function renderConnectTimeoutStatus({ timeouts, retries }) {
  const timedOutMs = Math.round(timeouts.connectSeconds * (retries + 0.5) * 1000)
  return [
    'http-request set-var(txn.begin) date(0,ms)',
    `http-after-response set-status 504 if { status 503 } { ${IS_MARKED} } { date(0,ms),sub(txn.begin) ge ${timedOutMs} }`,
    `http-after-response ${REMOVE_MARK} if { status 503 504 }`,
  ]
}

/**
 * Renders the sections of a sidecar that carries bytes: defaults, the frontends of each route, and a backend for each cluster.
 * @param {SidecarModel} model
 * @returns {Section[]}
 * @throws {Error} as `renderBackend`
 */
function renderTcpSections(model) {
  const { clusters, retries, timeouts } = model
  const idle = renderMilliseconds(timeouts.idleSeconds)
  const frontends = listByteListeners(model).flatMap(({ cluster, direction, ...listener }) => {
    const routing = [`default_backend ${cluster.name}`]
    return direction === 'inbound'
      ? renderInboundFrontends(model, { ...listener, routing })
      : [[`frontend ${listener.name}`, ...renderBind(listener), ...routing]]
  })
  return [
    [
      'defaults',
      'mode tcp',
      `timeout connect ${renderMilliseconds(timeouts.connectSeconds)}`,
      ...[`timeout client ${idle}`, `timeout server ${idle}`],
      ...[`retries ${retries}`, 'option redispatch 1'],
    ],
    ...frontends,
    ...clusters.map(cluster => renderBackend(model, cluster, {})),
  ]
}

/**
 * Creates the file of a response that replaces one of HAProxy's own.
 * @param {{ replaces: number, status: string, reason: string, headers?: string[] }} response replaces: the status that HAProxy sends by
 *   itself; status: with its reason phrase; reason: the body, in ASCII; headers: more of them, a line each
 */
function createErrorFile({ replaces, status, reason, headers = [] }) {
  const head = [`HTTP/1.1 ${status}`, 'content-type: text/plain', `content-length: ${reason.length}`, ...headers]
  return { name: `${replaces}.http`, content: `${head.join('\r\n')}\r\n\r\n${reason}`, replaces }
}

/** Renders a section as indented lines below its head, and an empty line. @param {string[]} section */
function renderSection([title, ...lines]) {
  return [title, ...lines.map(line => `  ${line}`), ''].join('\n')
}
