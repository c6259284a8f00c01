// Closed loop: every user posts, waits for the answer and posts again, through warm-up, window and tail.
// Run by k6, never imported. The window is agreed in epoch milliseconds: k6 says it, when its users are there.
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'

const { URL, HOST, USERS, PAYLOAD_BYTES, WARMUP_MS, WINDOW_MS, TAIL_MS, SUMMARY_PATH } = __ENV
const payloadBytes = Number(PAYLOAD_BYTES)
const NONCE_EVERY = 50
const WARM_AFTER = 3
const GRACE_MS = 20000

// A fine grid, so that whole distributions can be drawn and compared.
const QUANTILES = []
for (let i = 0; i <= 98; i++) QUANTILES.push(i)
for (let i = 990; i <= 998; i++) QUANTILES.push(i / 10)
for (let i = 9990; i <= 9999; i++) QUANTILES.push(i / 100)

// Every look at a response or a clock costs 2 to 6 % of a request. So the number and the times of the requests
// in the window are k6's own metric, cut by a tag that each user sets once; the rest each user counts for itself.
const IN_WINDOW = 'http_req_duration{window:yes}'
const secondHalf = new Counter('window_second_half')
const failed = new Counter('window_failed')
const known = new Counter('known_failures')
const corrupted = new Counter('corrupted')
const cold = new Counter('cold_users')
const reported = new Counter('reported_users')
const REPORTED = [IN_WINDOW, 'http_req_failed', 'http_reqs', 'window_second_half', 'window_failed', 'known_failures']
REPORTED.push('corrupted', 'cold_users', 'reported_users')

export const options = {
  scenarios: {
    load: {
      // One iteration a user, a loop of requests: k6's own work around an iteration costs a tenth of a request.
      executor: 'per-vu-iterations',
      vus: Number(USERS),
      iterations: 1,
      // A request in flight may end, so that the slow ones of the window are counted.
      maxDuration: `${Number(WARMUP_MS) + Number(WINDOW_MS) + Number(TAIL_MS) + GRACE_MS}ms`,
    },
  },
  // Always true: a threshold is how k6 keeps a metric cut by a tag.
  thresholds: { [IN_WINDOW]: ['max>=0'] },
  summaryTrendStats: ['count', 'avg', ...QUANTILES.map(q => `p(${q})`)],
  systemTags: [],
  // No cookies here: a jar of its own for every iteration costs for nothing.
  noCookiesReset: true,
}
http.setResponseCallback(http.expectedStatuses(200))

export function setup() {
  const start = Date.now() + Number(WARMUP_MS)
  const end = start + Number(WINDOW_MS)
  console.log(`window ${start} ${end}`)
  return [start, (start + end) / 2, end, end + Number(TAIL_MS)]
}

const body = 'x'.repeat(payloadBytes)
const plain = HOST ? { headers: { Host: HOST } } : undefined

// 0: warm-up, 1 and 2: the halves of the window, 3: the tail. A request belongs to the phase in which it starts.
let phase = 0
const counts = [0, 0, 0, 0]
const failures = [0, 0, 0, 0]

export default function (edges) {
  for (let done = 0; phase < edges.length; done++) {
    const response =
      done % NONCE_EVERY === 0 ? postNonce(`${exec.vu.idInTest}-${done}-${edges[0]}-`) : http.post(URL, body, plain)
    const text = response.body
    counts[phase]++
    if (text === null || text.length !== payloadBytes) fail(response, text)
    if (Date.now() >= edges[phase]) enterPhase(edges)
  }
  secondHalf.add(counts[2] - failures[2])
  failed.add(failures[1] + failures[2])
  known.add(failures[0] + failures[1] + failures[2] + failures[3])
  if (counts[0] < WARM_AFTER) cold.add(1)
  reported.add(1)
}

function enterPhase(edges) {
  while (phase < edges.length && Date.now() >= edges[phase]) phase++
  exec.vu.metrics.tags.window = phase === 1 || phase === 2 ? 'yes' : 'no'
}

// A body with a nonce must come back as it was: what anything but the application answered is found here.
function postNonce(nonce) {
  const sent = (nonce + body).slice(0, payloadBytes)
  const response = http.post(URL, sent, plain)
  if (response.status === 200 && response.body !== sent) corrupted.add(1)
  return response
}

// A failure has another length than the payload. A status other than 200 that has the same is counted by k6.
function fail(response, text) {
  failures[phase]++
  if (failures.reduce((sum, n) => sum + n) > 1) return
  console.error(`status ${response.status}, ${response.error || `${text === null ? 0 : text.length} bytes`}`)
}

export function handleSummary(data) {
  const metrics = {}
  for (const name of REPORTED) metrics[name] = data.metrics[name]
  return { [SUMMARY_PATH]: JSON.stringify({ metrics }) }
}
