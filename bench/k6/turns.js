// In turns: every user posts, waits for the answer and posts again. All users go to one arm for some milliseconds, then to
// another, by the clock that they share; each keeps a connection to every arm.
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import * as common from './common.js'

const { body, plain, NONCE_EVERY, WARM_AFTER } = common
const { post } = http
const { now } = Date

const SLICE_MS = Number(__ENV.SLICE_MS)
const WARMUP_MS = Number(__ENV.WARMUP_MS)
const WINDOW_MS = Number(__ENV.WINDOW_MS)
const SECONDS = Math.ceil(WINDOW_MS / 1000)
const { ORDER } = __ENV
// Of each arm, the address of this user.
const urls = __ENV.ARM_URLS.split(';').map(text => {
  const own = text.split(',')
  return own[__VU % own.length]
})
const arms = urls.map((_, i) => i)

// Times, and failures that only k6 sees, are its own metrics, cut by the arm whose turn it is in the window.
const timesOf = arm => `http_req_duration{arm:${arm}}`
const failuresOf = arm => `http_req_failed{arm:${arm}}`
const secondHalf = arms.map(arm => new Counter(`second_half_${arm}`))
const failed = arms.map(arm => new Counter(`failed_${arm}`))
const cold = arms.map(arm => new Counter(`cold_${arm}`))
const corrupted = arms.map(arm => new Counter(`corrupted_${arm}`))
const reported = new Counter('reported_users')

const always = {}
for (const arm of arms) {
  always[timesOf(arm)] = ['max>=0']
  always[failuresOf(arm)] = ['rate>=0']
}

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
  // Always true: a threshold is how k6 keeps a metric cut by a tag.
  thresholds: always,
}

export const setup = common.announceWindow

// 0: warm-up, 1 and 2: the halves of the window, 3: the tail. A request belongs to the slice and to the phase in which it starts.
let phase = 0
let arm = 0
let changesAt = 0
let tagged = ''
const warm = arms.map(() => 0)
const halves = arms.map(() => 0)
const failures = arms.map(() => 0)
const verified = arms.map(() => new Array(SECONDS).fill(0))
let isLogged = false

export default function (edges) {
  for (let done = 1; ; done++) {
    const at = now()
    if (at >= changesAt) enterSlice(edges, at)
    if (phase >= edges.length) break
    const sent = done % NONCE_EVERY === 1 ? common.createNonceBody(`${exec.vu.idInTest}-${done}-${edges[0]}-`) : body
    const response = post(urls[arm], sent, plain)
    if (response.body !== sent) fail(response)
    else if (phase === 0) warm[arm]++
    else if (phase < 3) {
      verified[arm][Math.floor((at - edges[0]) / 1000)]++
      if (phase === 2) halves[arm]++
    }
  }
  for (const own of arms) {
    secondHalf[own].add(halves[own])
    failed[own].add(failures[own])
    if (warm[own] < WARM_AFTER) cold[own].add(1)
  }
  reported.add(1)
  console.log(`verified ${verified.map(counts => counts.join(',')).join(';')}`)
}

function enterSlice(edges, at) {
  while (phase < edges.length && at >= edges[phase]) phase++
  const began = edges[0] - WARMUP_MS
  const slice = Math.max(0, Math.floor((at - began) / SLICE_MS))
  arm = Number(ORDER[slice % ORDER.length])
  changesAt = Math.min(began + (slice + 1) * SLICE_MS, edges[phase] ?? Infinity)
  const tag = phase === 1 || phase === 2 ? `${arm}` : 'none'
  if (tag === tagged) return
  tagged = tag
  exec.vu.metrics.tags.arm = tag
}

// A failure has another body than was sent. A status other than 200 that has the same is counted by k6.
function fail(response) {
  if (phase === 1 || phase === 2) failures[arm]++
  if (response.status === 200) corrupted[arm].add(1)
  if (!isLogged) common.logFailure(response)
  isLogged = true
}

// The milliseconds of the window in which it was an arm's turn.
function countOwnMs(own) {
  let sum = 0
  for (let ms = WARMUP_MS; ms < WARMUP_MS + WINDOW_MS; ) {
    const slice = Math.floor(ms / SLICE_MS)
    const until = Math.min((slice + 1) * SLICE_MS, WARMUP_MS + WINDOW_MS)
    if (Number(ORDER[slice % ORDER.length]) === own) sum += until - ms
    ms = until
  }
  return sum
}

// A line for each arm, in the form that the other scripts have.
export function handleSummary({ metrics: all }) {
  const lines = arms.map(own =>
    JSON.stringify({
      metrics: {
        'http_req_duration{window:yes}': all[timesOf(own)],
        http_req_failed: all[failuresOf(own)],
        window_second_half: all[`second_half_${own}`],
        window_failed: all[`failed_${own}`],
        known_failures: all[`failed_${own}`],
        corrupted: all[`corrupted_${own}`],
        cold_users: all[`cold_${own}`],
        reported_users: all.reported_users,
      },
      ownSeconds: countOwnMs(own) / 1000,
    }),
  )
  return { stdout: `${lines.join('\n')}\n` }
}
