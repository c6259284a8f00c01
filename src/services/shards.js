import { assignItems } from './assign.js'
import { drawItems, MEAN_SIZE } from './items.js'

/** The sidecars of each control plane, and the services that each knows, as in `balance` with the same seed. Pure. */
/** @import { Conditions } from '../model/types.ts' */

/**
 * The same by as many shards as an arm has and, where its last is removed, by those that are left: then movesTo is the shard
 * of a sidecar that has another one there.
 * @param {string[]} names of the sidecars
 * @param {{ conditions: Pick<Conditions, 'shards' | 'assignment' | 'sizes' | 'configuredServices' | 'isShardRemoved'>, seed: number }} options
 * @returns {{ name: string, shard: number, known: number, movesTo?: number }[]}
 */
export function assignMoving(names, { conditions, seed }) {
  const assigned = assignSidecars(names, { conditions, seed })
  if (!conditions.isShardRemoved) return assigned
  const left = assignSidecars(names, { conditions: { ...conditions, shards: Number(conditions.shards) - 1 }, seed })
  return assigned.map((one, i) => (left[i].shard === one.shard ? one : { ...one, movesTo: left[i].shard }))
}

/**
 * @param {string[]} names of the sidecars
 * @param {{ conditions: Pick<Conditions, 'shards' | 'assignment' | 'sizes' | 'configuredServices'>, seed: number }} options
 * @returns {{ name: string, shard: number, known: number }[]} known: services beside that which it calls
 */
export function assignSidecars(names, { conditions, seed }) {
  const { shards = 1, assignment = 'round-robin', sizes = 'equal', configuredServices } = conditions
  const items = drawItems({ count: names.length, sizes, seed })
  const assigned = assignItems(assignment, { items, shards })
  return items.map(({ id, size }, i) => ({
    name: names[i],
    shard: Number(assigned.get(id)),
    known: Math.round((configuredServices * size) / MEAN_SIZE),
  }))
}
