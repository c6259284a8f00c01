import { spreadOf } from './count.js'
import { filterOf, groupOf, sumBy, sumInclusive } from './groups.js'

/**
 * The cost of one folder of scripts beside another. Pure.
 * @import { Count } from './count.js'
 * @import { Stack } from './profile.js'
 */

/** Counted quantities with their definitions. */
export const QUANTITIES = /** @type {const} */ ({
  instructions: 'instructions a sidecar executes for a request, in user space, on connections that are there',
  handshake: 'instructions a sidecar executes for a new connection with mTLS, without the request',
})
/** Quantities under load with their definitions. */
const UNDER_LOAD = /** @type {const} */ ({
  cpu: 'CPU nanoseconds of a sidecar for a request under load, in user space and in the kernel, perf itself included',
})
export const DEFINITIONS = { ...QUANTITIES, ...UNDER_LOAD }

// Less is a function that a sidecar calls now and then, or that samples met by chance.
const GONE_SHARE = { counted: 0.001, sampled: 0.01 }

/** @typedef {keyof typeof QUANTITIES} Quantity */
/** The costs of a sidecar and their stacks. @typedef {{ link: string, service: string, stacks: Stack[], samples?: number } & { [Name in keyof typeof DEFINITIONS]?: Count | null }} Costs stacks: of a request; samples: absent: all was counted */
/** @typedef {Record<'old' | 'new', Costs[]>} Sides */
/** @typedef {{ link: string, service: string, quantity: keyof typeof DEFINITIONS, old: number, new: number, ratio: number, spread: number }} Row spread: how far two counts of one side were apart at most, as a share */
/** @typedef {{ name: string, old: number, new: number }} Part of a request */
/** @typedef {{ link: string, service: string, unit: string, groups: Part[], filters: Part[], functions: (Part & { inclusive: number })[] }} Breakdown inclusive: of the new side, with what the function calls */

/** @param {Sides} counts of the same links @returns {Row[]} */
export function compareCounts(counts) {
  return pair(counts).flatMap(([old, next]) =>
    /** @type {Row['quantity'][]} */ (Object.keys(DEFINITIONS)).flatMap(quantity => {
      const [a, b] = [old[quantity], next[quantity]]
      return a && b ? [compareOne({ old: a, new: b, of: { link: next.link, service: next.service, quantity } })] : []
    }),
  )
}

/** @param {{ old: Count, new: Count, of: Pick<Row, 'link' | 'service' | 'quantity'> }} given @returns {Row} */
function compareOne({ old, new: next, of }) {
  return {
    ...of,
    old: old.value,
    new: next.value,
    ratio: next.value / old.value,
    spread: Math.max(spreadOf(old), spreadOf(next)),
  }
}

/**
 * The cost of each sidecar by group and filter, and its changes.
 * @param {Sides} counts
 * @param {{ functions: number }} options functions: how many, those that changed most first, beside those that are gone
 * @returns {Breakdown[]}
 */
export function breakDown(counts, { functions }) {
  return pair(counts).map(([old, next]) => {
    const by = (/** @type {typeof groupOf} */ nameOf) =>
      join(sumBy(old.stacks, nameOf), sumBy(next.stacks, nameOf)).sort((a, b) => b.new - a.new)
    const inclusive = sumInclusive(next.stacks)
    const least = old.samples === undefined ? GONE_SHARE.counted : GONE_SHARE.sampled
    const all = old.stacks.reduce((sum, { self }) => sum + self, 0)
    const isGone = (/** @type {Part} */ part) => part.new === 0 && part.old >= least * all
    const changed = by(({ frames }) => frames[0]).sort((a, b) => changeOf(b) - changeOf(a))
    return {
      link: next.link,
      service: next.service,
      groups: by(groupOf),
      filters: by(filterOf),
      unit: next.cpu ? 'CPU nanoseconds a request' : 'instructions a request',
      functions: changed
        .filter((part, i) => i < functions || isGone(part))
        .map(part => ({ ...part, inclusive: inclusive.get(part.name) ?? 0 })),
    }
  })
}

/** @param {Part} part */
function changeOf(part) {
  return Math.abs(part.new - part.old)
}

/** @param {Map<string, number>} old @param {Map<string, number>} next @returns {Part[]} */
function join(old, next) {
  return [...new Set([...next.keys(), ...old.keys()])].map(name => ({
    name,
    old: old.get(name) ?? 0,
    new: next.get(name) ?? 0,
  }))
}

/** @param {Sides} counts @returns {[Costs, Costs][]} */
function pair(counts) {
  return counts.new.flatMap(next => {
    const old = counts.old.find(({ link, service }) => link === next.link && service === next.service)
    return old ? [/** @type {[Costs, Costs]} */ ([old, next])] : []
  })
}
