import { listByRole } from '../../model/process-records.js'
import {
  computeBusiestCores,
  computeLoadSeconds,
  GENERATOR_BOUND,
  isCpuUsedUp,
  renderFinePercent,
  renderProcessName,
} from './gate.js'
import { areOverflowsOfLoudPair, isInLoudPair, LOUD_GATES } from './loud.js'

/** The gates of the load: whether it was as planned, and nothing but the sidecars limited it. */
/** @import { LoadResult, TrialRecord } from '../../model/types.ts' */
/** @import { Gate, GatedRecord } from './gate.js' */

// Bounds of the gates below, which have them in words (`finds`). Shares are fractions.
const APPLICATION_BUSY = 0.7
const NEIGHBOUR_MOST = 0.1
const STEAL_MOST = 0.1
const LAG_P99_MOST_MS = 5
const LATE_P50_MOST_MS = 1
const MIX_SHARE = 0.02
const LATE_P99_MOST_MS = 5
const EDGE_FRACTION = 0.002
/** The share of its rate from which an open loop counts as kept. */
export const RATE_LEAST = 0.99
const USERS_SEEN_MOST = 1.05
const USERS_SEEN_LEAST = 0.9
const ROUND_TRIP_MOST_MS = 5
const CONNECTIONS_APART = 4
const CONNECTIONS_SHARE = 0.1

/** @type {Gate[]} */
export const LOAD_GATES = [
  {
    name: 'overflow',
    finds:
      'requests that a sidecar refused by a limit of its own, but for those of a loud pair (`--loud`), which are among its failed ones',
    words: 'overflow',
    find: record =>
      record.processes.map(
        p =>
          (p.overflows ?? 0) > 0 &&
          !areOverflowsOfLoudPair(record, p) &&
          `${renderProcessName(p)} answered ${p.overflows} requests itself, for overflow`,
      ),
  },
  {
    // By Little's law, requests under way = rate × time: they cannot be more than the users.
    name: 'little',
    finds: 'more requests under way (rate × time) than there are users',
    isOfLoad: true,
    words: "Little's law broken",
    find: record => {
      const { users, sliceMs } = record.trial.arm.load
      const underWay = computeRequestsUnderWay(record)
      // The last request of a slice may end in the next slice (kind `turns`).
      const overhang = sliceMs === undefined ? 1 : 1 + (record.load.distribution?.meanMs ?? 0) / sliceMs
      return [
        underWay !== null &&
          underWay > USERS_SEEN_MOST * overhang * users &&
          `rate × time gives ${underWay.toFixed(1)} requests under way, and there were ${users} users`,
      ]
    },
  },
  {
    name: 'generator',
    finds:
      'the generator above 80 % of its CPUs, or throttled; users that spend their time in it instead of waiting for answers; requests that start late (p99 above 5 ms); on another machine: that machine used up by other processes, or a round trip above 5 ms',
    isOfLoad: true,
    words: 'generator bound',
    spoils: ['capacity', 'latency'],
    find: record => [...checkLoadMachine(record), ...checkGenerator(record)],
  },
  {
    // A request costs Pipy 12 to 17 % more with 400 more kept connections: docs/method.md.
    name: 'connections',
    finds: 'interleaved: arms of one plane with connections that differ by more than 10 % and 4',
    isOfLoad: true,
    words: 'unequal connections',
    spoils: ['cpuPerRequest'],
    find: checkConnections,
  },
  {
    name: 'drops',
    finds: 'requests of the open loop for which no user was free',
    isOfLoad: true,
    words: 'requests dropped',
    spoils: ['latency'],
    find: record => {
      const dropped = countDroppedRequests(record)
      return [dropped > 0 && `${dropped} requests were dropped in the window: no user was free to send them`]
    },
  },
  {
    // The other gates compare the answers with the requests that the generator counted as due, and so with its own rate.
    name: 'asked-rate',
    finds:
      'a generator that counted more or fewer requests as due than the rate, the burst and the loud pair (`--loud`) ask for: it sent another load',
    isOfLoad: true,
    words: 'another rate than asked for',
    find: ({ load, trial }) => {
      const { ratePerSecond = 0, loudPerSecond = 0, burst, windowSeconds } = trial.arm.load
      const { factor, seconds: burstSeconds } = burst ?? { factor: 1, seconds: 0 }
      const seconds = windowSeconds + (factor - 1) * burstSeconds
      return [
        load.due !== undefined && renderOtherRate('', load.due, { ratePerSecond, seconds }),
        load.loud !== undefined &&
          renderOtherRate(' to the loud pair', load.loud.due, { ratePerSecond: loudPerSecond, seconds: windowSeconds }),
      ]
    },
  },
  ...LOUD_GATES,
  {
    name: 'application',
    finds: 'a thread of an application 70 % busy, or an application throttled',
    words: 'application bound',
    spoils: ['capacity', 'latency'],
    find: ({ processes, trial }) =>
      listByRole(processes, 'application')
        .filter(p => !isInLoudPair({ trial }, p))
        .flatMap(p => [
          computeBusiestCores(p) >= APPLICATION_BUSY &&
            `${renderProcessName(p)} was ${renderFinePercent(computeBusiestCores(p))} busy (below 70 %)`,
          (p.throttledFraction ?? 0) > 0 && `${renderProcessName(p)} was throttled`,
        ]),
  },
  {
    name: 'mix',
    finds: 'kinds of requests whose shares are not those of the mix, within 2 % of all requests and one for each user',
    isOfLoad: true,
    words: 'another mix of requests',
    find: checkMix,
  },
  {
    name: 'late-application',
    finds:
      'an application that answers later than after its service time: half by more than 1 ms, or 1 in 100 by more than 5',
    isOfLoad: true,
    words: 'late application',
    spoils: ['latency'],
    find: ({ load: { waited }, trial }) => [
      // Times of a closed loop are no latencies: it fills the CPUs of the application, too.
      trial.arm.load.kind === 'open' &&
        waited !== undefined &&
        (waited.lateP50Ms > LATE_P50_MOST_MS || waited.lateP99Ms > LATE_P99_MOST_MS) &&
        `the application answered later than its service time: half by more than ${waited.lateP50Ms.toFixed(1)} ms (at most ${LATE_P50_MOST_MS}), 1 in 100 by more than ${waited.lateP99Ms.toFixed(1)} (at most ${LATE_P99_MOST_MS})`,
    ],
  },
  {
    name: 'neighbour',
    finds: 'other processes above 10 % of the CPUs of this machine, or as much stolen by its host',
    words: 'busy neighbour',
    spoils: ['throughput', 'capacity', 'latency'],
    find: ({ host }) => [
      host.foreignCores > NEIGHBOUR_MOST * host.cpus &&
        `something else used ${host.foreignCores.toFixed(2)} cores of this machine`,
      host.stealFraction > STEAL_MOST &&
        `${renderFinePercent(host.stealFraction)} of this machine's CPU time was stolen by its host`,
    ],
  },
  {
    name: 'steady',
    finds:
      'halves of the window that differ by more than 20 %; the window is measured again at the end of its round, and both are kept',
    isOfLoad: true,
    words: 'unsteady',
    spoils: ['throughput', 'capacity', 'latency'],
    find: ({ isSteady }) => [isSteady === false && 'the halves of the window differ by more than 20 %'],
  },
  {
    name: 'knee',
    finds: 'an open-loop rate that was not kept, or was kept only with something saturated',
    isOfLoad: true,
    words: 'above the knee',
    spoils: ['latency'],
    find: record => {
      const { trial, boundBy, load } = record
      const { kind, ratePerSecond = 0 } = trial.arm.load
      const seconds = computeLoadSeconds(record)
      if (kind !== 'open' || seconds === null) return []
      const rate = load.verified / seconds
      // A window with a burst has more due requests than its rate gives.
      const due = load.due === undefined ? ratePerSecond : load.due / seconds
      return [
        boundBy !== 'rate' && boundBy !== 'drops' && `bound by ${boundBy}: above the knee`,
        rate < RATE_LEAST * due &&
          `${rate.toFixed(0)} requests/s were answered of ${load.due === undefined ? ratePerSecond : due.toFixed(0)} asked for: above the knee`,
      ]
    },
  },
]

/**
 * Checks whether another machine that made the load had CPU left, and was near.
 * @param {Pick<TrialRecord, 'loadHost'>} record
 * @returns {(string | false)[]} false: no failure; []: the load was not made on another machine
 */
function checkLoadMachine({ loadHost }) {
  if (!loadHost) return []
  const { idleFraction, foreignCores, roundTripMs } = loadHost
  return [
    isCpuUsedUp(loadHost) &&
      `the machine of the load was ${renderFinePercent(1 - idleFraction)} busy, ${foreignCores.toFixed(2)} cores of it with something else`,
    roundTripMs > ROUND_TRIP_MOST_MS &&
      `a round trip to the machine of the load took ${roundTripMs.toFixed(1)} ms (at most ${ROUND_TRIP_MOST_MS}): users wait on the way`,
  ]
}

/**
 * Checks whether the generator had CPU left, and sent its requests in time.
 * @param {GatedRecord} record
 * @returns {(string | false)[]} false: no failure
 */
function checkGenerator(record) {
  const { processes, generatorCpus, load, trial } = record
  const { kind, users } = trial.arm.load
  const requestsUnderWay = kind === 'closed' ? computeRequestsUnderWay(record) : null
  return [
    ...listByRole(processes, 'generator').flatMap(({ cpuCores, throttledFraction }) => [
      cpuCores > GENERATOR_BOUND * generatorCpus &&
        `the generator used ${renderFinePercent(cpuCores / generatorCpus)} of its CPUs (at most 80 %)`,
      (throttledFraction ?? 0) > 0 && 'the generator was throttled',
    ]),
    requestsUnderWay !== null &&
      requestsUnderWay < USERS_SEEN_LEAST * users &&
      `by rate × time ${requestsUnderWay.toFixed(1)} of ${users} users waited for answers: the others spent their time in the generator`,
    // A drop in the window makes all others seem late.
    load.lagP99Ms !== null &&
      countDroppedRequests(record) === 0 &&
      load.lagP99Ms > LAG_P99_MOST_MS &&
      `requests started late: 1 in 100 by more than ${load.lagP99Ms.toFixed(1)} ms (at most ${LAG_P99_MOST_MS})`,
  ]
}

/**
 * Checks whether interleaved arms of one plane had as many connections as this one.
 * @param {Pick<TrialRecord, 'beside' | 'trial'>} record
 * @returns {(string | false)[]} by arm of the deployment, false: no failure; connections that were not counted are 0; []: the arm is
 *   not interleaved in a closed loop
 */
function checkConnections({ beside = [], trial }) {
  // An open loop has as many connections as there are requests under way.
  if (trial.arm.load.kind !== 'interleaved') return []
  const arm = beside.find(({ armId }) => armId === trial.arm.id)
  const connections = arm?.connections ?? 0
  const apartMost = CONNECTIONS_APART + CONNECTIONS_SHARE * connections
  return beside.map(
    other =>
      other.name === arm?.name &&
      Math.abs((other.connections ?? 0) - connections) > apartMost &&
      `its sidecars held ${arm.connections} connections, and those of ${other.armId}, the same plane, ${other.connections}`,
  )
}

/**
 * Checks whether each kind of request had its share of the mix.
 * @param {Pick<GatedRecord, 'load' | 'trial'>} record
 * @returns {(string | false)[]} by kind, false: no failure; []: the kinds were not counted
 */
function checkMix({ load: { kinds = [] }, trial }) {
  const { requests = [], users } = trial.arm.load
  const all = kinds.reduce((sum, count) => sum + count, 0)
  const weights = requests.reduce((sum, { weight }) => sum + weight, 0)
  return kinds.map((count, i) => {
    const { weight, method, path } = requests[i]
    const expected = (all * weight) / weights
    return (
      Math.abs(count - expected) > MIX_SHARE * all + users &&
      `${count} of ${all} requests were ${method} ${path}, and ${expected.toFixed(0)} are its share`
    )
  })
}

/**
 * Renders the number of due requests if it is not what a rate asks for.
 * @param {string} place where the requests go, with a leading space; empty: to all pairs
 * @param {number} due requests that the generator counted as due
 * @param {{ ratePerSecond: number, seconds: number }} plan seconds: of the window, with those that a burst adds
 * @returns {string | false} false: the number is right, except for rounding
 */
function renderOtherRate(place, due, { ratePerSecond, seconds }) {
  const expectedRequests = ratePerSecond * seconds
  // Windows are whole milliseconds, and the requests of a window and of its burst are whole numbers.
  const isExpected = Math.abs(due - expectedRequests) <= 1 + ratePerSecond / 1000
  return (
    !isExpected &&
    `${due} requests${place} were due in the window, and the rate asks for ${Math.round(expectedRequests)}`
  )
}

/**
 * Counts due requests of an open loop that did not start in the window. The result is at most the number that the generator
 * counted as dropped.
 * @param {Pick<TrialRecord, 'trial' | 'window'> & { load: LoadResult }} record
 * @param {number} [tolerance] requests that the edges of the window explain; by default one, and EDGE_FRACTION of those due
 * @returns {number} 0: none, no more than `tolerance`, or there is no window
 */
export function countDroppedRequests(record, tolerance = 1 + EDGE_FRACTION * computeDueRequests(record)) {
  const { dropped, verified, failed } = record.load
  const seconds = computeLoadSeconds(record)
  if (dropped === 0 || seconds === null) return 0
  const missing = Math.round(computeDueRequests(record) - verified - failed)
  return missing > tolerance ? Math.min(missing, dropped) : 0
}

/**
 * Computes the requests that are due in the window.
 * @param {Parameters<typeof countDroppedRequests>[0]} record of an open loop
 * @returns {number} as the generator counted them, else by the rate; 0 without a window
 */
function computeDueRequests(record) {
  return record.load.due ?? (record.trial.arm.load.ratePerSecond ?? 0) * Number(computeLoadSeconds(record))
}

/**
 * Computes the mean number of requests under way by Little's law, rate × mean time.
 * @param {Pick<GatedRecord, 'load' | 'window'>} record
 * @returns {number | null} null: times were not measured, or there is no window
 */
function computeRequestsUnderWay(record) {
  const { verified, distribution } = record.load
  const seconds = computeLoadSeconds(record)
  return distribution && seconds ? ((verified / seconds) * distribution.meanMs) / 1000 : null
}
