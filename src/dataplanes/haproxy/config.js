// The sidecar model as a configuration of HAProxy, and the files that it names.
import { ERROR_FILES, MARK_FAILED, UNMARK_FAILED } from './error-files.js'
import { NO_ROUTE, renderMap, renderRoutes } from './routes.js'

/** @import { Cluster, ProcessSpec, Route, SidecarModel } from '../../model/types.ts' */

const HTTP2_WINDOW_BYTES = 1024 * 1024
// By itself HAProxy takes as many as its limit of open files allows: in a container that can be a thousand million.
const MOST_CONNECTIONS = 9000
const INSPECT_SECONDS = 5
const NOBODY = 'spiffe://sidecar-bench/nobody'

/** @param {SidecarModel} model @param {string} folder where its files will be @returns {ProcessSpec['files']} */
export function renderFiles(model, folder) {
  const { inbound, outbound, clusters, admin } = model
  const routesOf = (/** @type {'inbound' | 'outbound'} */ name) => [
    ...renderTimes(model),
    ...renderRoutes(model[name]?.routes ?? [], `${folder}/${name}.map`),
  ]
  const sections = [
    renderGlobal(model),
    renderDefaults(model, folder),
    ...(inbound ? renderInbound(model, inbound, routesOf('inbound')) : []),
    ...(outbound ? [['frontend outbound', ...listenAt(outbound), ...routesOf('outbound')]] : []),
    ...clusters.map(cluster => renderCluster(model, cluster)),
    [`backend ${NO_ROUTE}`, 'http-request return status 404 content-type text/plain string "no route matches"'],
    ['frontend admin', `bind ${admin.address}:${admin.port}`, 'http-request use-service prometheus-exporter'],
  ]
  const maps = Object.entries({ inbound, outbound }).flatMap(([name, listener]) =>
    listener ? [{ name: `${name}.map`, content: renderMap(listener.routes) }] : [],
  )
  return [{ name: 'haproxy.cfg', content: sections.map(joinSection).join('\n') }, ...maps, ...ERROR_FILES]
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

/** @param {SidecarModel} model @param {string} folder */
function renderDefaults({ timeouts, retries }, folder) {
  return [
    'defaults',
    'mode http',
    'http-reuse always',
    `timeout connect ${milliseconds(timeouts.connectSeconds)}`,
    `timeout client ${milliseconds(timeouts.idleSeconds)}`,
    `timeout server ${milliseconds(timeouts.requestSeconds)}`,
    `retries ${retries}`,
    // The one more try is at the endpoint that is next.
    'option redispatch 1',
    ...ERROR_FILES.map(({ name, replaces }) => `errorfile ${replaces} ${folder}/${name}`),
  ]
}

/**
 * HAProxy says 503 where a connection was refused and where it timed out, and not which it was. A try that
 * times out takes its whole time, the last one too; one that is refused, at most the pause before the next.
 * @param {SidecarModel} model
 */
function renderTimes({ timeouts, retries }) {
  const timedOutMs = Math.round(timeouts.connectSeconds * (retries + 0.5) * 1000)
  return [
    'http-request set-var(txn.begin) date(0,ms)',
    `http-after-response set-status 504 if { status 503 } { ${MARK_FAILED} } { date(0,ms),sub(txn.begin) ge ${timedOutMs} }`,
    `http-after-response ${UNMARK_FAILED} if { status 503 504 }`,
  ]
}

/**
 * HAProxy has no listener of both TLS and plaintext: a permissive one looks at the first bytes, serves plaintext, and
 * hands TLS to a listener in the same process.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {string[]} routes
 */
function renderInbound(model, inbound, routes) {
  const { mtls, address, port, protocol, acceptedIdentities } = inbound
  if (mtls === 'disabled') return [['frontend inbound', ...listenAt(inbound), ...routes]]
  const alpn = protocol === 'http/2' ? 'h2,http/1.1' : 'http/1.1'
  const tls = `ssl ${renderTls(model)} curves ${model.tls.group} no-tls-tickets alpn ${alpn}`
  const strict = [...renderAccepted(acceptedIdentities), ...routes]
  if (mtls === 'strict') return [['frontend inbound', ...listenAt(inbound, tls), ...strict]]
  const passage = `abns@sidecar-bench-${address}-${port}`
  return [
    [
      'frontend inbound',
      'mode tcp',
      ...listenAt(inbound),
      `tcp-request inspect-delay ${INSPECT_SECONDS}s`,
      'tcp-request content accept if { req.ssl_hello_type 1 }',
      'tcp-request content switch-mode http if HTTP',
      'use_backend tls_passage if { req.ssl_hello_type 1 }',
      ...routes,
    ],
    [
      'backend tls_passage',
      'mode tcp',
      `timeout server ${milliseconds(model.timeouts.idleSeconds)}`,
      `server own ${passage}`,
    ],
    ['frontend inbound_tls', `bind ${passage} ${tls}`, ...strict],
  ]
}

/**
 * Refuses identities once a connection, by the common name: HAProxy shows no URI names.
 * @param {string[] | null} identities
 */
function renderAccepted(identities) {
  if (identities === null) return []
  return [`tcp-request session reject unless { ssl_c_s_dn(cn) -m str -- ${[NOBODY, ...identities].join(' ')} }`]
}

/** @param {SidecarModel} model @param {Cluster} cluster */
function renderCluster(model, { name, endpoints, balancing, mtls, protocol }) {
  const isHttp2 = protocol === 'http/2'
  const options = [
    `pool-purge-delay ${milliseconds(model.timeouts.requestSeconds)}`,
    ...(isHttp2 ? ['proto h2'] : []),
    ...(mtls
      ? [
          `ssl ${renderTls(model)} alpn ${isHttp2 ? 'h2' : 'http/1.1'} no-ssl-reuse no-tls-tickets`,
          renderVerified(name, mtls),
        ]
      : []),
  ].join(' ')
  return [
    `backend ${name}`,
    `balance ${balancing === 'least-requests' ? 'leastconn' : 'roundrobin'}`,
    // Quoted for kustomize, which finds addresses between quotation marks.
    ...endpoints.map(({ address, port }, i) => `server s${i + 1} "${address}":${port} ${options}`),
  ]
}

/**
 * HAProxy compares a server's DNS names and common name with the server name that it sends, or with another where it sends
 * none: an identity that is listed leaves no place for a server name.
 * @param {string} cluster
 * @param {NonNullable<Cluster['mtls']>} mtls
 */
function renderVerified(cluster, { serverName, acceptedIdentities }) {
  if (acceptedIdentities === null) return `sni str(${serverName})`
  if (acceptedIdentities.length > 1)
    throw new Error(
      `HAProxy verifies one identity of a server, and ${cluster} accepts ${acceptedIdentities.join(', ')}`,
    )
  return `verifyhost ${acceptedIdentities[0] ?? NOBODY}`
}

/** @param {SidecarModel} model */
function renderTls({ trust, tls }) {
  const files = `crt ${trust.combinedPath} ca-file ${trust.caPath} verify required`
  return `${files} ssl-min-ver TLSv1.3 ssl-max-ver TLSv1.3 ciphersuites ${tls.suite}`
}

/**
 * A listening socket for each thread. HAProxy asks by itself which address a redirected connection meant (sock_inet_get_dst in
 * its src/sock_inet.c).
 * @param {{ address: string, port: number, redirectedPorts?: number[] }} listener @param {string} [tls]
 */
function listenAt({ address, port, redirectedPorts }, tls) {
  const meant = redirectedPorts
    ? [`tcp-request connection reject unless { dst_port ${redirectedPorts.join(' ')} }`]
    : []
  return [[`bind ${address}:${port} shards by-thread`, ...(tls ? [tls] : [])].join(' '), ...meant]
}

/** @param {string[]} section */
function joinSection([title, ...lines]) {
  return [title, ...lines.map(line => `  ${line}`), ''].join('\n')
}

/** @param {number} seconds */
function milliseconds(seconds) {
  return `${Math.round(seconds * 1000)}ms`
}
