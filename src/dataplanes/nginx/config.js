// The sidecar model as a configuration of nginx.
import { HERE, renderLines, time } from './directives.js'
import { listenAt, renderListener } from './listeners.js'
import { renderPassage } from './passage.js'
import { renderStream } from './tcp.js'
import { renderUpstream } from './upstream.js'

/** @import { Cluster, SidecarModel } from '../../model/types.ts' @import { Directive } from './directives.js' */

// A worker makes room for all connections when it starts: 424 bytes each.
const MOST_CONNECTIONS = 8192
// Every worker makes room for each upstream's idle connections: 160 bytes each.
const MOST_IDLE = { ofAll: 65_536, ofOne: 1024, least: 16 }
// By default nginx closes a connection after 1000 requests, or an hour.
const FOREVER = { requests: 1_000_000_000, time: '1d' }

/** Renders nginx.conf. Bytes and permissive ports need nginx's stream module. @param {SidecarModel} model @returns {string} nginx.conf */
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
      ['server', listenAt(admin), ['location /', 'stub_status']],
    ],
  ])
}

/** Renders what all servers share. @param {SidecarModel} model */
function renderDefaults({ timeouts, retries, clusters, carriesGrpc, streamsAnswers, ...model }) {
  const by = carriesGrpc ? 'grpc' : 'proxy'
  const routes = [model.inbound, model.outbound].flatMap(listener => listener?.routes ?? [])
  const [connect, request, idle] = [timeouts.connectSeconds, timeouts.requestSeconds, timeouts.idleSeconds].map(time)
  return [
    'access_log off',
    'default_type text/plain',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(of => `${of}_temp_path ${HERE}/temp`),
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

/** @param {Cluster} cluster @param {SidecarModel} model */
function renderCluster({ name, endpoints, balancing }, { clusters, retries, timeouts }) {
  const idle = Math.floor(MOST_IDLE.ofAll / clusters.length)
  return [
    ...renderUpstream({ name, endpoints, balancing }, retries),
    `keepalive ${Math.max(MOST_IDLE.least, Math.min(MOST_IDLE.ofOne, idle))}`,
    ...[`keepalive_requests ${FOREVER.requests}`, `keepalive_time ${FOREVER.time}`],
    `keepalive_timeout ${time(timeouts.requestSeconds)}`,
  ]
}
