// What both load shapes share. Run by k6, never imported by src/.
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'
import { createCall, hosts, isGrpc } from './call.js'
import { createRequest } from './own-request.js'

const { URLS, HOST, PAYLOAD_BYTES, WARMUP_MS, WINDOW_MS, TAIL_MS, CERTIFICATE, KEY, CONNECTIONS } = __ENV

export const payloadBytes = Number(PAYLOAD_BYTES)
export const USERS = Number(__ENV.USERS)
export const DURATION_MS = Number(WARMUP_MS) + Number(WINDOW_MS) + Number(TAIL_MS)
// A request in flight may end, so that the slow ones of the window are counted.
export const GRACE_MS = 20000
export const NONCE_EVERY = 50
export const WARM_AFTER = 3
// The number and the times of the requests in the window are k6's own metric, cut by a tag.
// k6 times a request from when its connection stands. Where every request makes one, ours is timed from its start.
export const HAS_NEW_CONNECTIONS = CONNECTIONS === 'new'
// Each user has one address and stays with it: by its number, which runs from 1 to USERS. A loud address has users of its own.
export const urls = URLS.split(',')
export const loudUrl = __ENV.LOUD_RATE ? urls.shift() : null
export const url = urls[__VU % urls.length]
// k6 times calls of gRPC by another metric, and does not count them.
export const isCalled = isGrpc(url) && !__ENV.ARM_URLS
// How it calls that; null: it posts, or there are several arms.
export const call = __ENV.ARM_URLS ? null : isCalled ? createCall(url) : createRequest(0, url)
export const DURATION = isCalled ? 'grpc_req_duration' : 'http_req_duration'
export const IN_WINDOW = HAS_NEW_CONNECTIONS ? 'with_connection{window:yes}' : `${DURATION}{window:yes}`
const withConnection = HAS_NEW_CONNECTIONS ? new Trend('with_connection', true) : null
// Blocked is the time until there is a connection, its handshake included.
export function addWithConnection({ blocked, duration }) {
  withConnection.add(blocked + duration)
}

// A fine grid, so that whole distributions can be drawn and compared.
const QUANTILES = []
for (let i = 0; i <= 98; i++) QUANTILES.push(i)
for (let i = 990; i <= 998; i++) QUANTILES.push(i / 10)
for (let i = 9990; i <= 9999; i++) QUANTILES.push(i / 100)

// k6 interpolates between the two times beside a quantile. A quantile just below tells how far these are apart, so the
// reader finds the time that was measured (src/loads/k6/summary.js).
const BELOW_PERCENT = 1e-7
const BELOW = [50, 90, 95, 99, 99.9].map(q => (q - BELOW_PERCENT).toFixed(7))

export const commonOptions = {
  summaryTrendStats: ['count', 'avg', ...[...QUANTILES, ...BELOW].map(q => `p(${q})`)],
  systemTags: [],
  // No cookies here: a jar of its own for every iteration costs for nothing.
  noCookiesReset: true,
  noConnectionReuse: HAS_NEW_CONNECTIONS,
  hosts,
  // The sidecar is what is measured: that it asks for our certificate, the parity corpus has seen.
  ...(CERTIFICATE
    ? { insecureSkipTLSVerify: true, tlsAuth: [{ cert: open(CERTIFICATE), key: open(KEY) }], tlsVersion: 'tls1.3' }
    : {}),
}
http.setResponseCallback(http.expectedStatuses(200))

const corrupted = new Counter('corrupted')
export const body = 'x'.repeat(payloadBytes)
export const plain = HOST ? { headers: { Host: HOST } } : undefined

// The window is agreed in epoch milliseconds: k6 says it, when its users are there.
export function announceWindow() {
  // At round tenths of a second, when processes are read, too.
  const start = 100 * Math.ceil(Date.now() / 100) + Number(WARMUP_MS)
  const end = start + Number(WINDOW_MS)
  console.log(`window ${start} ${end}`)
  return [start, (start + end) / 2, end, end + Number(TAIL_MS)]
}

// A body that nobody has sent before: an answer that was kept from another request is another one.
export function createNonceBody(nonce, usual = body) {
  return (nonce + usual).slice(0, usual.length)
}

// An answer that is not what was sent. Only the application, which echoes, may answer 200.
export function countCorrupted(response) {
  if (response.status === 200) corrupted.add(1)
}

export function logFailure(response, start = '') {
  const bytes = response.body === null ? 0 : response.body.length
  const what = `${bytes} bytes${bytes === payloadBytes && response.status === 200 ? ', another body' : ''}`
  console.error(`${start}status ${response.status}, ${response.error || what}`)
}

// As a line of the log: a pod leaves nothing else behind.
export function writeMetrics(metrics, pieces = []) {
  return { stdout: `${JSON.stringify({ metrics, pieceMs: Number(__ENV.PIECE_MS), pieces })}\n` }
}
