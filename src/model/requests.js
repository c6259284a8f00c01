/**
 * The requests of a load and the answers of the application: a POST that is echoed, or requests with a method, sizes and a
 * service time. Pure.
 * @import { Load, Protocol, RequestKind } from './types.ts'
 */

export const METHODS = /** @type {const} */ (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Methods whose requests never have a body, also where a size is set. */
export const WITHOUT_REQUEST_BODY = ['GET', 'HEAD']
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE', 'OPTIONS']
const HEADER_BYTES = 64
// Envoy and HAProxy refuse a request with more than about 100 headers, and the generator sends some of its own.
const HEADERS_MOST = 16
/** The shortest header that `renderFillerHeaders` makes: `x-h0: `, a character and a line end. */
export const HEADER_BYTES_LEAST = 9

/**
 * Options of a request; null or absent: not set.
 * @typedef {{ method?: string | null, requestBytes?: number | null, requestHeaderBytes?: number | null,
 *   responseBytes?: number | null, serviceTime?: string | null, chunks?: string | null, protocol?: string }} RequestOptions
 */

/** Axes that make a request other than the POST that is echoed. */
export const REQUEST_AXES = /** @type {const} */ ([
  'method',
  'requestBytes',
  'requestHeaderBytes',
  'responseBytes',
  'serviceTime',
  'chunks',
])

/**
 * Creates the one kind of request of a load. The default method is GET for a response size without a request body, and POST
 * otherwise and for gRPC. A body whose size is not set has that of the payload, or 0 where the method has none; headers have 0. A
 * service time of 0, or of another form than `parseServiceTime` has, is left out.
 * @param {RequestOptions} options
 * @param {number} payloadBytes
 * @returns {RequestKind}
 */
export function createRequestKind(options, payloadBytes) {
  const { method, requestBytes, requestHeaderBytes, responseBytes, serviceTime, chunks, protocol } = options
  const isFetched = responseBytes !== null && responseBytes !== undefined && !requestBytes && protocol !== 'grpc'
  const verb = /** @type {RequestKind['method']} */ (method ?? (isFetched ? 'GET' : 'POST'))
  const time = serviceTime ? parseServiceTime(serviceTime) : null
  return {
    weight: 1,
    method: verb,
    path: '/',
    requestBytes: requestBytes ?? (WITHOUT_BODY.includes(verb) ? 0 : payloadBytes),
    requestHeaderBytes: requestHeaderBytes ?? 0,
    responseBytes: responseBytes ?? (verb === 'HEAD' ? 0 : payloadBytes),
    ...(time !== null && time.meanMs > 0 && { serviceTime: renderServiceTimeOption(time) }),
    ...(chunks && { chunks }),
  }
}

/** @typedef {{ meanMs: number, isExponential: boolean }} ServiceTime */

/**
 * Parses a service time.
 * @param {string} text such as 30ms, 1.5s or exp:30ms
 * @returns {ServiceTime | null} null: another form
 */
export function parseServiceTime(text) {
  const [, exponential, number, unit] = /^(exp:)?(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? []
  if (number === undefined) return null
  return { meanMs: Number(number) * (unit === 's' ? 1000 : 1), isExponential: exponential !== undefined }
}

/**
 * Renders a service time in its one written form: `30ms`, `exp:30ms`.
 * @param {ServiceTime} time
 * @returns {string}
 */
export function renderServiceTimeOption({ meanMs, isExponential }) {
  return `${isExponential ? 'exp:' : ''}${meanMs}ms`
}

/**
 * Reads the service time of a kind of request.
 * @param {Pick<RequestKind, 'serviceTime'>} kind
 * @returns {ServiceTime} 0 ms: it has none, or one of another form
 */
export function readServiceTime({ serviceTime }) {
  return (serviceTime && parseServiceTime(serviceTime)) || { meanMs: 0, isExponential: false }
}

/**
 * Parses chunks: how many, at most 9999, and the time from one to the next.
 * @param {string} text such as 10/5ms
 * @returns {{ count: number, gapMs: number } | null} null: another form
 */
export function parseChunks(text) {
  const [, count, gap] = /^([1-9]\d{0,3})\/(\d+(?:\.\d+)?(?:ms|s))$/.exec(text) ?? []
  const time = gap === undefined ? null : parseServiceTime(gap)
  return time === null ? null : { count: Number(count), gapMs: time.meanMs }
}

/**
 * Computes the time from the first chunk of an answer to the last.
 * @param {Pick<RequestKind, 'chunks'>} kind
 * @returns {number} milliseconds; 0: the answer has no chunks or one, or their text has another form
 */
export function computeChunksMs({ chunks }) {
  const parsed = chunks === undefined ? null : parseChunks(chunks)
  return parsed === null ? 0 : (parsed.count - 1) * parsed.gapMs
}

/**
 * Says whether the application writes some answers in chunks.
 * @param {Pick<Load, 'requests'>} load
 * @returns {boolean} false also: an echo
 */
export function hasChunks({ requests = [] }) {
  return requests.some(({ chunks }) => chunks !== undefined)
}

/**
 * Finds the kind of request of a load that has only one.
 * @param {Pick<Load, 'requests' | 'traffic'>} load
 * @returns null: an echo, several kinds, or a mix, also one of a single kind
 */
export function findOnlyKind({ requests, traffic }) {
  return requests?.length === 1 && traffic === undefined ? requests[0] : null
}

/**
 * Computes the mean body bytes of a request and of a response. The response of a pipeline with its own request counts as 0 bytes:
 * the pipeline may make the answer itself, and what it receives is not known.
 * @param {Pick<Load, 'requests' | 'payloadBytes' | 'ownRequest'>} load
 * @returns {{ requestBytes: number, responseBytes: number }}
 */
export function computeBodyBytes({ requests, payloadBytes = 0, ownRequest }) {
  if (ownRequest !== undefined) return { requestBytes: ownRequest.requestBytes, responseBytes: 0 }
  if (requests === undefined) return { requestBytes: payloadBytes, responseBytes: payloadBytes }
  return {
    requestBytes: computeMeanOverKinds(requests, kind => kind.requestBytes),
    responseBytes: computeMeanOverKinds(requests, kind => kind.responseBytes),
  }
}

/**
 * Computes the mean time that the application takes for an answer, including the time between chunks.
 * @param {Pick<Load, 'requests'>} load
 * @returns {number} milliseconds; 0: an echo, or answers at once
 */
export function computeServiceMs({ requests = [] }) {
  if (requests.length === 0) return 0
  return computeMeanOverKinds(requests, kind => readServiceTime(kind).meanMs + computeChunksMs(kind))
}

// One in twenty service times of an exponential distribution is longer than three times the mean: exp(-3) is 0.05.
const SLOW_TIMES = 3

/**
 * Computes the time that a slow answer of the slowest kind takes: SLOW_TIMES its mean, and the time between chunks.
 * @param {Pick<Load, 'requests'>} load
 * @returns {number} seconds; 0: an echo, or answers at once
 */
export function computeSlowSeconds({ requests = [] }) {
  const slowMs = requests.map(kind => SLOW_TIMES * readServiceTime(kind).meanMs + computeChunksMs(kind))
  return Math.max(0, ...slowMs) / 1000
}

/**
 * Computes the users that a rate needs: twice the requests under way if all answers are slow (Little's law).
 * @param {Pick<Load, 'requests'>} load
 * @param {number} ratePerSecond
 * @returns {number} a whole number; 0: an echo, or answers at once
 */
export function computeUsersLeast(load, ratePerSecond) {
  return Math.ceil(2 * ratePerSecond * computeSlowSeconds(load))
}

const P99_SHARE = 0.01

/**
 * Computes the p99 of the application itself over a mix: the time that P99_SHARE of the requests exceed. It is found by
 * bisection, since a mix of exponential and fixed times has no formula.
 * @param {RequestKind[]} requests
 * @returns {number} milliseconds, to 0.1 ms; 0: at most P99_SHARE of the requests take any time, or there are none
 */
export function computeServiceP99Ms(requests) {
  const totalWeight = requests.reduce((sum, { weight }) => sum + weight, 0)
  const computeShareAbove = (/** @type {number} */ ms) =>
    requests.reduce((sum, kind) => sum + (kind.weight / totalWeight) * computeKindShareAbove(kind, ms), 0)
  let [low, high] = [0, 1e6]
  if (computeShareAbove(0) <= P99_SHARE) return 0
  while (high - low > 0.05) {
    const middle = (low + high) / 2
    if (computeShareAbove(middle) > P99_SHARE) low = middle
    else high = middle
  }
  return Number(high.toFixed(1))
}

/**
 * Computes the share of requests of one kind that take longer than a time.
 * @param {RequestKind} kind
 * @param {number} ms
 * @returns {number} from 0 to 1
 */
function computeKindShareAbove(kind, ms) {
  const { meanMs, isExponential } = readServiceTime(kind)
  const beyondChunksMs = ms - computeChunksMs(kind)
  if (beyondChunksMs < 0) return 1
  if (isExponential) return Math.exp(-beyondChunksMs / meanMs)
  return beyondChunksMs < meanMs ? 1 : 0
}

/**
 * Computes the mean over kinds of requests by their weights.
 * @param {RequestKind[]} requests at least one
 * @param {(kind: RequestKind) => number} measure
 */
function computeMeanOverKinds(requests, measure) {
  const totalWeight = requests.reduce((sum, { weight }) => sum + weight, 0)
  return requests.reduce((sum, kind) => sum + kind.weight * measure(kind), 0) / totalWeight
}

/**
 * Renders headers that make up so many bytes, names and line ends included: one for every HEADER_BYTES, but at least one and at
 * most HEADERS_MOST.
 * @param {number} bytes 0, or at least HEADER_BYTES_LEAST
 * @returns {Record<string, string>} {}: for 0 bytes
 */
export function renderFillerHeaders(bytes) {
  const count = Math.min(HEADERS_MOST, Math.floor(bytes / HEADER_BYTES) || (bytes > 0 ? 1 : 0))
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const name = `x-h${i.toString(36)}`
      const size = Math.floor(bytes / count) + (i < bytes % count ? 1 : 0)
      // The name, a colon, a space and a line end.
      return [name, 'v'.repeat(size - name.length - 4)]
    }),
  )
}

/**
 * Renders the body of an answer: the nonce of its request, then filler. It is cut off if the nonce is longer than `bytes`.
 * @param {number} bytes
 * @param {string} nonce
 * @returns {string} of `bytes` characters
 */
export function renderAnswerBody(bytes, nonce) {
  return (nonce + 'x'.repeat(bytes)).slice(0, bytes)
}

/**
 * Creates a request of the first kind of a load, to check its answer. It has a nonce in the header `x-nonce`, with which the body
 * of the answer begins; the bodies of an echo are the nonce.
 * @param {Pick<Load, 'requests'>} load
 * @param {string} nonce
 * @param {Protocol} [protocol] with grpc, bodies other than those of an echo are messages as latin1
 * @returns request: without the filler headers and the timing of the kind; answer: the body of its correct answer
 */
export function createCheckRequest({ requests }, nonce, protocol = 'http/1.1') {
  const headers = { 'x-nonce': nonce }
  if (requests === undefined) return { request: { method: 'POST', path: '/', body: nonce, headers }, answer: nonce }
  const [{ method, path, requestBytes, responseBytes }] = requests
  const encode = protocol === 'grpc' ? encodeEchoMessage : (/** @type {string} */ text) => text
  return {
    request: { method, path, body: encode('x'.repeat(requestBytes)), headers },
    answer: encode(renderAnswerBody(responseBytes, nonce)),
  }
}

/**
 * Encodes a message of bench/k6/echo.proto, whose field 1 is a string, as latin1: a character a byte. The tag of that field is
 * byte 10, a line feed, and the length follows as a varint (protobuf.dev/programming-guides/encoding).
 * @param {string} body in ASCII
 * @returns {string} empty: so is the body, as protobuf leaves out an empty field
 */
function encodeEchoMessage(body) {
  if (body === '') return ''
  const varint = []
  for (let rest = body.length; rest > 0; rest >>>= 7) varint.push(rest < 128 ? rest : (rest & 127) | 128)
  return `\n${String.fromCharCode(...varint)}${body}`
}

/**
 * Renders a size to a tenth of its unit: `14 KiB`, `1.5 MiB`, `400 bytes`.
 * @param {number} bytes
 * @returns {string}
 */
export function renderSize(bytes) {
  if (bytes >= 2 ** 20) return `${Number((bytes / 2 ** 20).toFixed(1))} MiB`
  return bytes >= 1024 ? `${Number((bytes / 1024).toFixed(1))} KiB` : `${bytes} bytes`
}

/**
 * Renders a load in the words of a heading: `GET, 14 KiB after 30 ms`. A mix is rendered by its name and number of kinds.
 * @param {Pick<Load, 'requests' | 'payloadBytes' | 'traffic' | 'ownRequest'>} load
 * @returns {string}
 */
export function renderRequest({ requests, payloadBytes, traffic, ownRequest }) {
  if (ownRequest !== undefined) return renderPipelineRequest(ownRequest)
  if (requests === undefined) return `POST ${renderSize(payloadBytes ?? 0)}, echoed`
  if (traffic !== undefined)
    return `traffic ${traffic}, ${requests.length} kind${requests.length === 1 ? '' : 's'} of requests`
  const [kind] = requests
  const { method, requestBytes, requestHeaderBytes, responseBytes } = kind
  const body = requestBytes > 0 ? ` ${renderSize(requestBytes)}` : ''
  const headers = requestHeaderBytes > 0 ? ` with ${renderSize(requestHeaderBytes)} of headers` : ''
  const answer = `${requestBytes > 0 ? 'answered by ' : ''}${renderSize(responseBytes)}`
  return `${method}${body}${headers}, ${answer}${renderWait(kind)}`
}

/**
 * Renders the request of a pipeline.yaml: `GET /health, answered 200 with 14 KiB`, without the size of an answer that is not known.
 * @param {NonNullable<Load['ownRequest']>} request
 */
function renderPipelineRequest({ method, path, requestBytes, status, answerBytes = [] }) {
  const body = requestBytes > 0 ? ` with ${renderSize(requestBytes)}` : ''
  const answer = answerBytes.length > 0 ? ` with ${answerBytes.map(renderSize).join(' or ')}` : ''
  return `${method} ${path}${body}, answered ${status}${answer}`
}

/**
 * Renders the times of an answer: ` after 30 ms in 10 chunks 5 ms apart`.
 * @param {RequestKind} kind
 * @returns {string} empty: it comes at once
 */
function renderWait(kind) {
  const { meanMs, isExponential } = readServiceTime(kind)
  const parsed = kind.chunks === undefined ? null : parseChunks(kind.chunks)
  const chunks = parsed === null ? '' : ` in ${parsed.count} chunks ${parsed.gapMs} ms apart`
  if (meanMs === 0) return chunks
  return ` after ${meanMs} ms${isExponential ? ' on average' : ''}${chunks}`
}
