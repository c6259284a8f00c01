import {
  computeBusiestCores,
  computeLoadSeconds,
  ERRORS_MOST,
  findTrialBound,
  GENERATOR_BOUND,
  isCpuUsedUp,
  isServingLoudPair,
  listByRole,
  renderFinePercent,
  renderProcessName,
} from './gate.js'

/** Gates of the load: whether it was as planned, and nothing but the sidecars limited it. */
/** @import { Gate, Measured } from './gate.js' */

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
/** The share of its rate from which a loud pair counts as served. */
export const LOUD_LEAST = 0.95
const NOT_LOUD_BELOW = 0.5
const QUIET_LEAST = 0.5
const QUIET_REQUESTS_LEAST = 20
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
      const underWay = computeUsersUnderWay(record)
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
    find: record => {
      const { processes, generatorCpus, load, loadHost } = record
      const { users } = record.trial.arm.load
      return [
        loadHost &&
          isCpuUsedUp(loadHost) &&
          `the machine of the load was ${renderFinePercent(1 - loadHost.idleFraction)} busy, ${loadHost.foreignCores.toFixed(2)} cores of it with something else`,
        loadHost &&
          loadHost.roundTripMs > ROUND_TRIP_MOST_MS &&
          `a round trip to the machine of the load took ${loadHost.roundTripMs.toFixed(1)} ms (at most ${ROUND_TRIP_MOST_MS}): users wait on the way`,
        ...listByRole(processes, 'generator').flatMap(p => [
          p.cpuCores > GENERATOR_BOUND * generatorCpus &&
            `the generator used ${renderFinePercent(p.cpuCores / generatorCpus)} of its CPUs (at most 80 %)`,
          (p.throttledFraction ?? 0) > 0 && 'the generator was throttled',
        ]),
        record.trial.arm.load.kind === 'closed' &&
          (computeUsersUnderWay(record) ?? users) < USERS_SEEN_LEAST * users &&
          `by rate × time ${computeUsersUnderWay(record)?.toFixed(1)} of ${users} users waited for answers: the others spent their time in the generator`,
        // A drop in the window makes all others seem late.
        load.lagP99Ms !== null &&
          countDroppedRequests(record) === 0 &&
          load.lagP99Ms > LAG_P99_MOST_MS &&
          `requests started late: 1 in 100 by more than ${load.lagP99Ms.toFixed(1)} ms (at most ${LAG_P99_MOST_MS})`,
      ]
    },
  },
  {
    // A request costs Pipy 12 to 17 % more with 400 more kept connections: docs/method.md.
    name: 'connections',
    finds: 'interleaved: arms of one plane with connections that differ by more than 10 % and 4',
    isOfLoad: true,
    words: 'unequal connections',
    spoils: ['cpuPerRequest'],
    find: ({ beside = [], trial }) => {
      // An open loop has as many connections as there are requests under way.
      if (trial.arm.load.kind !== 'interleaved') return []
      const ofArm = beside.find(({ armId }) => armId === trial.arm.id)
      return beside.map(
        other =>
          other.name === ofArm?.name &&
          Math.abs((other.connections ?? 0) - (ofArm.connections ?? 0)) >
            CONNECTIONS_APART + CONNECTIONS_SHARE * (ofArm.connections ?? 0) &&
          `its sidecars held ${ofArm.connections} connections, and those of ${other.armId}, the same plane, ${other.connections}`,
      )
    },
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
  {
    name: 'not-loud',
    finds:
      'a loud pair (`--loud`) none of whose requests were answered, fewer than half where no proxy was saturated, or no more than those of another pair where one was; nobody counted them',
    isOfLoad: true,
    words: 'no loud pair',
    find: record => {
      const { loudPerSecond } = record.trial.arm.load
      const { loud } = record.load
      if (loudPerSecond === undefined) return []
      if (!loud) return [`--loud ${loudPerSecond}: the generator counted no requests to the loud pair`]
      return [
        isNotLoud(record, loud) &&
          `${renderLoudRequests(loud)}: nothing was loud beside the others, which answered ${Math.round(computeQuietRequests(record))} each`,
      ]
    },
  },
  {
    name: 'loud',
    finds:
      'a loud pair (`--loud`) that answered less than 95 % of its requests with no proxy saturated (an application of the kit may be): the others had less beside them than asked',
    isOfLoad: true,
    words: 'loud pair not served',
    spoils: ['latency'],
    find: record => {
      const { loud } = record.load
      return [
        loud !== undefined &&
          !isNotLoud(record, loud) &&
          loud.verified < LOUD_LEAST * loud.due &&
          findLoudPairBound(record) === null &&
          `${renderLoudRequests(loud)}: give a smaller --loud`,
      ]
    },
  },
  {
    // Saturation of the loud pair is intended: the question is how long the others wait for a proxy that serves all.
    name: 'loud-saturated',
    finds:
      'a sidecar of the loud pair (`--loud`), or the one proxy of all pods, that was saturated: how long the others wait then is the answer; it spoils nothing',
    isOfLoad: true,
    words: 'loud pair saturated',
    spoils: [],
    find: record => {
      const { loud } = record.load
      const bound = loud === undefined ? null : findLoudPairBound(record)
      if (loud === undefined || bound === null) return []
      const shared = record.processes.some(p => p.pods && isServingLoudPair(record, p))
      return [
        `${shared ? 'the proxy of all pods' : 'the loud pair'} was saturated (${bound}): ${renderLoudRequests(loud)}`,
      ]
    },
  },
  {
    name: 'loud-errors',
    finds:
      'more than one failed request in a thousand of the loud pair (`--loud`): CPU time that no verified request stands for',
    isOfLoad: true,
    words: 'failing requests of the loud pair',
    spoils: ['cpuPerRequest'],
    find: ({ load: { loud } }) => [
      loud?.failed !== undefined &&
        loud.failed > ERRORS_MOST * (loud.verified + loud.failed) &&
        `${loud.failed} requests to the loud pair failed (${renderFinePercent(loud.failed / (loud.verified + loud.failed))}, at most 0.1 %): ${loud.failures?.join('; ') || 'no message'}`,
    ],
  },
  {
    name: 'quiet-pairs',
    finds: 'a pair beside a loud one (`--loud`) that was sent less than half of its share of the requests',
    isOfLoad: true,
    words: 'load not spread over the pairs',
    spoils: ['latency', 'cpuPerRequest'],
    find: ({ load: { loud } }) => {
      const { quiet = [] } = loud ?? {}
      const fair = quiet.reduce((sum, count) => sum + count, 0) / quiet.length
      return quiet.map(
        (count, i) =>
          fair >= QUIET_REQUESTS_LEAST &&
          count < QUIET_LEAST * fair &&
          `pair ${i + 2} was sent ${count} requests, and its share is ${Math.round(fair)}: give more --users`,
      )
    },
  },
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
    find: ({ load: { kinds }, trial }) => {
      const { requests = [], users } = trial.arm.load
      const all = kinds?.reduce((sum, count) => sum + count, 0) ?? 0
      const weights = requests.reduce((sum, { weight }) => sum + weight, 0)
      return (kinds ?? []).map((count, i) => {
        const expected = (all * requests[i].weight) / weights
        return (
          Math.abs(count - expected) > MIX_SHARE * all + users &&
          `${count} of ${all} requests were ${requests[i].method} ${requests[i].path}, and ${expected.toFixed(0)} are its share`
        )
      })
    },
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
 * Renders the number of due requests if it is not what a rate asks for.
 * @param {string} place where the requests go, with a leading space; empty: to all pairs
 * @param {number} due requests that the generator counted as due
 * @param {{ ratePerSecond: number, seconds: number }} asked seconds: of the window, with those that a burst adds
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
 * Renders the requests that the loud pair answered, with the failed ones if the kit counted them (older kits did not).
 * @param {NonNullable<Measured['load']['loud']>} loud
 * @returns {string}
 */
function renderLoudRequests({ due, verified, failed }) {
  const failures = failed === undefined ? '' : `, and ${failed} failed`
  return `the loud pair answered ${verified} of ${due} requests that were due${failures}`
}

/**
 * Says whether the loud pair was not loud: it answered no request; fewer than half of those due, while no proxy was saturated;
 * or, at a saturated proxy, no more than another pair.
 * @param {Measured} record
 * @param {NonNullable<Measured['load']['loud']>} loud
 * @returns {boolean}
 */
function isNotLoud(record, { due, verified }) {
  if (verified === 0) return true
  return findLoudPairBound(record) === null ? verified < NOT_LOUD_BELOW * due : verified <= computeQuietRequests(record)
}

/**
 * Computes how many requests a pair beside the loud one answered, on average.
 * @param {Measured} record
 * @returns {number}
 */
function computeQuietRequests({ load, trial }) {
  return load.verified / Math.max(1, (trial.arm.conditions.pairs ?? 1) - 1)
}

/**
 * Finds what saturated the proxy of the loud pair, or the proxy that serves all pods. The machine and the generator are left
 * out.
 * @param {Measured} record
 * @returns {import('../../model/types.ts').BoundBy | null} null: nothing, or only the application of the kit
 */
function findLoudPairBound(record) {
  const { processes, generatorCpus, trial } = record
  const bound = findTrialBound({
    processes: processes.filter(p => isServingLoudPair(record, p)),
    generatorCpus,
    // The machine and the generator serve all pairs, so they are no bound of the loud one.
    idleFraction: 1,
    kind: 'open',
    podCpuCores: trial.arm.conditions.podCpuCores,
  })
  return bound === 'rate' || bound === 'application' ? null : bound
}

/**
 * Says whether a process belongs to the loud pair and serves no other pair.
 * @param {Pick<Measured, 'trial'>} record
 * @param {import('../../model/types.ts').ProcessRecord} process
 * @returns {boolean}
 */
function isInLoudPair(record, process) {
  return isServingLoudPair(record, process) && !process.pods
}

/**
 * Says whether all overflows of a process were requests to the loud pair, which counts them as failed. For a proxy of all pods
 * this holds if no other request failed: overflows are counted from its start and failed requests in the window, so the numbers
 * cannot be compared.
 * @param {Measured} record
 * @param {import('../../model/types.ts').ProcessRecord} process
 * @returns {boolean}
 */
function areOverflowsOfLoudPair(record, process) {
  if (!process.pods || !isServingLoudPair(record, process)) return isInLoudPair(record, process)
  return record.load.failed === 0 && (record.load.loud?.failed ?? 0) > 0
}

/**
 * Counts due requests of an open loop that did not start in the window. The result is at most the number that the generator
 * counted as dropped.
 * @param {Measured} record
 * @param {number} [tolerance] requests that the edges of the window explain; by default one, and 0.2 %
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
 * @param {Measured} record of an open loop
 * @returns {number}
 */
function computeDueRequests(record) {
  return record.load.due ?? (record.trial.arm.load.ratePerSecond ?? 0) * Number(computeLoadSeconds(record))
}

/**
 * Computes the mean number of requests under way by Little's law, rate × mean time.
 * @param {Measured} record
 * @returns {number | null} null: times were not measured, or there is no window
 */
function computeUsersUnderWay(record) {
  const { verified, distribution } = record.load
  const seconds = computeLoadSeconds(record)
  return distribution && seconds ? ((verified / seconds) * distribution.meanMs) / 1000 : null
}
