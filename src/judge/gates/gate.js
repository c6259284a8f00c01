/** The contract of a gate. @import { LoadResult, TrialRecord, Use } from '../../model/types.ts' */

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
