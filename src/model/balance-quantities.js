/** The quantities of an assignment of items to shards. Pure. */
/** @import { BalanceTrial } from './types.ts' */

/**
 * @typedef {Record<'label' | 'unit' | 'definition', string> & { digits: number,
 *   readValue: (trial: BalanceTrial) => number }} BalanceQuantity digits: decimals that are shown
 */

/** The quantities, in the order shown. @type {Record<'moves' | 'spread' | 'movesAdded' | 'spreadItems', BalanceQuantity>} */
export const BALANCE_QUANTITIES = {
  moves: {
    label: 'moves, shard removed',
    unit: 'items',
    digits: 0,
    definition: 'items on another shard after the last shard was removed, without those that were on it',
    readValue: trial => trial.removed.moves,
  },
  spread: {
    label: 'spread of load',
    unit: 'of the mean',
    digits: 2,
    definition: 'the largest load of a shard less the smallest, as a share of the mean; a load is the sum of the sizes',
    readValue: trial => trial.spread,
  },
  movesAdded: {
    label: 'moves, shard added',
    unit: 'items',
    digits: 0,
    definition: 'items on another shard after one was added, without those that are on it',
    readValue: trial => trial.added.moves,
  },
  spreadItems: {
    label: 'spread of items',
    unit: 'items',
    digits: 0,
    definition: 'the items of the shard with the most, less those of the shard with the fewest',
    readValue: trial => trial.spreadItems,
  },
}

export const BALANCE_NAMES = /** @type {(keyof typeof BALANCE_QUANTITIES)[]} */ (Object.keys(BALANCE_QUANTITIES))
