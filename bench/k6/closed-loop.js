// Closed loop: every user posts, waits for the answer and posts again, through warm-up, window and tail.
// Run by k6, never imported. The window is agreed in epoch milliseconds: k6 says it, when its users are there.
import { Counter, Trend } from 'k6/metrics'
import http from 'k6/http'
import exec from 'k6/execution'

const { URL, HOST, USERS, PAYLOAD_BYTES, WARMUP_MS, WINDOW_MS, TAIL_MS, SUMMARY_PATH } = __ENV
const payloadBytes = Number(PAYLOAD_BYTES)
const NONCE_EVERY = 50
const WARM_AFTER = 3

// A fine grid, so that whole distributions can be drawn and compared.
const QUANTILES = []
for (let i = 0; i <= 98; i++) QUANTILES.push(i)
for (let i = 990; i <= 998; i++) QUANTILES.push(i / 10)
for (let i = 9990; i <= 9999; i++) QUANTILES.push(i / 100)

export const options = {
  scenarios: {
    load: {
      executor: 'constant-vus',
      vus: Number(USERS),
      duration: `${Number(WARMUP_MS) + Number(WINDOW_MS) + Number(TAIL_MS)}ms`,
      gracefulStop: '0s',
    },
  },
  summaryTrendStats: ['count', 'avg', ...QUANTILES.map(q => `p(${q})`)],
  systemTags: [],
  noConnectionReuse: false,
}

// Verified requests that ended inside of the window; its count is the throughput.
const verified = new Trend('window_verified', true)
const verifiedLate = new Counter('window_verified_second_half')
const failed = new Counter('window_failed')
const corrupted = new Counter('corrupted')
const cold = new Counter('cold_users')

const body = 'x'.repeat(payloadBytes)
const headers = { 'content-type': 'text/plain' }
if (HOST) headers.Host = HOST
const plain = { headers, responseType: 'text' }

let done = 0
let isInWindow = false

export function setup() {
  const start = Date.now() + Number(WARMUP_MS)
  const end = start + Number(WINDOW_MS)
  console.log(`window ${start} ${end}`)
  return { start, end, middle: (start + end) / 2 }
}

export default function ({ start, end, middle }) {
  const isNonced = done % NONCE_EVERY === 0
  const nonce = isNonced ? `${exec.vu.idInTest}-${done}-${start}` : ''
  const sent = isNonced ? (nonce + body).slice(0, payloadBytes) : body
  const response = isNonced
    ? http.post(URL, sent, { headers: Object.assign({ 'x-nonce': nonce }, headers), responseType: 'text' })
    : http.post(URL, sent, plain)
  const now = Date.now()
  done++

  let isVerified = response.status === 200 && response.body !== null && response.body.length === payloadBytes
  if (isNonced && isVerified && (response.body !== sent || response.headers['X-Nonce'] !== nonce)) {
    corrupted.add(1)
    isVerified = false
  }
  if (now < start || now >= end) return
  if (!isInWindow) {
    isInWindow = true
    if (done <= WARM_AFTER) cold.add(1)
  }
  if (isVerified) {
    verified.add(response.timings.duration)
    if (now >= middle) verifiedLate.add(1)
  } else {
    failed.add(1)
    if (failuresLogged++ < 3) {
      console.error(`status ${response.status}, ${response.error || `${response.body ? response.body.length : 0} bytes`}`)
    }
  }
}

let failuresLogged = 0

export function handleSummary(data) {
  const metrics = {}
  for (const name of ['window_verified', 'window_verified_second_half', 'window_failed', 'corrupted', 'cold_users']) {
    metrics[name] = data.metrics[name]
  }
  return { [SUMMARY_PATH]: JSON.stringify({ metrics }) }
}
