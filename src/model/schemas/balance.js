import { z } from 'zod'
import { ALGORITHM_NAMES, BALANCE_NAMES, BALANCE_QUANTITIES, SIZES } from '../balance.js'
import { kit } from './manifest.js'
import { count, run, schemaVersion } from './parts.js'
import { quantity } from './summary.js'

/** The documents of a run of `balance`: manifest.json, a line of trials.jsonl, and summary.json. */

const kind = z.literal('balance')
const algorithm = z.enum(ALGORITHM_NAMES)
const sizes = z.enum(SIZES)
const unique = (/** @type {unknown[]} */ list) => new Set(list).size === list.length

/** The items, the shards, and how often they are assigned. */
export const balanceForm = z.object({
  items: z.int().min(1).max(10_000, 'at most 10000 items'),
  shards: z.int().min(2, 'at least 2 shards: one of them is removed').max(100, 'at most 100 shards'),
  seeds: z.int().min(1).max(1000, 'at most 1000 seeds'),
  sizes: z.array(sizes).min(1).refine(unique, 'a kind of sizes stands twice in the list'),
  algorithms: z.array(algorithm).min(1).refine(unique, 'an algorithm stands twice in the list'),
})

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
