import { computeSpread } from './count.js'
import { classifyStack, findStackFilter, sumCostsBy, sumInclusiveCosts } from './groups.js'
import { sumSelfCosts } from './profile.js'

/** Compares the costs of two folders of scripts. Pure. @import { Stack } from './profile.js' */

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

// A function that is gone is listed from this share of the old side on: below it, it was called only now and then, or sampled by
// chance.
const GONE_SHARE = { counted: 0.001, sampled: 0.01 }

/**
 * @typedef {keyof typeof QUANTITIES} Quantity
 * @typedef {{ [Name in keyof typeof DEFINITIONS]?: import('./count.js').Count | null }} Counts null, absent: it was not counted
 * @typedef {SidecarCosts & Counts} Costs
 * @typedef {Record<'old' | 'new', Costs[]>} Sides
 * @typedef {{ name: string, old: number, new: number }} Part of the cost of a request
 */
/**
 * @typedef {object} SidecarCosts
 * @property {string} link
 * @property {string} service
 * @property {Stack[]} stacks of a request
 * @property {number} [samples] of the stacks; absent: all was counted
 * @property {{ name: string, calls: number }[]} [kinds] system calls of a request, by name; absent: none were counted
 */
/**
 * A quantity of a sidecar on both sides.
 * @typedef {object} Row
 * @property {string} link
 * @property {string} service
 * @property {keyof typeof DEFINITIONS} quantity
 * @property {number} old
 * @property {number} new
 * @property {number} ratio new over old
 * @property {number} spread the largest distance of two counts of one side, as a fraction of their mean
 */
/**
 * The parts of the cost of a sidecar, on both sides.
 * @typedef {object} Breakdown
 * @property {string} link
 * @property {string} service
 * @property {string} unit of groups, filters and functions, in words
 * @property {Part[]} groups by purpose
 * @property {Part[]} filters
 * @property {Part[]} calls system calls; []: none were counted
 * @property {(Part & { inclusive: number })[]} functions inclusive: the new cost with all that the function calls
 */

/**
 * Compares each quantity of a sidecar that was counted on both sides, and is not 0 on either.
 * @param {Sides} counts of the same links
 * @returns {Row[]} []: the sides have nothing in common
 */
export function compareCounts(counts) {
  const quantities = /** @type {Row['quantity'][]} */ (Object.keys(DEFINITIONS))
  return pairSidecars(counts).flatMap(([{ link, service, ...old }, next]) =>
    quantities.flatMap(quantity => {
      const [a, b] = [old[quantity], next[quantity]]
      // Nothing has a ratio to 0, and zeros have no spread.
      if (!a?.value || !b?.value) return []
      const spread = Math.max(computeSpread(a), computeSpread(b))
      return [{ link, service, quantity, old: a.value, new: b.value, ratio: b.value / a.value, spread }]
    }),
  )
}

/**
 * Breaks down the costs of each sidecar that both sides have: by purpose, filter, system call and function.
 * @param {Sides} counts
 * @param {{ functions: number }} options functions: how many to list of those that changed most; functions that are gone are listed
 *   beyond that number, too
 * @returns {Breakdown[]} []: the sides have no sidecar in common
 */
export function breakDownCosts(counts, { functions }) {
  return pairSidecars(counts).map(([old, next]) => {
    const joinCostsBy = (/** @type {typeof classifyStack} */ chooseGroup) =>
      joinCosts(sumCostsBy(old.stacks, chooseGroup), sumCostsBy(next.stacks, chooseGroup))
    return {
      link: next.link,
      service: next.service,
      groups: joinCostsBy(classifyStack),
      filters: joinCostsBy(findStackFilter),
      calls: joinCosts(indexCalls(old), indexCalls(next)),
      unit: next.cpu ? 'CPU nanoseconds a request' : 'instructions a request',
      functions: listChangedFunctions(old, next, functions),
    }
  })
}

/**
 * Lists the functions whose cost changed most, and all that are gone and had at least GONE_SHARE of the old cost.
 * @param {Costs} old
 * @param {Costs} next
 * @param {number} most the number of those that changed most; one that is gone counts if it is among them
 * @returns {Breakdown['functions']} by their change, the largest first
 */
function listChangedFunctions(old, next, most) {
  const chooseFunction = (/** @type {Stack} */ { frames }) => frames[0]
  const parts = joinCosts(sumCostsBy(old.stacks, chooseFunction), sumCostsBy(next.stacks, chooseFunction))
  const computeChange = (/** @type {Part} */ part) => Math.abs(part.new - part.old)
  const changed = parts.sort((a, b) => computeChange(b) - computeChange(a))
  const inclusive = sumInclusiveCosts(next.stacks)
  const goneShare = old.samples === undefined ? GONE_SHARE.counted : GONE_SHARE.sampled
  const goneLeast = goneShare * sumSelfCosts(old.stacks)
  return changed
    .filter((part, i) => i < most || (part.new === 0 && part.old >= goneLeast))
    .map(part => ({ ...part, inclusive: inclusive.get(part.name) ?? 0 }))
}

/**
 * Indexes the numbers of system calls of a request by name.
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
 * @returns {Part[]} the most expensive of the new side first
 */
function joinCosts(old, next) {
  const names = [...new Set([...next.keys(), ...old.keys()])]
  const parts = names.map(name => ({ name, old: old.get(name) ?? 0, new: next.get(name) ?? 0 }))
  return parts.sort((a, b) => b.new - a.new)
}

/**
 * Pairs the sidecars that both sides have, by link and service.
 * @param {Sides} counts
 * @returns {[Costs, Costs][]} old, new; []: they have none in common
 */
function pairSidecars(counts) {
  return counts.new.flatMap(next => {
    const old = counts.old.find(({ link, service }) => link === next.link && service === next.service)
    return old ? [/** @type {[Costs, Costs]} */ ([old, next])] : []
  })
}
