/** The contract of a gate. @import { LoadResult, TrialRecord, Use } from '../../model/types.ts' */

/**
 * A record with everything by which it is judged; of an idle trial, the load is null, and no gate of it is asked.
 * @typedef {TrialRecord & { load: LoadResult, host: NonNullable<TrialRecord['host']> }} Measured
 */

/** A finding about one part of a trial, of a gate that judges several. @typedef {{ part: string, reason: string }} Found */

/**
 * @typedef {object} Gate
 * @property {string} name
 * @property {string} finds in the dictionary of a report
 * @property {string} words of a verdict
 * @property {true} [isOfLoad] it is not asked of an idle trial
 * @property {Use[]} spoils
 * @property {(record: Measured) => (string | Found | false | undefined)[]} find
 */

/** @type {Use[]} */
export const USES = ['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory']
