// The sidecar model as a configuration of nginx.
import { listByteListeners } from '../../model/byte-listeners.js'
import { HERE, renderLines, renderMilliseconds } from './directives.js'
import { findCertificateName, renderClientTls, renderListen, renderListener, renderServerTls } from './listeners.js'
import { INSPECT_SECONDS, renderPassage, STREAM_MODULE } from './passage.js'
import { escapeText } from './routes.js'
import { renderUpstream } from './upstream.js'

/**
 * @import { Cluster, SidecarModel } from '../../model/types.ts'
 * @import { ByteListener } from '../../model/byte-listeners.js'
 */
/** @import { Directive } from './directives.js' */

// A worker makes room for all connections when it starts: 424 bytes each.
const MOST_CONNECTIONS = 8192
// Every worker makes room for each upstream's idle connections: 160 bytes each.
const MOST_IDLE = { ofAll: 65_536, ofOne: 1024, least: 16 }
// By default nginx closes a connection after 1000 requests, or an hour.
const FOREVER = { requests: 1_000_000_000, time: '1d' }
// Nothing listens there: the stream module can refuse an identity only by sending its connection nowhere.
const NOWHERE = 'nowhere'

/**
 * Renders nginx.conf. Bytes and permissive ports need nginx's stream module.
 * @param {SidecarModel} model
 * @returns {string} the text of the file
 */
export function renderConfig(model) {
  const { inbound, outbound, admin, clusters, carriesBytes } = model
  const passage = inbound?.mtls === 'permissive' && !carriesBytes ? renderPassage(inbound, model) : null
  return renderLines([
    ...(carriesBytes ? renderStream(model) : (passage?.main ?? [])),
    // Without this line, a worker that root starts would run as nobody.
    'user root',
    'daemon off',
    `worker_processes ${model.workers}`,
    `pid ${HERE}/nginx.pid`,
    'error_log stderr crit',
    ['events', `worker_connections ${MOST_CONNECTIONS}`],
    [
      'http',
      ...renderDefaults(model),
      ...(carriesBytes
        ? []
        : [
            ...clusters.map(cluster => renderCluster(cluster, model)),
            ...(inbound ? renderListener('inbound', { model, listens: passage?.listens }) : []),
            ...(outbound ? renderListener('outbound', { model }) : []),
          ]),
      ['server', renderListen(admin), ['location /', 'stub_status']],
    ],
  ])
}

/** Renders the directives that all servers share. @param {SidecarModel} model */
function renderDefaults({ timeouts, retries, clusters, carriesGrpc, streamsAnswers, ...model }) {
  const by = carriesGrpc ? 'grpc' : 'proxy'
  const routes = [model.inbound, model.outbound].flatMap(listener => listener?.routes ?? [])
  const [connect, request, idle] = [timeouts.connectSeconds, timeouts.requestSeconds, timeouts.idleSeconds].map(
    renderMilliseconds,
  )
  return [
    'access_log off',
    'default_type text/plain',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(module => `${module}_temp_path ${HERE}/temp`),
    `map_hash_max_size ${2048 + 2 * (routes.length + clusters.length)}`,
    'map_hash_bucket_size 512',
    // Requests may have any size and names of headers; nginx sends a body on once it has all of it.
    ...[`client_header_timeout ${idle}`, `client_body_timeout ${idle}`, `send_timeout ${idle}`],
    ...[`keepalive_timeout ${idle}`, `keepalive_requests ${FOREVER.requests}`, `keepalive_time ${FOREVER.time}`],
    ...['client_max_body_size 0', 'client_body_buffer_size 16m', 'large_client_header_buffers 4 16k'],
    ...['ignore_invalid_headers off', 'underscores_in_headers on', 'merge_slashes off'],
    // Requests to upstreams.
    ...(carriesGrpc ? [] : ['proxy_http_version 1.1']),
    `${by}_set_header Host $http_host`,
    ...(carriesGrpc ? [] : ['proxy_set_header Connection ""']),
    ...[`${by}_connect_timeout ${connect}`, `${by}_send_timeout ${request}`, `${by}_read_timeout ${request}`],
    `${by}_next_upstream ${retries > 0 ? 'error' : 'off'}`,
    `${by}_next_upstream_tries ${retries + 1}`,
    // Answers of upstreams.
    `${by}_buffer_size 16k`,
    ...(streamsAnswers ? ['proxy_buffering off'] : []),
    ...(carriesGrpc ? [] : ['proxy_buffers 8 16k', 'proxy_max_temp_file_size 0', 'proxy_redirect off']),
    ...['Server', 'Date'].map(header => `${by}_pass_header ${header}`),
    `${by}_ignore_headers X-Accel-Redirect${carriesGrpc ? '' : ' X-Accel-Limit-Rate X-Accel-Buffering'} X-Accel-Charset`,
    // This is the window of a stream: what nginx reads of a body before it processes the request.
    ...(carriesGrpc ? ['http2_body_preread_size 1m'] : []),
  ]
}

/**
 * @param {Cluster} cluster
 * @param {SidecarModel} model
 */
function renderCluster({ name, endpoints, balancing }, { clusters, retries, timeouts }) {
  const idle = Math.floor(MOST_IDLE.ofAll / clusters.length)
  return [
    ...renderUpstream({ name, endpoints, balancing }, retries),
    `keepalive ${Math.max(MOST_IDLE.least, Math.min(MOST_IDLE.ofOne, idle))}`,
    ...[`keepalive_requests ${FOREVER.requests}`, `keepalive_time ${FOREVER.time}`],
    `keepalive_timeout ${renderMilliseconds(timeouts.requestSeconds)}`,
  ]
}

/**
 * Renders the blocks beside `http` that carry bytes, of nginx's stream module.
 * @param {SidecarModel} model
 * @returns {Directive[]}
 */
function renderStream(model) {
  const { timeouts, retries, clusters } = model
  return [
    `include ${STREAM_MODULE}`,
    [
      'stream',
      `proxy_connect_timeout ${renderMilliseconds(timeouts.connectSeconds)}`,
      `proxy_timeout ${renderMilliseconds(timeouts.idleSeconds)}`,
      'proxy_half_close on',
      `proxy_next_upstream ${retries > 0 ? 'on' : 'off'}`,
      `proxy_next_upstream_tries ${retries + 1}`,
      [`upstream ${NOWHERE}`, `server unix:${HERE}/${NOWHERE}.sock`],
      ...clusters.map(cluster => renderUpstream(cluster, retries)),
      ...listByteListeners(model).flatMap(byteListener =>
        byteListener.direction === 'inbound' ? renderEntry(model, byteListener) : renderExit(model, byteListener),
      ),
    ],
  ]
}

/**
 * @param {SidecarModel} model
 * @param {ByteListener} listener
 * @returns {Directive[]}
 */
function renderExit(model, { cluster: { name, mtls }, ...listener }) {
  const tls = mtls ? ['proxy_ssl on', ...renderClientTls(model, { dnsName: findCertificateName(mtls) })] : []
  return [['server', `${renderListen(listener)} reuseport`, ...tls, `proxy_pass ${name}`]]
}

/**
 * Renders the servers of an inbound listener; a permissive one hands TLS to a second.
 * @param {SidecarModel} model
 * @param {ByteListener} listener
 * @returns {Directive[]}
 */
function renderEntry(model, { name, cluster, ...listener }) {
  const { mtls, acceptedIdentities } = /** @type {NonNullable<SidecarModel['inbound']>} */ (model.inbound)
  const listen = `${renderListen(listener)} reuseport`
  if (mtls === 'disabled') return [['server', listen, `proxy_pass ${cluster.name}`]]
  const accepted = acceptedIdentities?.map(identity => `"~^CN=${escapeText(identity)}\\z" ${cluster.name}`)
  const maps = accepted ? [[`map $ssl_client_s_dn $${name}_to`, `default ${NOWHERE}`, ...accepted]] : []
  const strict = (/** @type {string} */ at) => [
    'server',
    at,
    ...renderServerTls(model),
    `proxy_pass ${accepted ? `$${name}_to` : cluster.name}`,
  ]
  if (mtls === 'strict') return [...maps, strict(`${renderListen(listener)} ssl reuseport`)]
  const passage = `unix:${HERE}/${name}.sock`
  return [
    ...maps,
    [`upstream ${name}_tls`, `server ${passage}`],
    [`map $ssl_preread_protocol $${name}_passage`, `"" ${cluster.name}`, `default ${name}_tls`],
    ['server', listen, 'ssl_preread on', `preread_timeout ${INSPECT_SECONDS}s`, `proxy_pass $${name}_passage`],
    strict(`listen ${passage} ssl`),
  ]
}
