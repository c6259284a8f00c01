// Closed loop: every user posts, waits for the answer and posts again, through warm-up, window and tail.
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import * as common from './common.js'
import { ANSWERED, createAsker, listKindMetrics } from './requests.js'

// What every request touches is named here once: a look into another module costs some percent of a request.
const { url, call, body, plain, NONCE_EVERY, WARM_AFTER, IN_WINDOW, HAS_NEW_CONNECTIONS } = common
const { post } = http
const asker = ANSWERED === null ? null : createAsker({ url, call, host: __ENV.HOST, place: 0 })
const { now } = Date

// Every look at a response or a clock costs some percent of a request. So each user counts for itself what
// k6 does not count anyway, and sets the tag of the window once.
const secondHalf = new Counter('window_second_half')
const failed = new Counter('window_failed')
const known = new Counter('known_failures')
const cold = new Counter('cold_users')
const reported = new Counter('reported_users')
const REPORTED = [IN_WINDOW, 'http_req_failed', 'http_reqs', 'window_second_half', 'window_failed', 'known_failures']
REPORTED.push('corrupted', 'cold_users', 'reported_users', 'waited_0', 'late_0', 'data_sent', 'data_received')

export const options = {
  ...common.commonOptions,
  scenarios: {
    load: {
      // One iteration a user, a loop of requests: k6's own work around an iteration costs a tenth of a request.
      executor: 'per-vu-iterations',
      vus: common.USERS,
      iterations: 1,
      maxDuration: `${common.DURATION_MS + common.GRACE_MS}ms`,
      // A request that hangs is not waited for any longer: k6 would for another 30 s.
      gracefulStop: '0s',
    },
  },
  // Always true: a threshold is how k6 keeps a metric cut by a tag.
  thresholds: { [IN_WINDOW]: ['max>=0'] },
}

export const setup = common.announceWindow

// 0: warm-up, 1 and 2: the halves of the window, 3: the tail. A request belongs to the phase in which it starts.
let phase = 0
const counts = [0, 0, 0, 0]
const failures = [0, 0, 0, 0]

export default function (edges) {
  let edge = edges[0]
  let before = 0
  for (let done = 1; phase < edges.length; done++) {
    const nonce = done % NONCE_EVERY === 1 ? `${exec.vu.idInTest}-${done}-${edges[0]}-` : ''
    let expected = body
    let response
    if (asker === null) {
      if (nonce !== '') expected = common.createNonceBody(nonce)
      response = call === null ? post(url, expected, plain) : call(expected)
    } else {
      response = asker.ask(nonce, phase === 1 || phase === 2)
      expected = asker.expected
    }
    if (HAS_NEW_CONNECTIONS) common.addWithConnection(response.timings)
    // The whole body: a look at its length alone costs more, for k6 searches each character for one that is not ASCII.
    if (response.body !== expected) fail(response)
    if (now() >= edge) {
      counts[phase] = done - before
      before = done
      enterPhase(edges)
      edge = edges[phase]
    }
  }
  secondHalf.add(counts[2] - failures[2])
  failed.add(failures[1] + failures[2])
  known.add(failures[0] + failures[1] + failures[2] + failures[3])
  if (counts[0] < WARM_AFTER) cold.add(1)
  reported.add(1)
}

function enterPhase(edges) {
  while (phase < edges.length && now() >= edges[phase]) phase++
  exec.vu.metrics.tags.window = phase === 1 || phase === 2 ? 'yes' : 'no'
}

// A failure has another body than expected. A status other than 200 that has the same is counted by k6.
function fail(response) {
  failures[phase]++
  common.countCorrupted(response)
  if (failures.reduce((sum, n) => sum + n) === 1) common.logFailure(response)
}

export function handleSummary(data) {
  const metrics = {}
  for (const name of REPORTED) metrics[name] = data.metrics[name]
  Object.assign(metrics, listKindMetrics(data.metrics, 0))
  return common.writeMetrics(metrics)
}
