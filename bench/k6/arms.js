// The load of several arms, shared by the scripts that make it. Run by k6, never imported by src/.
import exec from 'k6/execution'
import { Counter } from 'k6/metrics'
import { createCall, isGrpc } from './call.js'
import { createRequest } from './own-request.js'
import { ANSWERED, createAsker, listKindMetrics } from './requests.js'

const { ARM_URLS, ORDER, PAYLOADS } = __ENV
const WARMUP_MS = Number(__ENV.WARMUP_MS)
const WINDOW_MS = Number(__ENV.WINDOW_MS)
export const SLICE_MS = Number(__ENV.SLICE_MS)
export const TENTHS = Math.ceil(WINDOW_MS / 100)

// The address of this user at each arm.
export const urls = ARM_URLS.split(';').map(text => {
  const addresses = text.split(',')
  return addresses[__VU % addresses.length]
})
export const arms = urls.map((_, i) => i)
// How it calls that of each arm; null: it posts.
export const calls = urls.map((url, arm) => (isGrpc(url) ? createCall(url) : createRequest(arm, url)))
// The bodies that requests to each arm have.
export const bodies = PAYLOADS.split(',').map(bytes => 'x'.repeat(Number(bytes)))

// The askers of each arm send the requests that are answered; null: all arms echo.
export const askers =
  ANSWERED === null ? null : urls.map((url, place) => createAsker({ url, call: calls[place], host: __ENV.HOST, place }))

// Times, and failures that only k6 sees, are its own metrics, cut by the arm whose request it is in the window.
export const renderTimesMetric = arm => `${isGrpc(urls[arm]) ? 'grpc' : 'http'}_req_duration{arm:${arm}}`
export const renderFailuresMetric = arm => `http_req_failed{arm:${arm}}`
export const failed = arms.map(arm => new Counter(`failed_${arm}`))
export const cold = arms.map(arm => new Counter(`cold_${arm}`))
export const corrupted = arms.map(arm => new Counter(`corrupted_${arm}`))
export const secondHalf = arms.map(arm => new Counter(`second_half_${arm}`))

// Always true: a threshold is how k6 keeps a metric cut by a tag.
export const thresholds = {}
for (const arm of arms) {
  thresholds[renderTimesMetric(arm)] = ['max>=0']
  thresholds[renderFailuresMetric(arm)] = ['rate>=0']
}

// The number of a slice, counted from the start of the warm-up.
export const computeSlice = (at, edges) => Math.max(0, Math.floor((at - edges[0] + WARMUP_MS) / SLICE_MS))
export const chooseArm = slice => Number(ORDER[slice % ORDER.length])
export const computeSliceEnd = (slice, edges) => edges[0] - WARMUP_MS + (slice + 1) * SLICE_MS

// Only requests of the window count: each belongs to the phase and the slice in which it starts.
let tagged = ''
export function tagRequests(arm, phase) {
  const tag = phase === 1 || phase === 2 ? `${arm}` : 'none'
  if (tag === tagged) return
  tagged = tag
  exec.vu.metrics.tags.arm = tag
}

export function sayVerified(verified) {
  console.log(`verified by the tenth ${verified.map(counts => counts.join(',')).join(';')}`)
}

// The milliseconds of the window in which requests went to an arm.
function countArmMs(arm) {
  if (!SLICE_MS) return WINDOW_MS
  let sum = 0
  for (let ms = WARMUP_MS; ms < WARMUP_MS + WINDOW_MS; ) {
    const slice = Math.floor(ms / SLICE_MS)
    const until = Math.min((slice + 1) * SLICE_MS, WARMUP_MS + WINDOW_MS)
    if (chooseArm(slice) === arm) sum += until - ms
    ms = until
  }
  return sum
}

// A line for each arm, in the form that the other scripts have.
export function writeArms(all, more = () => ({})) {
  const lines = arms.map(arm =>
    JSON.stringify({
      metrics: {
        'http_req_duration{window:yes}': all[renderTimesMetric(arm)],
        http_req_failed: all[renderFailuresMetric(arm)],
        window_second_half: all[`second_half_${arm}`],
        window_failed: all[`failed_${arm}`],
        known_failures: all[`failed_${arm}`],
        corrupted: all[`corrupted_${arm}`],
        cold_users: all[`cold_${arm}`],
        ...(ANSWERED && { waited_0: all[`waited_${arm}`], late_0: all[`late_${arm}`] }),
        ...listKindMetrics(all, arm),
        ...more(arm),
      },
      ownSeconds: countArmMs(arm) / 1000,
    }),
  )
  return { stdout: `${lines.join('\n')}\n` }
}
