import { groupBy } from '../../lib/group-by.js'

/** The contract of a gate, and the processes of a record. */
/** @import { BoundBy, LoadResult, ProcessRecord, TrialRecord, Use } from '../../model/types.ts' */

/** A record with all that its gates read. An idle trial has no load, so the gates of the load do not run. */
/** @typedef {TrialRecord & { load: LoadResult, host: NonNullable<TrialRecord['host']> }} Measured */
/** A finding about one part of a trial. @typedef {{ part: string, reason: string }} PartFinding */

/**
 * @typedef {object} Gate
 * @property {string} name
 * @property {string} finds what it finds, in the dictionary of a report
 * @property {string} words its failure in a verdict
 * @property {true} [isOfLoad] it does not judge idle trials
 * @property {Use[]} [spoils] absent: every use
 * @property {(record: Measured) => (string | PartFinding | false | undefined)[]} find false and undefined: no failure
 */

/** @type {Use[]} */
export const USES = ['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory']

/**
 * Says whether a gate spoils a use of a trial.
 * @param {Pick<TrialRecord, 'gates'>} record
 * @param {Use} use
 * @returns {boolean}
 */
export function isSpoiled({ gates }, use) {
  return gates.some(gate => gate.spoils.includes(use))
}

/**
 * Lists the processes with a role.
 * @param {ProcessRecord[]} processes
 * @param {ProcessRecord['role']} role
 * @returns {ProcessRecord[]} []: there are none
 */
export function listByRole(processes, role) {
  return processes.filter(p => p.role === role)
}

/**
 * Groups the processes of a service with those of its copies. Requests are balanced over copies, so gates add up their use.
 * @template {Pick<ProcessRecord, 'service' | 'copyOf'>} P
 * @param {P[]} processes
 * @returns {P[][]} one group for each service
 */
export function groupCopies(processes) {
  return [...groupBy(processes, p => p.copyOf ?? p.service).values()]
}

/**
 * Lists the pods: the sidecars and applications of each service, with the cores that they use together.
 * @param {ProcessRecord[]} processes
 * @returns {{ service: string, processes: ProcessRecord[], cpuCores: number }[]}
 */
export function listPods(processes) {
  const members = processes.filter(({ role }) => role === 'sidecar' || role === 'application')
  return [...groupBy(members, p => p.service)].map(([service, ofPod]) => ({
    service,
    processes: ofPod,
    cpuCores: ofPod.reduce((sum, p) => sum + p.cpuCores, 0),
  }))
}

/**
 * Splits processes or pods into those of the loud pair and those of the others, with the load of each group. The loud pair is
 * the first one of the link; the others are copies of it.
 * @template {Pick<ProcessRecord, 'copyOf'>} P
 * @param {Pick<TrialRecord, 'trial'> & { load: LoadResult }} record
 * @param {P[]} members
 * @returns {{ members: P[], verified: number, ratePerSecond?: number }[]} the quiet group, then the loud one; one group if no
 *   pair is loud; verified: requests in the window
 */
export function splitLoudPair({ load, trial }, members) {
  const { loudPerSecond, ratePerSecond } = trial.arm.load
  const quiet = { members, verified: load.verified, ratePerSecond }
  if (loudPerSecond === undefined) return [quiet]
  return [
    { ...quiet, members: members.filter(({ copyOf }) => copyOf !== null) },
    {
      members: members.filter(({ copyOf }) => copyOf === null),
      verified: load.loud?.verified ?? 0,
      ratePerSecond: loudPerSecond,
    },
  ]
}

/**
 * Says whether a process belongs to the loud pair, or serves it together with other pairs. Such a process may be saturated.
 * @param {Pick<TrialRecord, 'trial'>} record
 * @param {ProcessRecord} process
 * @returns {boolean}
 */
export function isServingLoudPair({ trial }, { role, copyOf }) {
  return trial.arm.load.loudPerSecond !== undefined && copyOf === null && (role === 'sidecar' || role === 'application')
}

/**
 * Renders the name of a process: `gateway's sidecar`.
 * @param {Pick<ProcessRecord, 'service' | 'role'>} process
 * @returns {string}
 */
export function renderProcessName({ service, role }) {
  return `${service}'s ${role}`
}

/**
 * Formats a fraction as `12 %`, or as `0.12 %` below a hundredth.
 * @param {number} share
 * @returns {string}
 */
export function renderFinePercent(share) {
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`
}

/** The largest share of requests that may fail. */
export const ERRORS_MOST = 0.001
/** A sidecar, or a pod, is saturated from this share of its cap on: a busy one leaves a part of some periods unused. */
const SIDECAR_BOUND = 0.95
/** A sidecar's thread is saturated from this share of a core on: samples and clock ticks take the rest. */
const WORKER_BOUND = 0.95
/** An application's thread is saturated from this share of a core on: less, since requests already wait for it there. */
const APPLICATION_BOUND = 0.9
/** The generator is saturated above this share of its CPUs: with less room it sends late, and its delay counts as latency. */
export const GENERATOR_BOUND = 0.8
/** The machine is saturated below this share of idle CPU time: its processes then wait for a CPU. */
const HOST_IDLE_LEAST = 0.05

/**
 * Finds what bound a trial: the first condition that holds, else the rate of an open loop or the users of a closed one. A
 * neighbour of the kit fills the machine by design, so beside one the result is never `host`.
 * @param {Pick<TrialRecord, 'processes' | 'generatorCpus' | 'loadHost'> & { idleFraction: number, kind: 'closed' |
 *   'open', podCpuCores?: number }} trial idleFraction: of the machine's CPU time; podCpuCores: quota of each sidecar together
 *   with its application
 * @returns {BoundBy}
 */
export function findTrialBound({ processes, generatorCpus, idleFraction, loadHost, kind, podCpuCores }) {
  const isFilled = listByRole(processes, 'neighbour').length > 0
  const sidecars = listByRole(processes, 'sidecar')
  if (sidecars.some(p => p.cpuLimitCores !== null && p.cpuCores >= SIDECAR_BOUND * p.cpuLimitCores)) return 'sidecar'
  if (podCpuCores !== undefined && listPods(processes).some(pod => pod.cpuCores >= SIDECAR_BOUND * podCpuCores))
    return 'pod'
  if (sidecars.some(p => computeBusiestCores(p) >= WORKER_BOUND)) return 'worker'
  if (listByRole(processes, 'application').some(p => computeBusiestCores(p) >= APPLICATION_BOUND)) return 'application'
  const isGeneratorBound = (/** @type {ProcessRecord} */ p) =>
    p.cpuCores > GENERATOR_BOUND * generatorCpus || (p.throttledFraction ?? 0) > 0
  if (listByRole(processes, 'generator').some(isGeneratorBound)) return 'generator'
  if (loadHost && isCpuUsedUp(loadHost)) return 'generator'
  if (isCpuUsedUp({ idleFraction }) && !isFilled) return 'host'
  return kind === 'open' ? 'rate' : 'users'
}

/**
 * Computes the seconds in which an arm got load: the turns of an interleaved arm, else the window.
 * @param {Pick<TrialRecord, 'load' | 'window'>} record
 * @returns {number | null} null: there is no window
 */
export function computeLoadSeconds({ load, window }) {
  return load?.interleaved?.seconds ?? window?.seconds ?? null
}

/**
 * Says whether the idle part of a machine's CPU time was below HOST_IDLE_LEAST.
 * @param {{ idleFraction: number }} host
 * @returns {boolean}
 */
export function isCpuUsedUp({ idleFraction }) {
  return idleFraction < HOST_IDLE_LEAST
}

/**
 * Computes the cores of the busiest thread; if threads were not read, the mean of the workers that were asked for.
 * @param {ProcessRecord} process
 * @returns {number} 0: neither is known, so no thread can be called saturated
 */
export function computeBusiestCores({ busiestThreadCores, cpuCores, askedWorkers }) {
  if (busiestThreadCores !== null) return busiestThreadCores
  return askedWorkers === null ? 0 : cpuCores / Math.max(1, askedWorkers)
}
