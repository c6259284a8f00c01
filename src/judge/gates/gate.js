import { groupBy } from '../../lib/group-by.js'
import { listByRole, sumCores } from '../../model/process-records.js'

/** The contract of a gate, and facts about a record that several gates read. */
/** @import { BoundBy, LoadResult, ProcessRecord, TrialRecord, Use } from '../../model/types.ts' */

/**
 * A record with all that its gates read. An idle trial has no load, so the gates of the load do not run.
 * @typedef {TrialRecord & { load: LoadResult, host: NonNullable<TrialRecord['host']> }} GatedRecord
 */
/** A finding about one part of a trial. @typedef {{ part: string, reason: string }} PartFinding */

/**
 * A condition that excludes a trial from uses.
 * @typedef {object} Gate
 * @property {string} name
 * @property {string} finds the defects that fail it, for the dictionary of a report
 * @property {string} words its failure in the reasons of a verdict
 * @property {true} [isOfLoad] it does not judge idle trials
 * @property {Use[]} [spoils] absent: every use
 * @property {(record: GatedRecord) => (string | PartFinding | false | undefined)[]} find false and undefined: no failure
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
 * Lists the pods: the sidecars and applications of each service, with the cores that they use together.
 * @param {ProcessRecord[]} processes
 * @returns {{ service: string, processes: ProcessRecord[], cpuCores: number }[]} []: there are no such processes
 */
export function listPods(processes) {
  const members = processes.filter(({ role }) => role === 'sidecar' || role === 'application')
  return [...groupBy(members, ({ service }) => service)].map(([service, podMembers]) => ({
    service,
    processes: podMembers,
    cpuCores: sumCores(podMembers),
  }))
}

/**
 * Groups the processes of a service with those of its copies. Requests are balanced over copies, so each gets an equal part.
 * @template {Pick<ProcessRecord, 'service' | 'copyOf'>} P
 * @param {P[]} processes
 * @returns {P[][]} one group for each service
 */
export function groupCopies(processes) {
  return [...groupBy(processes, p => p.copyOf ?? p.service).values()]
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
 * Renders a fraction as `12 %`, or as `0.12 %` below a hundredth.
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
 * Finds what bound a trial: the first of sidecar, pod, worker, application, generator and host that was saturated, else the rate of
 * an open loop or the users of a closed one. A neighbour of the kit fills the machine by design, so beside one the result is never
 * `host`.
 * @param {Pick<TrialRecord, 'processes' | 'generatorCpus' | 'loadHost'> & { idleFraction: number, kind: 'closed' |
 *   'open', podCpuCores?: number }} trial idleFraction: of the machine's CPU time; podCpuCores: quota of each sidecar together
 *   with its application
 * @returns {BoundBy}
 */
export function findTrialBound({ processes, generatorCpus, idleFraction, loadHost, kind, podCpuCores }) {
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
  const hasNeighbour = listByRole(processes, 'neighbour').length > 0
  if (isCpuUsedUp({ idleFraction }) && !hasNeighbour) return 'host'
  return kind === 'open' ? 'rate' : 'users'
}

/**
 * Computes the seconds in which an arm got load: the turns of an interleaved arm, else the window.
 * @param {Pick<TrialRecord, 'load' | 'window'>} record
 * @returns {number | null} null: there are neither turns nor a window
 */
export function computeLoadSeconds({ load, window }) {
  return load?.interleaved?.seconds ?? window?.seconds ?? null
}

/**
 * Says whether the idle part of a machine's CPU time was below HOST_IDLE_LEAST.
 * @param {{ idleFraction: number }} host
 * @returns {boolean} false also: it is NaN, since no clock tick passed
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
