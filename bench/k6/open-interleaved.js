// Open loop of several arms: requests start at a rate, whatever is answered. Each arm gets the rate all the time, from users
// of its own, or (with slices) all users go to one arm for a second, then to another.
import exec from 'k6/execution'
import http from 'k6/http'
import { Trend } from 'k6/metrics'
import * as shared from './arms.js'
import * as common from './common.js'

const RATE = Number(__ENV.RATE)
const { arms, urls, calls, SLICE_MS, corrupted } = shared
const lag = new Trend('lag', true)
const renderLagMetric = arm => `lag{arm:${arm}}`
const renderDroppedMetric = name => `dropped_iterations{scenario:${name}}`
const renderScenarioName = arm => (SLICE_MS ? 'load' : `arm${arm}`)

const executor = {
  executor: 'constant-arrival-rate',
  rate: RATE,
  timeUnit: '1s',
  duration: `${common.DURATION_MS}ms`,
  // As many for every arm, and no more are made under load: a request that finds none free is dropped.
  preAllocatedVUs: common.USERS,
  maxVUs: common.USERS,
  gracefulStop: `${common.GRACE_MS}ms`,
}
const scenarios = {}
const thresholds = { ...shared.thresholds }
for (const arm of arms) {
  scenarios[renderScenarioName(arm)] = { ...executor, ...(SLICE_MS ? {} : { env: { ARM: `${arm}` } }) }
  thresholds[renderLagMetric(arm)] = ['max>=0']
  thresholds[renderDroppedMetric(renderScenarioName(arm))] = ['count>=0']
}

export const options = { ...common.commonOptions, systemTags: ['scenario'], scenarios, thresholds }

export const setup = common.announceWindow

let phase = 0
const done = arms.map(() => 0)
let isLogged = false

export default function (edges) {
  const at = Date.now()
  const isWarming = phase === 0
  while (phase < edges.length && at >= edges[phase]) phase++
  if (isWarming && phase > 0 && phase < 3) tellCold()
  const arm = SLICE_MS ? shared.chooseArm(shared.computeSlice(at, edges)) : Number(__ENV.ARM)
  shared.tagRequests(arm, phase)
  const i = exec.scenario.iterationInTest
  const isSampled = i % common.NONCE_EVERY === 0
  const inWindow = phase === 1 || phase === 2
  if (isSampled && inWindow) lag.add(at - (exec.scenario.startTime + (i * 1000) / RATE))
  const nonce = isSampled ? `${arm}-${i}-${edges[0]}-` : ''
  let expected = shared.bodies[arm]
  let response
  if (shared.askers === null) {
    if (isSampled) expected = common.createNonceBody(nonce, expected)
    response = calls[arm] === null ? http.post(urls[arm], expected, common.plain) : calls[arm](expected)
  } else {
    response = shared.askers[arm].ask(nonce, inWindow, i)
    expected = shared.askers[arm].expected
  }
  done[arm]++
  if (response.body !== expected) fail(arm, response)
  else if (phase === 2) shared.secondHalf[arm].add(1)
}

// A user of one arm tells only of that arm.
function tellCold() {
  for (const arm of arms)
    if ((SLICE_MS || Number(__ENV.ARM) === arm) && done[arm] < common.WARM_AFTER) shared.cold[arm].add(1)
}

function fail(arm, response) {
  if (phase === 1 || phase === 2) shared.failed[arm].add(1)
  if (response.status === 200) corrupted[arm].add(1)
  if (!isLogged) common.logFailure(response)
  isLogged = true
}

export function handleSummary({ metrics: all }) {
  return shared.writeArms(all, arm => ({
    open_loop: {},
    lag: all[renderLagMetric(arm)],
    dropped_iterations: all[renderDroppedMetric(renderScenarioName(arm))],
  }))
}
