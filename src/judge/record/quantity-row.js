/** The row of a table of quantities: those of `judge/quantities.js`, and of each kind. */
/** @import { Arm, Load, TrialRecord, Use } from '../../model/types.ts' */

/**
 * A record, and those of the same round that it is held against.
 * @typedef {object} RoundRecords
 * @property {TrialRecord} record
 * @property {string | null} [service] whose sidecar; null: over all
 * @property {TrialRecord[] | null} [baseline] the same round of the arm without sidecars
 * @property {TrialRecord[] | null} [unchanged] the same round of the arm without changes of configuration
 * @property {TrialRecord[] | null} [kept] the same round of the arm whose connections are kept
 * @property {TrialRecord[] | null} [unconfigured] the same round of the arm that knows no services beside its own
 */

/**
 * The comparison of arms in a quantity.
 * @typedef {object} Compared
 * @property {Load['kind'][]} kinds the loads under which it is compared
 * @property {string} label
 * @property {string} less the predicate of an arm that has less, in which `%` stands for the share
 * @property {string} more likewise, of an arm that has more
 * @property {boolean} [isHeadline] reported if a plane is compared with itself
 * @property {boolean} [isOnRequest] reported only if the experiment shows it
 * @property {(arm: Pick<Arm, 'conditions'>) => boolean} [isOf] arms that can have it; absent: all
 */

/**
 * @typedef {object} QuantityRow
 * @property {string} name in experiments, claims and thresholds
 * @property {string} header name and unit in summary.json and CSV
 * @property {string | Partial<Record<Load['kind'], string>>} [group] in summary.json it stands in this object, by the kind of
 *   load
 * @property {string} [key] its name there, instead of the header
 * @property {boolean} [isSparse] summary.json leaves it out if it has no value
 * @property {string} label with the unit in which it is shown
 * @property {string} [short] heads a narrow column
 * @property {string} unit in which it is shown
 * @property {number} [scale] one shown unit, in the unit of the header; absent: 1
 * @property {number} digits
 * @property {number} [digitsOfOne] of one sidecar
 * @property {string} definition reports and metrics print this sentence
 * @property {{ label: string, definition: string }} [family] quantities that the dictionary defines together
 * @property {Use} use what a trial must be good for: a gate that spoils it leaves no value
 * @property {Use} [useOfClosed] instead, in the closed loop
 * @property {'sum' | 'most'} [sidecars] each sidecar has it, and the arm their sum, or that of the sidecar with the most
 * @property {number} [quantile] it has a value only if all rounds together hold enough requests beyond this
 * @property {(records: RoundRecords) => number | null} measure in the unit of the header; null: the record does not have it
 * @property {Compared} [compared] absent: it is only shown
 * @property {{ kinds: Load['kind'][], title: string, digits?: number }} [chart] drawn round by round under these loads
 * @property {boolean} [isFollowed] its slope over the time of the run is fitted
 * @property {{ name: string, scale?: number, percentile?: string, definition?: string }} [metric] of the live endpoint;
 *   scale: one of its unit, in the unit of the header; percentile: a label, beside that of the loop
 */

/**
 * Creates a function that creates sparse rows of quantities with the fields that they share. Each row has its own name, label
 * and header, which is the name by default.
 * @param {Pick<QuantityRow, 'unit' | 'digits' | 'use'> & Partial<QuantityRow>} sharedFields
 * @returns a function of a name, a label and a header; its rows lack `measure`, if the shared fields do
 */
export function createRowFactory(sharedFields) {
  return (/** @type {string} */ name, /** @type {string} */ label, header = name) => ({
    ...sharedFields,
    name,
    label,
    header,
    isSparse: true,
  })
}
