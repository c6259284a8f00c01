import { z } from 'zod'
import { ALGORITHM_NAMES, balanceForm, SIZES } from '../balance.js'
import { BALANCE_NAMES, BALANCE_QUANTITIES } from '../balance-quantities.js'
import { kit } from './manifest.js'
import { count, run, schemaVersion } from './parts.js'
import { quantity } from './summary.js'

/** The documents of a run of `balance`: manifest.json, a line of trials.jsonl, and summary.json. */

const kind = z.literal('balance')
const algorithm = z.enum(ALGORITHM_NAMES)
const sizes = z.enum(SIZES)

export { balanceForm } from '../balance.js'

const moves = z.object({
  moves: count.describe('items on another shard, where both shards are there before and after'),
  own: count.describe('items of the shard that was removed or added'),
})

export const balanceTrialSchema = z.object({
  algorithm,
  sizes,
  seed: count.describe('of the ids and sizes'),
  spread: z.number().min(0).describe(BALANCE_QUANTITIES.spread.definition),
  spreadItems: count.describe(BALANCE_QUANTITIES.spreadItems.definition),
  removed: moves.describe('by one shard fewer'),
  added: moves.describe('by one shard more'),
})

export const balanceManifestSchema = z.object({
  schemaVersion,
  kind,
  run: run.describe('the seed is the first one'),
  question: z.string(),
  command: z.array(z.string()),
  kit,
  form: balanceForm,
})

const row = z.object({ algorithm, sizes, quantities: z.record(z.enum(BALANCE_NAMES), quantity) })

export const balanceSummarySchema = z.object({
  schemaVersion,
  kind,
  run,
  question: z.string(),
  form: balanceForm,
  rows: z.array(row).describe('a round is a seed'),
})
