import { withRole } from './gate.js'

/** The part of a trial that limited its throughput, and how long it got load. */
/** @import { BoundBy, ProcessRecord, TrialRecord } from '../../model/types.ts' */

/** A sidecar counts as bound from this share of its cap on. */
const SIDECAR_BOUND = 0.95
const WORKER_BOUND = 0.95
const APPLICATION_BOUND = 0.9
export const GENERATOR_BOUND = 0.8
const HOST_IDLE_LEAST = 0.05

/**
 * Finds the first that holds.
 * @param {Pick<TrialRecord, 'processes' | 'generatorCpus' | 'loadHost'> & { idleFraction: number, kind: 'closed' |
 *   'open' }} trial
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

/** The seconds in which an arm got load; null: no window. @param {Pick<TrialRecord, 'load' | 'window'>} record */
export function secondsUnderLoad({ load, window }) {
  return load?.turns?.seconds ?? window?.seconds ?? null
}

/** @param {{ idleFraction: number }} host */
export function isUsedUp({ idleFraction }) {
  return idleFraction < HOST_IDLE_LEAST
}

/** Cores of the busiest thread; where threads were not read, the workers' mean. @param {ProcessRecord} process */
export function busiestCoresOf({ busiestThreadCores, cpuCores, askedWorkers }) {
  return busiestThreadCores ?? cpuCores / Math.max(1, askedWorkers)
}
