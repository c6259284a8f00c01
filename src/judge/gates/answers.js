import { listByRole } from '../../model/process-records.js'
import { computeBodyBytes, computeChunksMs, readServiceTime } from '../../model/requests.js'
import { ERRORS_MOST, groupCopies, renderFinePercent, renderProcessName } from './gate.js'
import { splitLoudPair } from './loud.js'

/** The gates of the answers: whether they are right, came at all, and came from the application. */
/**
 * @import { ProcessRecord, TrialRecord } from '../../model/types.ts'
 * @import { Gate, GatedRecord } from './gate.js'
 */

// The least CPU time of the application for an answer.
const APPLICATION_LEAST_SECONDS = 1e-6
// A connection counts as busy with a request in so many seconds.
const BUSY_SECONDS = 10
// The least share of the bytes in the bodies of verified requests and answers: heads come on top.
const PASSED_LEAST = 0.9
// The least share of a pod's part of the bytes: users spread the load over pods evenly in the long run, and not in a window.
const POD_LEAST = 0.1
const POD_REQUESTS_LEAST = 20
// The least CPU time of a request on a new connection: accepting one and opening another costs the kernel alone more.
const CONNECTION_LEAST_SECONDS = 1e-5
// More cores than any sidecar here uses when idle.
export const IDLE_CORES_MOST = 0.01

// Shares of the time in which an answer is written, and of the answers.
const SPAN_LEAST = 0.5
const KEPT_LEAST = 0.75
const SERVICE_TIME_MOST_OFF_MS = 0.01
// Standard errors between the mean of drawn times and the configured one: one trial in a million is further off by chance.
const MEANS_APART_MOST = 5
// wrk counts times in classes of 0.2 %.
const TIMER_SHARE = 0.005

// EADDRNOTAVAIL, in the words of k6, wrk or Node.
const ADDRESS_NOT_AVAILABLE = /assign requested address|EADDRNOTAVAIL/i
const OUT_OF_PORTS =
  '; the machine of the load ran out of local ports, which is no fault of the plane: widen net.ipv4.ip_local_port_range'

/** @type {Gate[]} */
export const ANSWER_GATES = [
  {
    name: 'answers',
    finds: 'a wrong body or nonce, or users with fewer than three requests before the window',
    isOfLoad: true,
    words: 'wrong answers',
    find: ({ load }) => [
      load.verified === 0 && 'no request was answered correctly in the window',
      load.corrupted > 0 && `${load.corrupted} answers came back with a wrong body or nonce`,
      load.coldUsers > 0 && `${load.coldUsers} users had not done three requests when the window opened`,
    ],
  },
  {
    name: 'errors',
    finds: 'more than one failed request in a thousand',
    isOfLoad: true,
    words: 'failing requests',
    find: ({ load: { failed, verified, failures } }) => {
      const answered = verified + failed
      const advice = failures.some(failure => ADDRESS_NOT_AVAILABLE.test(failure)) ? OUT_OF_PORTS : ''
      return [
        failed > ERRORS_MOST * answered &&
          `${failed} requests failed (${renderFinePercent(failed / answered)}, at most 0.1 %): ${failures.join('; ') || 'no message'}${advice}`,
      ]
    },
  },
  {
    name: 'hung-users',
    finds: 'users whose requests never ended',
    isOfLoad: true,
    words: 'hung users',
    find: ({ load: { reportedUsers }, trial }) => [
      reportedUsers !== null &&
        reportedUsers < trial.arm.load.users &&
        `${trial.arm.load.users - reportedUsers} of ${trial.arm.load.users} users never came through the window: their requests hung`,
    ],
  },
  {
    name: 'service-time',
    finds: 'an application that waited another service time than was asked for, or answered before it was over',
    isOfLoad: true,
    words: 'service time not kept',
    find: checkServiceTimes,
  },
  {
    name: 'streams',
    finds:
      'answers in chunks that came at once: a sidecar kept the first chunk until the last was written; it spoils nothing',
    isOfLoad: true,
    words: 'answers kept until their last chunk',
    spoils: [],
    find: ({ streams = [], trial }) => {
      const [kind] = trial.arm.load.requests ?? []
      const writtenMs = kind ? computeChunksMs(kind) : 0
      // On a busy machine some answers are read late, and so in one piece.
      const kept = streams.filter(({ spanMs }) => spanMs < SPAN_LEAST * writtenMs)
      return [
        kept.length > 0 &&
          kept.length >= KEPT_LEAST * streams.length &&
          `${kept.length} of ${streams.length} answers came at once, and their chunks were written over ${writtenMs} ms: the first is not passed on before the last is written`,
      ]
    },
  },
  {
    name: 'source',
    finds: 'answers while the application used no CPU: something else gave them',
    isOfLoad: true,
    words: 'answers not from the application',
    find: record =>
      splitLoudPair(record, listByRole(record.processes, 'application')).flatMap(({ members, verified }) =>
        groupCopies(members).map(copies => checkSource(copies, verified)),
      ),
  },
  {
    name: 'passage',
    finds:
      'a sidecar that received fewer bytes than the verified requests and answers carry: some went past it (where `ss` counts bytes, on one machine, and where none of its connections closed; with new connections, where it used no more CPU than idle either)',
    isOfLoad: true,
    words: 'requests past a sidecar',
    find: record => {
      const hops = listByRole(record.processes, 'sidecar').flatMap(listHops)
      return splitLoudPair(record, hops).flatMap(({ members, verified, ratePerSecond }) => {
        // Sidecars close connections that are idle for long, and `ss` does not count their bytes.
        if (!hasBusyConnections({ ...record.trial.arm.load, ratePerSecond })) return []
        return groupCopies(members).flatMap(copies => checkPassage(copies, { record, verified }))
      })
    },
  },
]

/**
 * Checks whether the copies of an application used CPU for their answers.
 * @param {ProcessRecord[]} copies of one service
 * @param {number} verified requests to them
 * @returns {string | false} false: no failure
 */
function checkSource(copies, verified) {
  const cpuSeconds = copies.reduce((sum, process) => sum + process.cpuSeconds, 0)
  return (
    verified > 0 &&
    cpuSeconds < APPLICATION_LEAST_SECONDS * verified &&
    `${renderProcessName(copies[0])} did no work for ${verified} answers: something before it gave them`
  )
}

/**
 * Says whether the gate `passage` needs the CPU of idle sidecars: each request has a new connection, and at this rate the CPU
 * time that proves work is so little that idle sidecars may use as much.
 * @param {Pick<TrialRecord['trial']['arm']['load'], 'connections' | 'ratePerSecond'>} load
 * @param {{ sidecars: number, arms?: number }} options sidecars: of one arm; arms: that share the rate, 1 by default
 * @returns {boolean} false also: the load is a closed loop
 */
export function isIdleCpuNeeded({ connections, ratePerSecond }, { sidecars, arms = 1 }) {
  if (connections !== 'new' || ratePerSecond === undefined) return false
  return (CONNECTION_LEAST_SECONDS * ratePerSecond) / arms < IDLE_CORES_MOST * sidecars
}

/**
 * A hop of requests: a sidecar, or one pod of a proxy that serves several, whose bytes and passages are counted for itself.
 * @typedef {Pick<ProcessRecord, 'service' | 'copyOf' | 'role' | 'passages' | 'receivedBytes' | 'closedConnections' | 'cpuSeconds'
 *   | 'idleCpuCores'> & { isPod: boolean }} Hop
 */

/**
 * Lists the hops of a sidecar: the sidecar itself, or each pod that it serves, with the CPU time and connections of the one
 * process.
 * @param {ProcessRecord} process
 * @returns {Hop[]} receivedBytes: undefined if the bytes of the hop were not counted
 */
function listHops({ pods, ...process }) {
  const { service, copyOf, role, passages, receivedBytes, closedConnections, cpuSeconds, idleCpuCores } = process
  const hop = { service, copyOf, role, passages, receivedBytes, closedConnections, cpuSeconds, idleCpuCores }
  // A pod whose bytes were not counted has none: those of the process are of all pods.
  return pods
    ? pods.map(pod => ({ ...hop, receivedBytes: undefined, ...pod, isPod: true }))
    : [{ ...hop, isPod: false }]
}

/**
 * Checks whether sidecars received fewer bytes than their requests carry.
 * @param {Hop[]} copies of one service
 * @param {{ record: Pick<GatedRecord, 'trial' | 'window'>, verified: number }} options verified: requests through them
 * @returns {(string | false)[]} false: no failure, also if bytes were not counted; []: not known, since connections closed, or new
 *   ones were too short for `ss` to see
 */
function checkPassage(copies, { record: { trial, window }, verified }) {
  const received = copies.reduce((sum, { receivedBytes }) => sum + (receivedBytes ?? Number.NaN), 0)
  // The bytes of closed connections are unknown. If each request has a new one, the kept ones still bring the answers.
  const isNew = trial.arm.load.connections === 'new'
  const closed = copies.map(({ closedConnections }) => closedConnections ?? { accepted: 0, connected: 0 })
  if (closed.some(({ accepted, connected }) => connected > 0 || (accepted > 0 && !isNew))) return []
  // At a low rate all connections open and close between two readings of `ss`, and leave no trace but CPU time.
  const workSeconds = sumWorkSeconds(copies, window?.seconds ?? 0)
  if (isNew && received === 0 && workSeconds > CONNECTION_LEAST_SECONDS * verified) return []
  const { requestBytes, responseBytes } = computeBodyBytes(trial.arm.load)
  const sentBytes = isNew ? 0 : requestBytes + countHeadBytes(trial.arm)
  const expected = (sentBytes + responseBytes) * verified * (copies[0].passages ?? 0)
  const fairShareBytes = expected / copies.length
  // If one pod of many goes past the proxy of the node, the sum lacks only a small part.
  const judgedPods = verified < POD_REQUESTS_LEAST * copies.length ? [] : copies.filter(({ isPod }) => isPod)
  return [
    received < PASSED_LEAST * expected &&
      `${renderProcessName(copies[0])} received ${received} bytes, and ${verified} verified requests carry ${expected} through it: they went past it`,
    ...judgedPods.map(
      pod =>
        pod.receivedBytes != null &&
        pod.receivedBytes < POD_LEAST * fairShareBytes &&
        `the proxy of the node received ${pod.receivedBytes} bytes in the pod of ${pod.service}, and its share of the ${verified} verified requests is ${Math.round(fairShareBytes)}: they went past it`,
    ),
  ]
}

/**
 * Sums the CPU time of sidecars above that of idle ones. One process serves all pods, so its time counts once.
 * @param {Hop[]} copies
 * @param {number} windowSeconds
 * @returns {number} seconds
 */
function sumWorkSeconds(copies, windowSeconds) {
  return copies.reduce((sum, { cpuSeconds, idleCpuCores, isPod }) => {
    const work = cpuSeconds - (idleCpuCores ?? 0) * windowSeconds
    return isPod ? work : sum + work
  }, 0)
}

/**
 * Checks whether the service times of a trial are the configured ones.
 * @param {Pick<GatedRecord, 'load' | 'trial'>} record
 * @returns {(string | false)[]} false: no failure; []: no service time was configured, or no request was verified
 */
function checkServiceTimes({ load, trial }) {
  const { requests = [] } = trial.arm.load
  const kinds = requests.map(kind => ({ weight: kind.weight, ...readServiceTime(kind) }))
  const timed = kinds.filter(({ meanMs }) => meanMs > 0)
  if (timed.length === 0 || load.verified === 0) return []
  if (!load.waited) return ['the application told no service time']
  const { meanMs: waitedMs, count } = load.waited
  const { meanMs, deviationMs } = computeServiceTimeMoments(timed)
  const chanceMs = (MEANS_APART_MOST * deviationMs) / Math.sqrt(count)
  // The distribution includes failed requests, which a sidecar may answer at once: other gates find these.
  const times = load.failed === 0 && load.corrupted === 0 ? load.distribution : null
  const fastestMs = times?.grid.find(([quantile]) => quantile === 0)?.[1]
  const shortestMs = kinds.some(({ isExponential }) => isExponential) ? 0 : Math.min(...kinds.map(kind => kind.meanMs))
  return [
    Math.abs(waitedMs - meanMs) > SERVICE_TIME_MOST_OFF_MS + chanceMs &&
      `the application waited ${waitedMs.toFixed(1)} ms on average, and ${meanMs.toFixed(1)} were asked for`,
    fastestMs !== undefined &&
      fastestMs < (1 - TIMER_SHARE) * shortestMs &&
      `an answer came after ${fastestMs.toFixed(1)} ms, before the service time of ${shortestMs} ms was over`,
    // Kinds without a service time are answered at once.
    timed.length === kinds.length &&
      times !== null &&
      times.meanMs + chanceMs < (1 - TIMER_SHARE) * waitedMs &&
      `answers came after ${times.meanMs.toFixed(1)} ms on average, sooner than the ${waitedMs.toFixed(1)} ms that the application says it waited`,
  ]
}

/**
 * Computes the mean and the standard deviation of the service times of a mix.
 * @param {{ weight: number, meanMs: number, isExponential: boolean }[]} kinds at least one
 * @returns {{ meanMs: number, deviationMs: number }}
 */
function computeServiceTimeMoments(kinds) {
  const weights = kinds.reduce((sum, { weight }) => sum + weight, 0)
  const mean = kinds.reduce((sum, { weight, meanMs }) => sum + weight * meanMs, 0) / weights
  // The variance of an exponential distribution is its squared mean, so that its mean square is twice that.
  const squares = kinds.map(({ weight, meanMs, isExponential }) => weight * meanMs ** 2 * (isExponential ? 2 : 1))
  const variance = squares.reduce((sum, square) => sum + square, 0) / weights - mean ** 2
  return { meanMs: mean, deviationMs: Math.sqrt(Math.max(0, variance)) }
}

/**
 * Counts the bytes that the head of a pipeline's own request has at least: its body may be empty, and its answer may come from
 * the pipeline.
 * @param {TrialRecord['trial']['arm']} arm
 * @returns {number} 0: the request is the kit's, or HTTP/2 compresses its head
 */
function countHeadBytes({ load: { ownRequest }, conditions: { protocol } }) {
  return ownRequest && protocol === 'http/1.1' ? `${ownRequest.method} ${ownRequest.path} HTTP/1.1\r\n\r\n`.length : 0
}

/**
 * Says whether each connection of the load has a request every BUSY_SECONDS.
 * @param {TrialRecord['trial']['arm']['load']} load
 * @returns {boolean} true for a closed loop without a burst; false also: the load has a burst
 */
function hasBusyConnections({ users, ratePerSecond, burst }) {
  return burst === null && (ratePerSecond === undefined || users <= BUSY_SECONDS * ratePerSecond)
}
