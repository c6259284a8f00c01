// Open loop: requests start at a rate, whatever is answered, through warm-up, window and tail.
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'
import {
  addWithConnection,
  announceWindow,
  body,
  call,
  commonOptions,
  countCorrupted,
  createNonceBody,
  DURATION,
  DURATION_MS,
  GRACE_MS,
  HAS_NEW_CONNECTIONS,
  IN_WINDOW,
  isCalled,
  logFailure,
  loudUrl,
  NONCE_EVERY,
  plain,
  USERS,
  url,
  urls,
  WARM_AFTER,
  writeMetrics,
} from './common.js'
import { ANSWERED, createAsker, listKindMetrics } from './requests.js'

const asker = ANSWERED === null ? null : createAsker({ url, call, host: __ENV.HOST, place: 0 })
const RATE = Number(__ENV.RATE)
const WINDOW_MS = Number(__ENV.WINDOW_MS)
const BURST = __ENV.BURST_FACTOR
  ? {
      factor: Number(__ENV.BURST_FACTOR),
      beginsMs: Number(__ENV.WARMUP_MS) + Number(__ENV.BURST_BEGINS_MS),
      ms: Number(__ENV.BURST_MS),
    }
  : null
// Requests due in the burst, and in the whole window.
const BURST_DUE = BURST ? Math.round((RATE * BURST.factor * BURST.ms) / 1000) : 0
const DUE = Math.round((RATE * (WINDOW_MS - (BURST ? BURST.ms : 0))) / 1000) + BURST_DUE
const IN_BURST = IN_WINDOW.replace('window:', 'burst:')
// A second rate, to one address alone, whose requests count apart.
const LOUD_RATE = Number(__ENV.LOUD_RATE ?? 0)
// Requests of the window to each of the other addresses.
const quiet = LOUD_RATE ? urls.map((_, i) => new Counter(`quiet_${i}`)) : []
const DROPPED = LOUD_RATE ? 'dropped_iterations{scenario:load}' : 'dropped_iterations'
const FAILED_IN_BURST = 'window_failed{burst:yes}'
// Of a burst, the window is counted piece by piece.
const PIECE_MS = Number(__ENV.PIECE_MS)
const PIECES = PIECE_MS ? Math.ceil(WINDOW_MS / PIECE_MS) : 0
const pieceMetrics = []
for (let i = 0; i < PIECES; i++) pieceMetrics.push(`${DURATION}{piece:${i}}`)
// k6 does not count calls, but times them.
const SECOND_HALF = isCalled ? 'grpc_req_duration{half:second}' : 'http_reqs{half:second}'

const failed = new Counter('window_failed')
const failedSecondHalf = new Counter('failed_second_half')
const known = new Counter('known_failures')
const cold = new Counter('cold_users')
// How late a request starts: k6 itself does not time from the moment at which it was due.
const lag = new Trend('lag', true)
const REPORTED = [IN_WINDOW, 'http_req_failed', 'http_reqs', 'window_failed', 'known_failures', 'corrupted']
REPORTED.push('cold_users', 'lag', 'waited_0', 'late_0', 'data_sent', 'data_received')

const constantRate = { executor: 'constant-arrival-rate', rate: RATE, timeUnit: '1s', duration: `${DURATION_MS}ms` }
// As many users for every plane, and no more are made under load: a request that finds none free is dropped.
const someUsers = { preAllocatedVUs: USERS, maxVUs: USERS, gracefulStop: `${GRACE_MS}ms` }
const createBurstScenario = ({ factor, beginsMs, ms }) => ({
  executor: 'ramping-arrival-rate',
  startRate: RATE,
  timeUnit: '1s',
  stages: [
    { target: RATE, duration: `${beginsMs}ms` },
    { target: RATE * factor, duration: '0s' },
    { target: RATE * factor, duration: `${ms}ms` },
    { target: RATE, duration: '0s' },
    { target: RATE, duration: `${DURATION_MS - beginsMs - ms}ms` },
  ],
})

const always = { [IN_WINDOW]: ['max>=0'], [SECOND_HALF]: [isCalled ? 'max>=0' : 'count>=0'] }
for (const name of pieceMetrics) always[name] = ['max>=0']
if (LOUD_RATE) always[DROPPED] = ['count>=0']
if (BURST) {
  always[IN_BURST] = ['max>=0']
  always[FAILED_IN_BURST] = ['count>=0']
  REPORTED.push(IN_BURST, FAILED_IN_BURST)
}

export const options = {
  ...commonOptions,
  scenarios: {
    load: { ...(BURST ? createBurstScenario(BURST) : constantRate), ...someUsers },
    ...(LOUD_RATE && { loud: { ...constantRate, rate: LOUD_RATE, ...someUsers, exec: 'askLoud' } }),
  },
  ...(LOUD_RATE && { systemTags: ['scenario'] }),
  // Always true: a threshold is how k6 keeps a metric cut by a tag.
  thresholds: always,
}

export const setup = announceWindow

// 0: warm-up, 1 and 2: the halves of the window, 3: the tail. A request belongs to the phase in which it starts.
let phase = 0
let done = 0
let failures = 0
let piece = -1
let isInBurst = null
let place = null

export default function (edges) {
  if (phase < edges.length && Date.now() >= edges[phase]) enterPhase(edges)
  if (PIECES > 0 && (phase === 1 || phase === 2)) enterPiece(Math.floor((Date.now() - edges[0]) / PIECE_MS))
  if (BURST) tagBurst()
  const i = exec.scenario.iterationInTest
  const isSampled = i % NONCE_EVERY === 0
  if (isSampled && BURST === null && (phase === 1 || phase === 2))
    lag.add(Date.now() - (exec.scenario.startTime + (i * 1000) / RATE))
  const nonce = isSampled ? `${i}-${edges[0]}-` : ''
  let expected = body
  let response
  if (asker === null) {
    if (isSampled) expected = createNonceBody(nonce)
    response = call === null ? http.post(LOUD_RATE ? chooseQuietUrl(i) : url, expected, plain) : call(expected)
  } else {
    response = asker.ask(nonce, phase === 1 || phase === 2, i)
    expected = asker.expected
  }
  if (HAS_NEW_CONNECTIONS) addWithConnection(response.timings)
  done++
  if (response.body !== expected) fail(response)
}

// Both scenarios take their users from one pool, and one may get those with even numbers alone: a number is no place then.
// k6 gives each request to the user that has been free for longest, so the first requests go to as many users.
function chooseQuietUrl(i) {
  if (place === null) place = i % urls.length
  if (phase === 1 || phase === 2) quiet[place].add(1)
  return urls[place]
}

const loudVerified = new Counter('loud_verified')
const loudFailed = new Counter('loud_failed')

// Its times are in no metric of the window, and its failures are none of the other addresses.
export function askLoud(edges) {
  const at = Date.now()
  const response = http.post(loudUrl, body, plain)
  const isRight = response.status === 200 && response.body === body
  if (at >= edges[0] && at < edges[2]) (isRight ? loudVerified : loudFailed).add(1)
  if (isRight) return
  countCorrupted(response)
  known.add(1)
  if (++failures === 1) logFailure(response, 'loud pair: ')
}

function enterPhase(edges) {
  const isFirst = phase === 0
  while (phase < edges.length && Date.now() >= edges[phase]) phase++
  if (isFirst && phase < 3 && done < WARM_AFTER) cold.add(1)
  const { tags } = exec.vu.metrics
  tags.window = phase === 1 || phase === 2 ? 'yes' : 'no'
  tags.half = phase === 2 ? 'second' : 'other'
  if (phase > 2) tags.piece = 'none'
}

function enterPiece(current) {
  if (current === piece) return
  piece = current
  exec.vu.metrics.tags.piece = `${piece}`
}

// k6 times its stages, and so the burst, from the start of the scenario.
function tagBurst() {
  const ms = Date.now() - exec.scenario.startTime - BURST.beginsMs
  const isInside = ms >= 0 && ms < BURST.ms
  if (isInside === isInBurst) return
  isInBurst = isInside
  exec.vu.metrics.tags.burst = isInside ? 'yes' : 'no'
}

// A failure has another body than expected. A status other than 200 that has the same is counted by k6.
function fail(response) {
  countCorrupted(response)
  known.add(1)
  if (phase === 1 || phase === 2) failed.add(1)
  if (phase === 2) failedSecondHalf.add(1)
  if (++failures === 1) logFailure(response)
}

export function handleSummary({ metrics: all }) {
  const metrics = {}
  for (const name of REPORTED) metrics[name] = all[name]
  Object.assign(metrics, listKindMetrics(all, 0))
  const count = name => all[name]?.values?.count ?? all[name]?.count ?? 0
  metrics.window_second_half = { count: count(SECOND_HALF) - count('failed_second_half') }
  metrics.open_loop = {}
  metrics.dropped_iterations = all[DROPPED]
  if (LOUD_RATE) {
    metrics.loud_due = { count: Math.round((LOUD_RATE * WINDOW_MS) / 1000) }
    metrics.loud_verified = all.loud_verified
    metrics.loud_failed = all.loud_failed
    for (const i of quiet.keys()) metrics[`quiet_${i}`] = { count: count(`quiet_${i}`) }
  }
  metrics.due = { count: DUE }
  if (BURST) metrics.burst_due = { count: BURST_DUE }
  return writeMetrics(
    metrics,
    pieceMetrics.map(name => describePiece(all[name])),
  )
}

// [requests, p50 ms, p99 ms]
function describePiece(metric) {
  const values = metric?.values ?? metric ?? {}
  return [values.count ?? 0, values['p(50)'] ?? null, values['p(99)'] ?? null]
}
