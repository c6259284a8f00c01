import { renderMilliseconds } from '../../lib/units.js'
import { HERE, renderDirectives } from './directives.js'
import { renderListen, renderListener } from './listeners.js'
import { renderPermissivePort, renderStream } from './stream.js'
import { renderUpstream } from './upstream.js'

/** @import { Cluster, SidecarModel } from '../../model/types.ts' */

// A worker makes room for all connections when it starts: 424 bytes each.
const MOST_CONNECTIONS = 8192
// Every worker makes room for each upstream's idle connections: 160 bytes each.
const IDLE_CONNECTIONS = { mostOfAll: 65_536, mostOfOne: 1024, leastOfOne: 16 }
// By default nginx closes a connection after 1000 requests, or an hour.
const FOREVER = { requests: 1_000_000_000, time: '1d' }

/**
 * Renders nginx.conf. Bytes and permissive ports need nginx's stream module.
 * @param {SidecarModel} model
 * @returns {string} the text of the file
 */
export function renderConfig(model) {
  const { inbound, admin, carriesBytes } = model
  const permissivePort = inbound?.mtls === 'permissive' && !carriesBytes ? renderPermissivePort(inbound, model) : null
  return renderDirectives([
    ...(carriesBytes ? renderStream(model) : (permissivePort?.main ?? [])),
    // Without this line, a worker that root starts would run as nobody.
    'user root',
    'daemon off',
    `worker_processes ${model.workers}`,
    `pid ${HERE}/nginx.pid`,
    'error_log stderr crit',
    ['events', `worker_connections ${MOST_CONNECTIONS}`],
    [
      'http',
      ...renderHttpDefaults(model),
      ...(carriesBytes ? [] : renderHttpServers(model, permissivePort?.listens)),
      ['server', renderListen(admin), ['location /', 'stub_status']],
    ],
  ])
}

/**
 * Renders the upstreams and the listeners of a sidecar that carries requests.
 * @param {SidecarModel} model
 * @param {string[]} [inboundListens] `listen` lines of the inbound listener; absent: that of its address
 */
function renderHttpServers(model, inboundListens) {
  const { inbound, outbound, clusters } = model
  return [
    ...clusters.map(cluster => renderHttpUpstream(cluster, model)),
    ...(inbound ? renderListener('inbound', { model, listens: inboundListens }) : []),
    ...(outbound ? renderListener('outbound', { model }) : []),
  ]
}

/** Renders the directives that all servers share. @param {SidecarModel} model */
function renderHttpDefaults({ inbound, outbound, timeouts, retries, clusters, carriesGrpc, streamsAnswers }) {
  const module = carriesGrpc ? 'grpc' : 'proxy'
  const routes = [inbound, outbound].flatMap(listener => listener?.routes ?? [])
  const connect = renderMilliseconds(timeouts.connectSeconds)
  const request = renderMilliseconds(timeouts.requestSeconds)
  const idle = renderMilliseconds(timeouts.idleSeconds)
  return [
    'access_log off',
    'default_type text/plain',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${HERE}/temp`),
    `map_hash_max_size ${2048 + 2 * (routes.length + clusters.length)}`,
    'map_hash_bucket_size 512',
    // Requests may have any size, and headers any names; nginx sends a body on once it has all of it.
    ...[`client_header_timeout ${idle}`, `client_body_timeout ${idle}`, `send_timeout ${idle}`],
    ...[`keepalive_timeout ${idle}`, `keepalive_requests ${FOREVER.requests}`, `keepalive_time ${FOREVER.time}`],
    ...['client_max_body_size 0', 'client_body_buffer_size 16m', 'large_client_header_buffers 4 16k'],
    ...['ignore_invalid_headers off', 'underscores_in_headers on', 'merge_slashes off'],
    ...(carriesGrpc ? [] : ['proxy_http_version 1.1']),
    `${module}_set_header Host $http_host`,
    ...(carriesGrpc ? [] : ['proxy_set_header Connection ""']),
    `${module}_connect_timeout ${connect}`,
    ...[`${module}_send_timeout ${request}`, `${module}_read_timeout ${request}`],
    `${module}_next_upstream ${retries > 0 ? 'error' : 'off'}`,
    `${module}_next_upstream_tries ${retries + 1}`,
    `${module}_buffer_size 16k`,
    ...(streamsAnswers ? ['proxy_buffering off'] : []),
    ...(carriesGrpc ? [] : ['proxy_buffers 8 16k', 'proxy_max_temp_file_size 0', 'proxy_redirect off']),
    ...['Server', 'Date'].map(header => `${module}_pass_header ${header}`),
    `${module}_ignore_headers X-Accel-Redirect${carriesGrpc ? '' : ' X-Accel-Limit-Rate X-Accel-Buffering'} X-Accel-Charset`,
    // This is the HTTP/2 window of a stream: nginx reads so much of a body before it processes the request.
    ...(carriesGrpc ? ['http2_body_preread_size 1m'] : []),
  ]
}

/**
 * Renders the upstream of a cluster, with a pool of idle connections: the cluster's share of all, within the bounds of IDLE_CONNECTIONS.
 * @param {Cluster} cluster
 * @param {SidecarModel} model
 */
function renderHttpUpstream(cluster, { clusters, retries, timeouts }) {
  const share = Math.floor(IDLE_CONNECTIONS.mostOfAll / clusters.length)
  return [
    ...renderUpstream(cluster, retries),
    `keepalive ${Math.max(IDLE_CONNECTIONS.leastOfOne, Math.min(IDLE_CONNECTIONS.mostOfOne, share))}`,
    ...[`keepalive_requests ${FOREVER.requests}`, `keepalive_time ${FOREVER.time}`],
    `keepalive_timeout ${renderMilliseconds(timeouts.requestSeconds)}`,
  ]
}
