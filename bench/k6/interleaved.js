// In turns: every user posts, waits for the answer and posts again. All users go to one arm for some milliseconds, then to
// another, by the clock that they share; each keeps a connection to every arm, and as many idle ones as the arm asks for.
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import * as shared from './arms.js'
import * as common from './common.js'

const { plain, NONCE_EVERY, WARM_AFTER } = common
const { urls, arms, calls, bodies, askers, corrupted } = shared
const { post } = http
const { now } = Date
// Connections of each user that stay idle, by arm.
const idle = __ENV.IDLE_CONNECTIONS.split(',').map(Number)
const hasIdle = idle.some(count => count > 0)
const reported = new Counter('reported_users')

export const options = {
  ...common.commonOptions,
  scenarios: {
    load: {
      executor: 'per-vu-iterations',
      vus: common.USERS,
      iterations: 1,
      maxDuration: `${common.DURATION_MS + common.GRACE_MS}ms`,
      gracefulStop: '0s',
    },
  },
  thresholds: shared.thresholds,
  // A user of k6 keeps as many connections that are not in use as a batch may have requests: to all addresses, and to one.
  ...(hasIdle && { batch: idle.reduce((sum, count) => sum + count + 1, 0), batchPerHost: 1 + Math.max(...idle) }),
}

export const setup = common.announceWindow

// 0: warm-up, 1 and 2: the halves of the window, 3: the tail.
let phase = 0
let arm = 0
let changesAt = 0
const warm = arms.map(() => 0)
const halves = arms.map(() => 0)
const failures = arms.map(() => 0)
const verified = arms.map(() => new Array(shared.TENTHS).fill(0))
let isLogged = false

export default function (edges) {
  shared.tagRequests(0, 0)
  for (const i of arms) if (idle[i] > 0) connect(i)
  for (let done = 1; ; done++) {
    const at = now()
    if (at >= changesAt) enterSlice(edges, at)
    if (phase >= edges.length) break
    const usual = bodies[arm]
    const isSampled = done % NONCE_EVERY === 1
    const nonce = isSampled ? `${exec.vu.idInTest}-${done}-${edges[0]}-` : ''
    let expected = usual
    let response
    if (askers === null) {
      if (isSampled) expected = common.createNonceBody(nonce, usual)
      response = calls[arm] === null ? post(urls[arm], expected, plain) : calls[arm](expected)
    } else {
      response = askers[arm].ask(nonce, phase === 1 || phase === 2)
      expected = askers[arm].expected
    }
    if (response.body !== expected) fail(response)
    else if (phase === 0) warm[arm]++
    else if (phase < 3) {
      verified[arm][Math.floor((at - edges[0]) / 100)]++
      if (phase === 2) halves[arm]++
    }
  }
  for (const i of arms) {
    shared.secondHalf[i].add(halves[i])
    shared.failed[i].add(failures[i])
    if (warm[i] < WARM_AFTER) shared.cold[i].add(1)
  }
  reported.add(1)
  shared.sayVerified(verified)
}

// Requests at the same time take a connection each.
function connect(to) {
  const kind = askers === null ? ['POST', urls[to], bodies[to], plain] : askers[to].describe()
  http.batch(new Array(1 + idle[to]).fill(kind))
}

function enterSlice(edges, at) {
  while (phase < edges.length && at >= edges[phase]) phase++
  const slice = shared.computeSlice(at, edges)
  arm = shared.chooseArm(slice)
  changesAt = Math.min(shared.computeSliceEnd(slice, edges), edges[phase] ?? Infinity)
  shared.tagRequests(arm, phase)
}

// A failure has another body than expected. A status other than 200 that has the same is counted by k6.
function fail(response) {
  if (phase === 1 || phase === 2) failures[arm]++
  if (response.status === 200) corrupted[arm].add(1)
  if (!isLogged) common.logFailure(response)
  isLogged = true
}

export function handleSummary({ metrics: all }) {
  return shared.writeArms(all, () => ({ reported_users: all.reported_users }))
}
