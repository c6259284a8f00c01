import { groupBy } from '../lib/group-by.js'
import { isBudgetUsed, isCoarse, isCostly, listInfidelities, timesOf } from './rollout.js'

/**
 * What a trial's numbers may be used for: each gate names the uses it spoils, and nothing else is lost.
 * Pure: a record in, judgements out, so that `verify` comes to the same.
 * @import { BoundBy, GateFinding, LoadResult, ProcessRecord, TrialRecord, Use } from '../model/types.ts'
 */

/** Of its cap, from which on a sidecar counts as bound. */
export const SIDECAR_BOUND = 0.95
const WORKER_BOUND = 0.95
const APPLICATION_BOUND = 0.9
const APPLICATION_BUSY = 0.7
const GENERATOR_BOUND = 0.8
const HOST_IDLE_LEAST = 0.05
const NEIGHBOUR_MOST = 0.1
const STEAL_MOST = 0.1
const STEADY_DIFFERENCE_MOST = 0.2
const NAMED_MOST = 5
const ERRORS_MOST = 0.001
const LAG_P99_MOST_MS = 5
const EDGE_FRACTION = 0.002
/** Of the rate that an open loop asks for, from which on it counts as kept. */
export const RATE_LEAST = 0.99
const USERS_SEEN_MOST = 1.05
const USERS_SEEN_LEAST = 0.9
const CAP_TOLERANCE = 0.001
const CAP_USE_TOLERANCE = 0.03
const PERIOD_SECONDS = 0.1
const SAMPLE_GAP_MOST_SECONDS = 1
const KUBELET_LEAST_SECONDS = 120
const EDGE_LATE_MOST_MS = 500
const CLOCK_OFFSET_MOST_MS = 20
const ROUND_TRIP_MOST_MS = 5
const APPLICATION_LEAST_SECONDS = 1e-6

/** @type {Use[]} */
export const USES = ['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory']

/**
 * A record with everything by which it is judged; of an idle trial, the load is null, and no gate of it is asked.
 * @typedef {TrialRecord & { load: LoadResult, host: NonNullable<TrialRecord['host']> }} Measured
 */

/** Of a gate that judges several parts of a trial, each by itself. @typedef {{ part: string, reason: string }} Found */

/** @type {{ name: string, isOfLoad?: true, finds: string, words: string, spoils: Use[], find: (record: Measured) => (string | Found | false | undefined)[] }[]} */
const GATES = [
  {
    name: 'answers',
    finds: 'a wrong body or nonce, or users that had not done three requests when the window opened',
    isOfLoad: true,
    words: 'wrong answers',
    spoils: USES,
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
    spoils: USES,
    find: ({ load: { failed, verified, failures } }) => [
      failed > ERRORS_MOST * (verified + failed) &&
        `${failed} requests failed (${percent(failed / (verified + failed))}, at most 0.1 %): ${failures.join('; ') || 'no message'}`,
    ],
  },
  {
    name: 'hung-users',
    finds: 'users whose requests never ended',
    isOfLoad: true,
    words: 'hung users',
    spoils: USES,
    find: ({ load: { reportedUsers }, trial }) => [
      reportedUsers !== null &&
        reportedUsers < trial.arm.load.users &&
        `${trial.arm.load.users - reportedUsers} of ${trial.arm.load.users} users never came through the window: their requests hung`,
    ],
  },
  {
    name: 'source',
    finds: 'answers while the application used no CPU: something else gave them',
    isOfLoad: true,
    words: 'answers not from the application',
    spoils: USES,
    find: ({ load: { verified }, processes }) =>
      groupCopies(withRole(processes, 'application')).map(
        copies =>
          verified > 0 &&
          copies.reduce((sum, p) => sum + p.cpuSeconds, 0) < APPLICATION_LEAST_SECONDS * verified &&
          `${nameOf(copies[0])} did no work for ${verified} answers: something before it gave them`,
      ),
  },
  {
    name: 'cap',
    finds: 'a quota that the kernel does not report at an edge of the window, or more CPU used than the quota allows',
    words: 'cap not in force',
    spoils: USES,
    find: record =>
      record.processes.flatMap(p => {
        const { capCores, capReadBackCores, cpuCores } = p
        const { window } = record
        if (capCores === null) return []
        const isSet = Math.abs((capReadBackCores ?? Number.POSITIVE_INFINITY) - capCores) <= CAP_TOLERANCE
        // A window is cut anywhere: it can hold the quota of one period more than its length.
        const most = capCores * (1 + CAP_USE_TOLERANCE + PERIOD_SECONDS / (window?.seconds ?? 1))
        return [
          !isSet &&
            !isCapUnread(record, p) &&
            `${nameOf(p)} was to be capped at ${capCores} cores, and the kernel says ${capReadBackCores ?? 'no quota'}`,
          cpuCores > most && `${nameOf(p)} used ${cpuCores.toFixed(3)} cores under a cap of ${capCores}`,
        ]
      }),
  },
  {
    // What is claimed of a cap takes the cap: the rate at it, and quantiles, which its quota may have made (a p99 near a
    // period of it) without anyone counting throttled periods. CPU per request and memory hardly depend on it.
    name: 'cap-unread',
    finds: 'a quota that could not be read back (`--samples kubelet`)',
    words: 'cap not read back',
    spoils: ['capacity', 'latency'],
    find: record =>
      record.processes.map(
        p =>
          isCapUnread(record, p) &&
          `${nameOf(p)} was to be capped at ${p.capCores} cores, which could not be verified: the kubelet reports no quota`,
      ),
  },
  {
    name: 'workers',
    finds: 'a number of listening sockets that is not the number of workers asked for',
    words: 'other workers than asked',
    spoils: USES,
    find: ({ processes }) =>
      processes.map(
        p =>
          p.workers !== null &&
          p.workers !== p.askedWorkers &&
          `${nameOf(p)} listens with ${p.workers} sockets an address, and ${p.askedWorkers} workers were asked for`,
      ),
  },
  {
    name: 'restart',
    finds: 'another process than the one that was started',
    words: 'process replaced',
    spoils: USES,
    find: ({ processes }) => processes.map(p => p.isReplaced && `${nameOf(p)} is another process than was started`),
  },
  {
    name: 'oom',
    finds: 'a process that the kernel killed for memory',
    words: 'out of memory',
    spoils: USES,
    find: ({ processes }) =>
      processes.map(
        p => (p.oomKills ?? 0) > 0 && `the kernel killed ${p.oomKills} processes of ${nameOf(p)} for memory`,
      ),
  },
  {
    // This one and the next two take away single quantities, which the table of quantities sees to.
    name: 'resolution',
    finds:
      'in a phase of a rollout, a time of which more than 10 % is unknown, because sidecars are asked seldom: it has no value',
    words: 'times too coarse',
    spoils: [],
    find: ({ rollout }) =>
      phasesOf(rollout).map(({ part, what, phase }) => {
        const ms = (/** @type {number | null} */ seconds) => (1000 * Number(seconds)).toFixed(0)
        const coarse = timesOf(phase).filter(isCoarse)
        const said = coarse.map(time => `${ms(time.unknownSeconds)} of ${ms(time.seconds)} ms of ${time.name}`)
        return coarse.length > 0 && { part, reason: `until ${what}: unknown are ${said.join(', ')}` }
      }),
  },
  {
    name: 'probe-cost',
    finds:
      'in a phase of a rollout, the kit itself (it starts, changes and asks the sidecars) above 10 % of the machine, or above 90 % of the requests that it may ask: the times of the phase have no value',
    words: 'asking cost too much',
    spoils: [],
    find: ({ rollout }) =>
      phasesOf(rollout).flatMap(({ part, what, phase }) => [
        rollout !== undefined &&
          isCostly(phase, rollout.cpus) && {
            part,
            reason: `until ${what}, the kit itself used ${phase.ownCores.toFixed(2)} of ${rollout.cpus} cores`,
          },
        rollout !== undefined &&
          isBudgetUsed(phase, rollout.askedPerSecondMost) && {
            part,
            reason: `until ${what}, the sidecars were asked ${phase.askedPerSecond.toFixed(0)} times a second, of at most ${rollout.askedPerSecondMost}: asking may be what was measured`,
          },
      ]),
  },
  {
    name: 'removal',
    finds:
      'when a shard was removed, a sidecar of another that need not move and did not answer each time that it was asked',
    words: 'others disturbed',
    spoils: USES,
    find: ({ rollout }) => {
      const { silent = [], stayed = 0 } = rollout?.removal ?? {}
      return [
        silent.length > 0 &&
          `${silent.length} of ${stayed} sidecars that need not move did not go on answering: ${silent.slice(0, NAMED_MOST).join(', ')}`,
      ]
    },
  },
  {
    name: 'fidelity',
    finds:
      'simulated sidecars for which the control plane takes another CPU time in the rollout or in the change, or another memory, than for as many real ones, by more than 15 %: this of the control plane has no value, the others do',
    words: 'simulated unlike real',
    spoils: [],
    find: ({ rollout }) => listInfidelities(rollout ?? {}).map(({ resource, reason }) => ({ part: resource, reason })),
  },
  {
    name: 'clock',
    finds: 'clocks of load and services more than 20 ms apart',
    words: 'clocks apart',
    spoils: USES,
    find: ({ samples }) => [
      samples !== null &&
        Math.abs(samples.clockOffsetMs) > CLOCK_OFFSET_MOST_MS &&
        `the clocks of load and services are ${Math.round(Math.abs(samples.clockOffsetMs))} ms apart (at most ${CLOCK_OFFSET_MOST_MS}): synchronise them`,
    ],
  },
  {
    name: 'samples',
    finds:
      'a number missing, a second without a sample, or an edge read half a second late; with the kubelet, a window below 2 minutes',
    words: 'samples missing',
    spoils: USES,
    find: ({ samples, window }) => [
      samples !== null && samples.missing > 0 && `${samples.missing} readings have a number missing`,
      isByKubelet({ samples }) &&
        window !== null &&
        window.seconds < KUBELET_LEAST_SECONDS &&
        `the kubelet's counters take a window of 2 minutes at least, and it was ${window.seconds} s`,
      // The kubelet counts every 10 to 20 s: how much of the window that covers is checked when it is read.
      samples !== null &&
        !isByKubelet({ samples }) &&
        samples.largestGapSeconds > SAMPLE_GAP_MOST_SECONDS &&
        `no sample for ${samples.largestGapSeconds.toFixed(1)} s of the window`,
      window !== null &&
        Math.max(window.startLateMs, window.endLateMs) > EDGE_LATE_MOST_MS &&
        `an edge of the window was read ${Math.round(Math.max(window.startLateMs, window.endLateMs))} ms late`,
    ],
  },
  {
    name: 'overflow',
    finds: 'requests that a sidecar refused by a limit of its own',
    words: 'overflow',
    spoils: USES,
    find: ({ processes }) =>
      processes.map(
        p => (p.overflows ?? 0) > 0 && `${nameOf(p)} answered ${p.overflows} requests itself, for overflow`,
      ),
  },
  {
    // Little's law: requests under way = rate × time. More than there are users cannot be.
    name: 'little',
    finds: 'more requests under way (rate × time) than there are users',
    isOfLoad: true,
    words: "Little's law broken",
    spoils: USES,
    find: record => {
      const { users } = record.trial.arm.load
      const seen = usersSeen(record)
      return [
        seen !== null &&
          seen > USERS_SEEN_MOST * users &&
          `rate × time gives ${seen.toFixed(1)} requests under way, and there were ${users} users`,
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
          isUsedUp(loadHost) &&
          `the machine of the load was ${percent(1 - loadHost.idleFraction)} busy, ${loadHost.foreignCores.toFixed(2)} cores of it with something else`,
        loadHost &&
          loadHost.roundTripMs > ROUND_TRIP_MOST_MS &&
          `a round trip to the machine of the load took ${loadHost.roundTripMs.toFixed(1)} ms (at most ${ROUND_TRIP_MOST_MS}): users wait on the way`,
        ...withRole(processes, 'generator').flatMap(p => [
          p.cpuCores > GENERATOR_BOUND * generatorCpus &&
            `the generator used ${percent(p.cpuCores / generatorCpus)} of its CPUs (at most 80 %)`,
          (p.throttledFraction ?? 0) > 0 && 'the generator was throttled',
        ]),
        record.trial.arm.load.kind === 'closed' &&
          (usersSeen(record) ?? users) < USERS_SEEN_LEAST * users &&
          `by rate × time ${usersSeen(record)?.toFixed(1)} of ${users} users waited for answers: the others spent their time in the generator`,
        // After a drop in the window, all others seem late.
        load.lagP99Ms !== null &&
          droppedInWindow(record) === 0 &&
          load.lagP99Ms > LAG_P99_MOST_MS &&
          `requests started late: 1 in 100 by more than ${load.lagP99Ms.toFixed(1)} ms (at most ${LAG_P99_MOST_MS})`,
      ]
    },
  },
  {
    name: 'drops',
    finds: 'requests of the open loop for which no user was free',
    isOfLoad: true,
    words: 'requests dropped',
    spoils: ['latency'],
    find: record => {
      const dropped = droppedInWindow(record)
      return [dropped > 0 && `${dropped} requests were dropped in the window: no user was free to send them`]
    },
  },
  {
    name: 'application',
    finds: 'a thread of an application 70 % busy, or an application throttled',
    words: 'application bound',
    spoils: ['capacity', 'latency'],
    find: ({ processes }) =>
      withRole(processes, 'application').flatMap(p => [
        busiestCoresOf(p) >= APPLICATION_BUSY && `${nameOf(p)} was ${percent(busiestCoresOf(p))} busy (below 70 %)`,
        (p.throttledFraction ?? 0) > 0 && `${nameOf(p)} was throttled`,
      ]),
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
        `${percent(host.stealFraction)} of this machine's CPU time was stolen by its host`,
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
    find: ({ trial, boundBy, load, window }) => {
      const { kind, ratePerSecond = 0 } = trial.arm.load
      if (kind === 'closed' || window === null) return []
      const rate = load.verified / window.seconds
      return [
        boundBy !== 'rate' && `bound by ${boundBy}: above the knee`,
        rate < RATE_LEAST * ratePerSecond &&
          `${rate.toFixed(0)} requests/s were answered of ${ratePerSecond} asked for: above the knee`,
      ]
    },
  },
]

/** The names of all gates. */
export const GATE_NAMES = GATES.map(gate => gate.name)

/** What a gate that failed is called in a verdict, by its name. @type {Record<string, string>} */
export const GATE_WORDS = Object.fromEntries(GATES.map(({ name, words }) => [name, words]))

/** What each gate finds, by its name. @type {Record<string, string>} */
export const GATE_FINDS = Object.fromEntries(GATES.map(({ name, finds }) => [name, finds]))

/** The uses that each gate spoils. */
export const GATE_SPOILS = Object.fromEntries(GATES.map(({ name, spoils }) => [name, spoils]))

/**
 * What a trial's numbers are good for, from the record alone.
 * @param {Measured} record
 * @param {string[]} relaxed gates that the experiment sets aside
 * @returns {Pick<TrialRecord, 'boundBy' | 'isSteady' | 'gates' | 'outcome' | 'reasons'>}
 */
export function judgeTrial(record, relaxed) {
  const { processes, generatorCpus, host, loadHost, load, trial } = record
  const { kind } = trial.arm.load
  const boundBy =
    kind === 'idle' ? null : findBound({ processes, generatorCpus, idleFraction: host.idleFraction, loadHost, kind })
  const steady = kind === 'idle' ? null : isSteady(load)
  const gates = findGates({ ...record, boundBy, isSteady: steady }, relaxed)
  const isWorthless = USES.every(use => isSpoiled({ gates }, use))
  return {
    ...{ boundBy, isSteady: steady, gates, outcome: isWorthless ? 'invalid' : 'completed' },
    reasons: gates.map(({ gate, reason }) => `${gate}: ${reason}`),
  }
}

/**
 * Everything that spoils a use of a trial; empty when nothing does.
 * @param {Measured} record
 * @param {string[]} [relaxed] gates that the experiment sets aside
 * @returns {GateFinding[]}
 */
export function findGates(record, relaxed = []) {
  const isIdle = record.trial.arm.load.kind === 'idle'
  const judging = GATES.filter(({ name, isOfLoad }) => !relaxed.includes(name) && !(isIdle && isOfLoad))
  return judging.flatMap(({ name, spoils, find }) =>
    find(record)
      .filter(found => typeof found === 'string' || typeof found === 'object')
      .map(found => ({ gate: name, spoils, ...(typeof found === 'string' ? { reason: found } : found) })),
  )
}

/**
 * Whether a use of a trial is spoiled.
 * @param {Pick<TrialRecord, 'gates'>} record
 * @param {Use} use
 */
export function isSpoiled({ gates }, use) {
  return gates.some(gate => gate.spoils.includes(use))
}

/**
 * What bound the run: the first that holds.
 * @param {{ processes: ProcessRecord[], generatorCpus: number, idleFraction: number, loadHost?: TrialRecord['loadHost'],
 *   kind: 'closed' | 'open' }} trial
 * @returns {BoundBy}
 */
export function findBound({ processes, generatorCpus, idleFraction, loadHost, kind }) {
  const sidecars = withRole(processes, 'sidecar')
  if (sidecars.some(p => p.capCores !== null && p.cpuCores >= SIDECAR_BOUND * p.capCores)) return 'sidecar'
  if (sidecars.some(p => busiestCoresOf(p) >= WORKER_BOUND)) return 'worker'
  if (withRole(processes, 'application').some(p => busiestCoresOf(p) >= APPLICATION_BOUND)) return 'application'
  const isGeneratorBound = (/** @type {ProcessRecord} */ p) =>
    p.cpuCores > GENERATOR_BOUND * generatorCpus || (p.throttledFraction ?? 0) > 0
  if (withRole(processes, 'generator').some(isGeneratorBound)) return 'generator'
  if (loadHost && isUsedUp(loadHost)) return 'generator'
  if (idleFraction < HOST_IDLE_LEAST) return 'host'
  return kind === 'open' ? 'rate' : 'users'
}

/**
 * The phases of a rollout, and what each ends with.
 * @param {TrialRecord['rollout']} rollout
 * @returns {{ part: string, what: string, phase: NonNullable<TrialRecord['rollout']>['first'] }[]}
 */
function phasesOf(rollout) {
  if (!rollout) return []
  const { first, change, removal } = rollout
  const phases = [
    { part: 'rollout', what: 'all sidecars had their first configuration', phase: first },
    { part: 'change', what: 'all sidecars had the change', phase: change },
    { part: 'removal', what: 'all sidecars that moved had the configuration of their new shard', phase: removal },
  ]
  return phases.flatMap(({ phase, ...rest }) => (phase ? [{ ...rest, phase }] : []))
}

/** @param {{ idleFraction: number }} host */
function isUsedUp({ idleFraction }) {
  return idleFraction < HOST_IDLE_LEAST
}

/**
 * Whether the two halves of the window delivered alike, within 20 %.
 * @param {LoadResult} load
 */
export function isSteady({ verified, verifiedInSecondHalf }) {
  const first = verified - verifiedInSecondHalf
  return Math.abs(verifiedInSecondHalf - first) <= STEADY_DIFFERENCE_MOST * (verified / 2)
}

/**
 * Whether CPU time was taken from the kubelet's counters, which say nothing of caps, threads and sockets.
 * @param {Pick<TrialRecord, 'samples'>} record
 */
function isByKubelet({ samples }) {
  return samples?.source === 'kubelet'
}

/**
 * Whether a cap was asked for and could not be read back.
 * @param {Pick<TrialRecord, 'samples'>} record
 * @param {ProcessRecord} process
 */
function isCapUnread(record, { capCores, capReadBackCores }) {
  return isByKubelet(record) && capCores !== null && capReadBackCores === null
}

/**
 * The busiest thread's share of a core; where threads were not read, what it has at least: the mean of the workers.
 * @param {ProcessRecord} process
 */
export function busiestCoresOf({ busiestThreadCores, cpuCores, askedWorkers }) {
  return busiestThreadCores ?? cpuCores / Math.max(1, askedWorkers)
}

/**
 * Requests that were due in the window and did not start in it; 0 where none was dropped in the whole trial, or so few are
 * missing as may have started beside its edges. What is dropped while users connect, in the warm-up, is no matter.
 * @param {Measured} record
 */
function droppedInWindow({ load: { dropped, verified, failed }, trial, window }) {
  const { ratePerSecond = 0 } = trial.arm.load
  if (dropped === 0 || window === null) return 0
  const due = ratePerSecond * window.seconds
  const missing = Math.round(due - verified - failed)
  return missing > 1 + EDGE_FRACTION * due ? Math.min(missing, dropped) : 0
}

/**
 * Requests under way by Little's law, rate × mean time; null where nothing was measured.
 * @param {Measured} record
 */
function usersSeen({ load: { verified, distribution }, window }) {
  return distribution && window ? ((verified / window.seconds) * distribution.meanMs) / 1000 : null
}

/**
 * @param {ProcessRecord[]} processes
 * @param {ProcessRecord['role']} role
 */
function withRole(processes, role) {
  return processes.filter(p => p.role === role)
}

/**
 * A service and its copies together: of them, one has answered.
 * @param {ProcessRecord[]} processes
 */
function groupCopies(processes) {
  return [...groupBy(processes, p => p.copyOf ?? p.service).values()]
}

/** @param {ProcessRecord} process */
function nameOf({ service, role }) {
  return `${service}'s ${role}`
}

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`
}
