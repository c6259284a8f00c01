import { groupBy } from '../../lib/group-by.js'

/** The contract of a gate, and the processes of a record. */
/** @import { LoadResult, ProcessRecord, TrialRecord, Use } from '../../model/types.ts' */

/** A record with all by which it is judged; an idle trial has no load, and no gate of it is asked. */
/** @typedef {TrialRecord & { load: LoadResult, host: NonNullable<TrialRecord['host']> }} Measured */
/** A finding about one part of a trial. @typedef {{ part: string, reason: string }} Found */

/**
 * @typedef {object} Gate
 * @property {string} name
 * @property {string} finds in the dictionary of a report
 * @property {string} words of a verdict
 * @property {true} [isOfLoad] an idle trial is not asked
 * @property {Use[]} [spoils] absent: every use
 * @property {(record: Measured) => (string | Found | false | undefined)[]} find
 */

/** @type {Use[]} */
export const USES = ['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory']

/** @param {ProcessRecord[]} processes @param {ProcessRecord['role']} role */
export function withRole(processes, role) {
  return processes.filter(p => p.role === role)
}

/** Groups a service with its copies: any of them may have given the answers. @param {ProcessRecord[]} processes */
export function groupCopies(processes) {
  return [...groupBy(processes, p => p.copyOf ?? p.service).values()]
}

/** @param {ProcessRecord} process */
export function nameOf({ service, role }) {
  return `${service}'s ${role}`
}

/** @param {number} share */
export function percent(share) {
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`
}
