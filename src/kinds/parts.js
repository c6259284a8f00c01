import { growthSchema, rolloutSchema } from '../model/schemas/rollout.js'
import { growthPart } from './growth/numbers.js'
import { rolloutPart } from './rollout/numbers.js'

/**
 * The parts of a record that one kind of trial alone has. Pure.
 * @import { TrialRecord } from '../model/types.ts'
 */

/**
 * A part of a record, computed from the file of its name in raw/, whose schema `verify` alone reads.
 * @template Observed, Judged
 * @typedef {object} RecordPart
 * @property {(observed: Observed) => Judged} judge computes the part from the file's content
 * @property {boolean} hasWindow the trial also has a window
 * @property {(judged: Judged, textOf: (quantity: string) => string) => string} tell renders it for a line of progress; textOf
 *   renders a quantity of the record
 */

const PARTS = /** @type {const} */ ({
  rollout: { ...rolloutPart, schema: rolloutSchema },
  growth: { ...growthPart, schema: growthSchema },
})

/**
 * Finds the part of a record that one kind alone has.
 * @param {Pick<TrialRecord, 'rollout' | 'growth'>} record
 * @returns {{ name: keyof typeof PARTS, part: RecordPart<any, any> & { schema: import('zod').ZodType }, judged:
 *   object } | undefined} undefined: the record has no such part
 */
export function findRecordPart(record) {
  const names = /** @type {(keyof typeof PARTS)[]} */ (Object.keys(PARTS))
  return names.flatMap(name => {
    const { [name]: judged } = record
    return judged ? [{ name, part: PARTS[name], judged }] : []
  })[0]
}
