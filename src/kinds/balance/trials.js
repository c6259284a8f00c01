import { summariseValues } from '../../lib/stats.js'
import { BALANCE_QUANTITIES } from '../../model/balance-quantities.js'
import { SCHEMA_VERSION } from '../../model/versions.js'
import { assignItems, drawItems } from '../../services/assign.js'

/** The trials of `balance`: assignments by each algorithm, their quantities, and the summary over seeds. Pure. */
/** @import { BalanceForm, BalanceManifest, BalanceRow, BalanceSummary, BalanceTrial } from '../../model/types.ts' */
/** @import { Item } from '../../services/assign.js' */

/**
 * Assigns items by each algorithm, for each seed and each kind of sizes, and computes the quantities of each assignment.
 * @param {{ form: BalanceForm, seed: number }} options seed: the first one; the others follow it
 * @returns {BalanceTrial[]} by seed, then kind of sizes, then algorithm
 */
export function computeBalanceTrials({ form, seed }) {
  const seeds = Array.from({ length: form.seeds }, (_, i) => seed + i)
  return seeds.flatMap(trialSeed =>
    form.sizes.flatMap(sizes => {
      const items = drawItems({ count: form.items, sizes, seed: trialSeed })
      return form.algorithms.map(algorithm => ({
        algorithm,
        sizes,
        seed: trialSeed,
        ...computeAssignmentQuantities({ algorithm, items, shards: form.shards }),
      }))
    }),
  )
}

/**
 * Computes the quantities of an assignment, and the moves of items with one shard fewer and with one more.
 * @param {{ algorithm: BalanceTrial['algorithm'], items: Item[], shards: number }} options
 * @returns {Pick<BalanceTrial, 'spread' | 'spreadItems' | 'removed' | 'added'>} spread: the range of the shards'
 *   loads, as a fraction of their mean; spreadItems: the range of their numbers of items; removed, added: moves
 *   (`computeMoves`)
 */
function computeAssignmentQuantities({ algorithm, items, shards }) {
  const assignTo = (/** @type {number} */ count) => assignItems(algorithm, { items, shards: count })
  const before = assignTo(shards)
  const loads = Array(shards).fill(0)
  const counts = Array(shards).fill(0)
  for (const { id, size } of items) {
    const shard = Number(before.get(id))
    loads[shard] += size
    counts[shard]++
  }
  const mean = loads.reduce((sum, load) => sum + load) / shards
  return {
    spread: computeRange(loads) / mean,
    spreadItems: computeRange(counts),
    removed: computeMoves({ from: before, to: assignTo(shards - 1), kept: shards - 1 }),
    added: computeMoves({ from: before, to: assignTo(shards + 1), kept: shards }),
  }
}

/**
 * Counts the items that two assignments have on different shards.
 * @param {{ from: Map<string, number>, to: Map<string, number>, kept: number }} options from, to: the shard of each
 *   item, of the same items; kept: shards below this number are in both assignments
 * @returns {{ moves: number, own: number }} moves: items between shards of both assignments; own: items of the
 *   removed shard, or on the added one, which must move
 */
export function computeMoves({ from, to, kept }) {
  let moves = 0
  let movesNeeded = 0
  for (const [id, shard] of from) {
    const other = Number(to.get(id))
    if (shard >= kept || other >= kept) movesNeeded++
    else if (shard !== other) moves++
  }
  return { moves, own: movesNeeded }
}

/** Renders the name of a trial's record: `the record of greedy-minimum, equal sizes, seed 1`. @param {BalanceTrial} trial */
export function renderBalanceTrialName({ algorithm, sizes, seed }) {
  return `the record of ${algorithm}, ${sizes} sizes, seed ${seed}`
}

/**
 * Computes the distance between the least and the most.
 * @param {number[]} values
 * @returns {number} in the unit of the values
 */
function computeRange(values) {
  return Math.max(...values) - Math.min(...values)
}

/**
 * Summarises each quantity over the seeds, for each kind of sizes and each algorithm.
 * @param {{ manifest: BalanceManifest, trials: BalanceTrial[] }} run
 * @returns {BalanceSummary} a row for each kind and algorithm
 */
export function summariseBalance({ manifest: { run, question, form }, trials }) {
  const rows = form.sizes.flatMap(sizes =>
    form.algorithms.map(algorithm => {
      const trialsOfAlgorithm = trials.filter(trial => trial.algorithm === algorithm && trial.sizes === sizes)
      const quantities = Object.entries(BALANCE_QUANTITIES).map(([name, { readValue }]) => [
        name,
        summariseValues(trialsOfAlgorithm.map(readValue)),
      ])
      return { algorithm, sizes, quantities: /** @type {BalanceRow['quantities']} */ (Object.fromEntries(quantities)) }
    }),
  )
  return { schemaVersion: SCHEMA_VERSION, kind: 'balance', run, question, form, rows }
}
