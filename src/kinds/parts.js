import { growthSchema, rolloutSchema } from '../model/schemas/rollout.js'
import { growthPart } from './growth/numbers.js'
import { rolloutPart } from './rollout/numbers.js'

/**
 * The parts of a record that one kind of trial alone has. Pure.
 * @import { TrialRecord } from '../model/types.ts'
 */

/**
 * A part of a record, computed from the file of its name in raw/. Only `verify` reads that file again, and checks its schema.
 * @template Observed, Judged
 * @typedef {object} RecordPart
 * @property {(observed: Observed) => Judged} judge computes the part from the file's content
 * @property {boolean} hasWindow the trial also has a window
 * @property {(judged: Judged, renderQuantity: (quantity: string) => string | null) => string} renderProgress renders the part for
 *   a line of progress; renderQuantity: renders a quantity of the record with its unit; null: it was not measured, or a gate spoiled it
 */

const PARTS = /** @type {const} */ ({
  rollout: { ...rolloutPart, schema: rolloutSchema },
  growth: { ...growthPart, schema: growthSchema },
})

/**
 * Finds the part of a record that one kind alone has.
 * @param {Pick<TrialRecord, 'rollout' | 'growth'>} record
 * @returns {{ name: keyof typeof PARTS, part: RecordPart<any, any> & { schema: import('zod').ZodType }, judged:
 *   object } | undefined} judged: its content; undefined: the record has no such part
 */
export function findRecordPart(record) {
  const names = /** @type {(keyof typeof PARTS)[]} */ (Object.keys(PARTS))
  const name = names.find(part => record[part])
  return name && { name, part: PARTS[name], judged: /** @type {object} */ (record[name]) }
}
