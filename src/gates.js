/**
 * What a trial's numbers may be used for. Pure: plain data in, judgements out.
 * @import { BoundBy, LoadResult, ProcessRecord } from './types.ts'
 */

const SIDECAR_BOUND = 0.95
const WORKER_BOUND = 0.95
const APPLICATION_BOUND = 0.9
const GENERATOR_BOUND = 0.8
const HOST_IDLE_LEAST = 0.05
const STEADY_DIFFERENCE_MOST = 0.2
const ERRORS_MOST = 0.001
const CAP_TOLERANCE = 0.001

/**
 * What bound the run: the first that holds.
 * @param {{ processes: ProcessRecord[], generatorCpus: number, idleFraction: number }} trial
 * @returns {BoundBy}
 */
export function findBound({ processes, generatorCpus, idleFraction }) {
  const sidecars = processes.filter(p => p.role === 'sidecar')
  const applications = processes.filter(p => p.role === 'application')
  const generators = processes.filter(p => p.role === 'generator')
  if (sidecars.some(p => p.capCores !== null && p.cpuCores >= SIDECAR_BOUND * p.capCores)) return 'sidecar'
  if (sidecars.some(p => p.busiestThreadCores >= WORKER_BOUND)) return 'worker'
  if (applications.some(p => p.busiestThreadCores >= APPLICATION_BOUND)) return 'application'
  if (generators.some(p => p.cpuCores > GENERATOR_BOUND * generatorCpus || (p.throttledFraction ?? 0) > 0))
    return 'generator'
  if (idleFraction < HOST_IDLE_LEAST) return 'host'
  return 'users'
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
 * What makes every number of a trial worthless; empty when nothing does.
 * @param {{ load: LoadResult, users: number, processes: ProcessRecord[] }} trial
 */
export function findInvalidities({ load, users, processes }) {
  const reasons = []
  if (load.verified === 0) reasons.push('no request was answered rightly in the window')
  if (load.corrupted > 0) reasons.push(`${load.corrupted} answers came back with a wrong body or nonce`)
  if (load.failed > ERRORS_MOST * (load.verified + load.failed)) {
    const share = ((100 * load.failed) / (load.verified + load.failed)).toFixed(2)
    reasons.push(
      `${load.failed} requests failed (${share} %, at most 0.1 %): ${load.failures.join('; ') || 'no message'}`,
    )
  }
  if (load.coldUsers > 0) reasons.push(`${load.coldUsers} users had not done three requests when the window opened`)
  if (load.reportedUsers < users)
    reasons.push(`${users - load.reportedUsers} of ${users} users never came through the window: their requests hung`)
  for (const { service, role, capCores, capReadBackCores, oomKills } of processes) {
    const name = `${service}'s ${role}`
    if (capCores !== null && Math.abs((capReadBackCores ?? Number.POSITIVE_INFINITY) - capCores) > CAP_TOLERANCE) {
      reasons.push(
        `${name} was to be capped at ${capCores} cores, and the kernel says ${capReadBackCores ?? 'no quota'}`,
      )
    }
    if ((oomKills ?? 0) > 0) reasons.push(`the kernel killed ${oomKills} processes of ${name} for memory`)
  }
  return reasons
}
