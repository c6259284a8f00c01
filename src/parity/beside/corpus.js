import { SERVERS } from './peers.js'

/** The corpus: the routes and hosts of a rig, and the requests that every plane must answer alike. Pure data. */
/** @import { Endpoint, Route } from '../../model/types.ts' */
/** @import { Request } from '../../node/send.js' */

/** Behaviour that a comparison of planes leaves out, because they are known to differ there. */
export const LEFT_OUT = [
  'repeated request headers other than cookies (Pipy keeps the last)',
  'trailers of HTTP/1.1 (Pipy drops them)',
  'malformed requests (Pipy closes the connection, Envoy answers 400)',
  'framing of large bodies (Pipy sends them chunked)',
  'responses cut short by the application (Pipy passes them on as complete)',
  'hop-by-hop headers, and server, date, via, x-envoy-*, x-forwarded-*, x-request-id where a plane adds them',
]

/** The upstreams of hosts of bytes; a host that is not listed has the upstream of its own name. @type {Record<string, string[]>} */
export const BYTE_UPSTREAMS = { echo: ['a'], half: ['gone', 'a'] }

/** The hosts to which bytes can be sent through both sidecars. Each has a port of its own, the first that of the listener. */
export const BYTE_HOSTS = ['echo', 'gone', 'half', 'full', 'rude', 'quiet', 'late', 'greeting']
/** The upstream `greeting` says this before it ends its half of a connection. */
export const GREETING = 'hello'

const PORTS_APART = 100

/**
 * Computes the port for bytes to a host.
 * @param {number} first the first port, that of the listener
 * @param {string} host one of BYTE_HOSTS, or an upstream that only the client's sidecar calls: `refused`, an observer or a peer
 * @returns {number} below `first` for a host that has none
 */
export function computeBytePort(first, host) {
  const hosts = [...BYTE_HOSTS, 'refused', 'observed', 'p256', ...SERVERS.map(([name]) => name)]
  return first + PORTS_APART * hosts.indexOf(host)
}

/**
 * Chooses the endpoint of the client's sidecar to which requests or bytes for a host are sent.
 * @param {{ sidecars: Record<string, Endpoint>, configuration: { protocol: string } }} rig
 * @param {string} host
 * @returns {Endpoint} for bytes with a port of the host's own (`computeBytePort`)
 */
export function chooseHostEndpoint({ sidecars, configuration }, host) {
  const { address, port } = sidecars.client
  return { address, port: configuration.protocol === 'tcp' ? computeBytePort(port, host) : port }
}

/**
 * Chooses the endpoint at which the server's sidecar speaks TLS: at the port of the tunnel, or that of its listener.
 * @param {{ sidecars: Record<string, Endpoint>, configuration: { tunnelPort?: number } }} rig
 * @returns {Endpoint}
 */
export function chooseSecureEndpoint({ sidecars, configuration: { tunnelPort } }) {
  const { address, port } = sidecars.server
  return { address, port: tunnelPort ?? port }
}

/** Headers in which planes may differ; LEFT_OUT says so. */
export const IGNORED_HEADERS =
  /^(connection|keep-alive|transfer-encoding|content-length|server|date|via|x-envoy-.*|x-forwarded-.*|x-request-id)$/

/** Headers that a proxy before the caller has set, and that a sidecar must pass on. The upstream answers with this `via`, too. */
export const PASSED_ON = {
  'x-forwarded-for': '192.0.2.1',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'example.com',
  forwarded: 'for=192.0.2.1',
  via: '1.1 another',
}

/** Requests a second that the route `limited` lets pass. */
export const LIMIT_PER_SECOND = 10

/** The path below this one names an upstream that answers 500 to it, such as /fails/b; the others answer 200. */
export const FAILS_PATH = '/fails'

/** The path at which an upstream begins its answer before it has the whole request. */
export const EARLY_PATH = '/early'

/**
 * The routes of the corpus. Clusters: a, b, gone (refused), half (one of two refused), slow, full (cannot be connected), rude
 * (resets), quiet (closes), narrow (slow; takes few requests at a time if circuits are broken), flaky (a and b), fragile (rude
 * and b), alone (b), crowded (gone and slow; few retries at a time if they have a budget).
 * @type {Route[]}
 */
export const ROUTES = [
  // These routes stand before the route for any host, so that nothing but the host is looked at.
  createHostRoute('direct', {}, ['b', 1]),
  createHostRoute('undefined', {}, ['b', 1]),
  createHostRoute('canary', { headers: { 'x-canary': 'yes' } }, ['b', 1]),
  createHostRoute('split', {}, ['a', 80], ['b', 20]),
  ...['gone', 'half', 'slow', 'full', 'rude', 'quiet', 'flaky', 'fragile', 'alone', 'crowded'].map(name =>
    createHostRoute(name, {}, [name, 1]),
  ),
  createHostRoute('paths', { pathPrefix: '/api/v2' }, ['b', 1]),
  createHostRoute('paths', { pathPrefix: '/api' }, ['a', 1]),
  createHostRoute('any-header', { headers: { 'x-canary': 'yes', 'x-tier': '1' } }, ['b', 1]),
  createHostRoute(null, { pathPrefix: '/everywhere' }, ['b', 1]),
  createHostRoute('narrow', {}, ['narrow', 1]),
  createHostRoute('limited', { limitPerSecond: LIMIT_PER_SECOND }, ['a', 1]),
  createHostRoute('echo', {}, ['a', 1]),
]

/**
 * The parts of an answer that the corpus looks at: its status and body, the upstream that gave it, and the parts of the request
 * that arrived there.
 * @typedef {object} EchoedRequest
 * @property {number} status
 * @property {string} body
 * @property {string} [upstream] its name; absent: a sidecar answered itself
 * @property {string} [path]
 * @property {string} [method]
 * @property {string} [nonce]
 * @property {number} [long] the length of the header x-long
 */

/**
 * Requests, each with what must come back from every plane; parts that are not named may be anything.
 * @type {{ name: string, request: Request, expected: Partial<EchoedRequest> }[]}
 */
export const CASES = [
  { name: 'a plain GET', request: { host: 'echo' }, expected: { status: 200, upstream: 'a', body: '' } },
  {
    name: 'the path and its query',
    request: { host: 'echo', path: '/x/y?z=1&w=%20' },
    expected: { status: 200, path: '/x/y?z=1&w=%20' },
  },
  { name: 'a host with a port', request: { host: 'echo:15001' }, expected: { status: 200, upstream: 'a' } },
  { name: 'a host in capitals', request: { host: 'ECHO' }, expected: { status: 200, upstream: 'a' } },
  ...['direct', 'direct:15001', 'DIRECT'].map(host => ({
    name: `the host ${host}, all of whose requests take one route`,
    request: { host },
    expected: { status: 200, upstream: 'b' },
  })),
  { name: 'an unknown host', request: { host: 'nobody' }, expected: { status: 404 } },
  ...['toString', 'constructor', '__proto__'].map(host => ({
    name: `the host ${host}, a name that objects know`,
    request: { host },
    expected: { status: 404 },
  })),
  { name: 'an unknown path of a known host', request: { host: 'paths', path: '/other' }, expected: { status: 404 } },
  {
    name: 'a route for any host',
    request: { host: 'nobody', path: '/everywhere/1' },
    expected: { status: 200, upstream: 'b' },
  },
  {
    name: 'the first of two path prefixes',
    request: { host: 'paths', path: '/api/v2/x' },
    expected: { status: 200, upstream: 'b' },
  },
  {
    name: 'the second of two path prefixes',
    request: { host: 'paths', path: '/api/v1/x' },
    expected: { status: 200, upstream: 'a' },
  },
  {
    name: 'a header that matches',
    request: { host: 'canary', headers: { 'x-canary': 'yes' } },
    expected: { status: 200, upstream: 'b' },
  },
  {
    name: 'a header with another value',
    request: { host: 'canary', headers: { 'x-canary': 'no' } },
    expected: { status: 404 },
  },
  {
    name: 'one of two headers',
    request: { host: 'any-header', headers: { 'x-canary': 'yes' } },
    expected: { status: 404 },
  },
  {
    name: 'both of two headers',
    request: { host: 'any-header', headers: { 'x-canary': 'yes', 'x-tier': '1' } },
    expected: { status: 200, upstream: 'b' },
  },
  {
    name: 'a header passed on and back',
    request: { host: 'echo', headers: { 'x-nonce': 'abc', 'x-long': 'v'.repeat(4000) } },
    expected: { status: 200, nonce: 'abc', long: 4000 },
  },
  ...[0, 1, 1024, 65536, 1024 * 1024, 10 * 1024 * 1024].map(bytes => createEchoCase(bytes, { isChunked: false })),
  ...[1, 1024, 1024 * 1024].map(bytes => createEchoCase(bytes, { isChunked: true })),
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method => ({
    name: `the method ${method}`,
    request: { host: 'echo', method },
    expected: { status: 200, method },
  })),
  { name: 'a HEAD', request: { host: 'echo', method: 'HEAD' }, expected: { status: 200, method: 'HEAD', body: '' } },
  ...[201, 204, 304, 400, 401, 404, 500, 502, 503].map(status => ({
    name: `an application's ${status}`,
    request: { host: 'echo', path: `/status/${status}` },
    expected: { status, upstream: 'a' },
  })),
  { name: 'an upstream that refuses', request: { host: 'gone' }, expected: { status: 503, upstream: undefined } },
  { name: 'an upstream that resets', request: { host: 'rude' }, expected: { status: 503, upstream: undefined } },
  {
    name: 'an upstream that closes without an answer',
    request: { host: 'quiet' },
    expected: { status: 503, upstream: undefined },
  },
  {
    name: 'an upstream that does not answer in time',
    request: { host: 'slow' },
    expected: { status: 504, upstream: undefined },
  },
]

/**
 * The cases that a unary gRPC call can make: POSTs that are not chunked, and ask for no HTTP status (`/status/`). A case is
 * copied only if its status differs for gRPC: a copy would evaluate its getters, and keep bodies of megabytes in memory.
 */
export const GRPC_CASES = CASES.filter(
  ({ request: { method = 'POST', path = '/', isChunked } }) =>
    method === 'POST' && !isChunked && !path.startsWith('/status/'),
).map(testCase => {
  const { expected } = testCase
  const status = expected.status && chooseExpectedStatus(expected.status, { protocol: 'grpc' })
  return status === expected.status ? testCase : { ...testCase, expected: { ...expected, status } }
})

/**
 * Chooses the HTTP status to expect: for gRPC 503 instead of 504, since UNAVAILABLE stands for both.
 * @param {number} status of the corpus
 * @param {{ protocol: string }} configuration
 * @returns {number} `status` itself for any other
 */
export function chooseExpectedStatus(status, { protocol }) {
  return protocol === 'grpc' && status === 504 ? 503 : status
}

/**
 * Creates the case of a body that comes back. Getters create the body again for each use, since one of 10 MiB would stay in
 * memory.
 * @param {number} bytes length of the body
 * @param {{ isChunked: boolean }} framing
 * @returns {(typeof CASES)[number]}
 */
function createEchoCase(bytes, { isChunked }) {
  return {
    name: `a ${isChunked ? 'chunked ' : ''}body of ${bytes} bytes`,
    get request() {
      return { host: 'echo', method: 'POST', body: 'b'.repeat(bytes), isChunked }
    },
    get expected() {
      return { status: 200, body: 'b'.repeat(bytes) }
    },
  }
}

/**
 * Creates a route for all paths of a host, unless `fields` have another prefix.
 * @param {string | null} host null: any
 * @param {Partial<Omit<Route, 'split'>>} fields others of the route
 * @param {[cluster: string, weight: number][]} split clusters with their weights
 * @returns {Route}
 */
export function createHostRoute(host, fields, ...split) {
  const shares = split.map(([cluster, weight]) => ({ cluster, weight }))
  return { host, pathPrefix: '/', headers: {}, ...fields, split: shares }
}
