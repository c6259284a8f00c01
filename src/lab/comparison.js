import { computeSpread } from './count.js'
import { classifyStack, findStackFilter, sumCostsBy, sumInclusive } from './groups.js'
import { sumSelf } from './profile.js'

/** Compares the costs of two folders of scripts. Pure. */

/** Definitions of the counted quantities. */
export const QUANTITIES = {
  instructions: 'instructions a sidecar executes for a request, in user space, on connections that are there',
  handshake: 'instructions a sidecar executes for a new connection with mTLS, without the request',
  calls: 'system calls a sidecar makes for a request, on connections that are there',
  wakeUps: 'those of them that wait for events',
  bytes: 'bytes that a sidecar sends and receives for a request',
}
/** Definitions of all quantities: those that are counted, and that which is sampled under load. */
export const DEFINITIONS = {
  ...QUANTITIES,
  cpu: 'CPU nanoseconds of a sidecar for a request under load, in user space and in the kernel, perf itself included',
}

// Functions below this share of the old side are called only now and then, or were sampled by chance.
const GONE_SHARE = { counted: 0.001, sampled: 0.01 }

/**
 * Costs: stacks: of a request; samples: their number, absent if all was counted; kinds: system calls a request. Row: ratio: new over
 * old; spread: largest distance of two counts of one side, as a share. Breakdown: inclusive: new cost of a function with all it calls.
 * @typedef {keyof typeof QUANTITIES} Quantity
 * @typedef {{ [Name in keyof typeof DEFINITIONS]?: import('./count.js').Count | null }} Counts
 * @typedef {{ link: string, service: string, stacks: import('./profile.js').Stack[], samples?: number,
 *   kinds?: { name: string, calls: number }[] } & Counts} Costs
 * @typedef {Record<'old' | 'new', Costs[]>} Sides
 * @typedef {{ old: number, new: number, ratio: number, spread: number }} Ratio
 * @typedef {{ link: string, service: string, quantity: keyof typeof DEFINITIONS } & Ratio} Row
 * @typedef {{ name: string, old: number, new: number }} Part of a request
 * @typedef {{ link: string, service: string, unit: string, groups: Part[], filters: Part[], calls: Part[],
 *   functions: (Part & { inclusive: number })[] }} Breakdown
 */

/**
 * Compares each quantity that both sides have. A quantity that is missing or 0 on one side is left out.
 * @param {Sides} counts of the same links
 * @returns {Row[]} []: the sides have nothing in common
 */
export function compareCounts(counts) {
  const quantities = /** @type {Row['quantity'][]} */ (Object.keys(DEFINITIONS))
  return pairSidecars(counts).flatMap(([{ link, service, ...old }, next]) =>
    quantities.flatMap(quantity => {
      const [a, b] = [old[quantity], next[quantity]]
      if (!a || !b) return []
      const spread = Math.max(computeSpread(a), computeSpread(b))
      return [{ link, service, quantity, old: a.value, new: b.value, ratio: b.value / a.value, spread }]
    }),
  )
}

/**
 * Breaks the cost of each sidecar of both sides down by group, filter and function.
 * @param {Sides} counts
 * @param {{ functions: number }} options functions: the number of listed functions, those that changed most first;
 *   functions that are gone come on top
 * @returns {Breakdown[]}
 */
export function breakDown(counts, { functions }) {
  return pairSidecars(counts).map(([old, next]) => {
    const compareCostsBy = (/** @type {typeof classifyStack} */ chooseGroup) =>
      joinCosts(sumCostsBy(old.stacks, chooseGroup), sumCostsBy(next.stacks, chooseGroup)).sort((a, b) => b.new - a.new)
    const inclusive = sumInclusive(next.stacks)
    const goneShare = old.samples === undefined ? GONE_SHARE.counted : GONE_SHARE.sampled
    const oldTotal = sumSelf(old.stacks)
    const isGone = (/** @type {Part} */ part) => part.new === 0 && part.old >= goneShare * oldTotal
    const computeChange = (/** @type {Part} */ part) => Math.abs(part.new - part.old)
    const changed = compareCostsBy(({ frames }) => frames[0]).sort((a, b) => computeChange(b) - computeChange(a))
    return {
      link: next.link,
      service: next.service,
      groups: compareCostsBy(classifyStack),
      filters: compareCostsBy(findStackFilter),
      calls: joinCosts(indexCalls(old), indexCalls(next)).sort((a, b) => b.new - a.new),
      unit: next.cpu ? 'CPU nanoseconds a request' : 'instructions a request',
      functions: changed
        .filter((part, i) => i < functions || isGone(part))
        .map(part => ({ ...part, inclusive: inclusive.get(part.name) ?? 0 })),
    }
  })
}

/**
 * Indexes the system calls of a request by name.
 * @param {Costs} costs
 * @returns {Map<string, number>} empty: none were counted
 */
function indexCalls({ kinds = [] }) {
  return new Map(kinds.map(({ name, calls }) => [name, calls]))
}

/**
 * Joins costs of both sides by name. A name that one side lacks costs 0 there.
 * @param {Map<string, number>} old
 * @param {Map<string, number>} next
 * @returns {Part[]}
 */
function joinCosts(old, next) {
  const names = [...new Set([...next.keys(), ...old.keys()])]
  return names.map(name => ({ name, old: old.get(name) ?? 0, new: next.get(name) ?? 0 }))
}

/**
 * Pairs the sidecars that both sides have.
 * @param {Sides} counts
 * @returns {[Costs, Costs][]} old, new
 */
function pairSidecars(counts) {
  return counts.new.flatMap(next => {
    const old = counts.old.find(({ link, service }) => link === next.link && service === next.service)
    return old ? [/** @type {[Costs, Costs]} */ ([old, next])] : []
  })
}
