import { UsageError } from '../lib/errors.js'
import { spreadOf } from './count.js'
import { filterOf, groupOf, sumBy, sumInclusive } from './groups.js'

/**
 * What one folder of scripts costs beside another. Pure.
 * @import { Count, SidecarCount } from './count.js'
 */

/** What is counted, with its definition. */
export const QUANTITIES = /** @type {const} */ ({
  instructions: 'instructions a sidecar executes for a request, in user space, on connections that are there',
  handshake: 'instructions a sidecar executes for a new connection with mTLS, without the request',
})

/** @typedef {keyof typeof QUANTITIES} Quantity */
/** @typedef {{ link: string, service: string, quantity: Quantity, old: number, new: number, ratio: number, spread: number }} Row spread: how far two counts of one side were apart at most, as a share */
/** @typedef {{ name: string, old: number, new: number }} Part instructions a request */
/** @typedef {{ link: string, service: string, groups: Part[], filters: Part[], functions: (Part & { inclusive: number })[] }} Breakdown inclusive: of the new side, with what the function calls */
/** @typedef {{ expression: string, quantity: Quantity, a: 'old' | 'new', service: string | null, operator: string, limit: number }} Threshold */

/**
 * @param {{ old: SidecarCount[], new: SidecarCount[] }} counts of the same links
 * @returns {Row[]}
 */
export function compareCounts(counts) {
  return pair(counts).flatMap(([old, next]) =>
    /** @type {Quantity[]} */ (Object.keys(QUANTITIES)).flatMap(quantity => {
      const [a, b] = [old[quantity], next[quantity]]
      return a && b ? [compareOne({ old: a, new: b, of: { link: next.link, service: next.service, quantity } })] : []
    }),
  )
}

/** @param {{ old: Count, new: Count, of: Pick<Row, 'link' | 'service' | 'quantity'> }} given @returns {Row} */
function compareOne({ old, new: next, of }) {
  return {
    ...of,
    ...{ old: old.value, new: next.value, ratio: next.value / old.value },
    spread: Math.max(spreadOf(old), spreadOf(next)),
  }
}

/**
 * Where the instructions of each sidecar go, and where they changed.
 * @param {{ old: SidecarCount[], new: SidecarCount[] }} counts
 * @param {{ functions: number }} options functions: how many, those that changed most first
 * @returns {Breakdown[]}
 */
export function breakDown(counts, { functions }) {
  return pair(counts).map(([old, next]) => {
    const by = (/** @type {typeof groupOf} */ nameOf) =>
      join(sumBy(old.stacks, nameOf), sumBy(next.stacks, nameOf)).sort((a, b) => b.new - a.new)
    const inclusive = sumInclusive(next.stacks)
    const changed = by(({ frames }) => frames[0]).sort((a, b) => changeOf(b) - changeOf(a))
    return {
      ...{ link: next.link, service: next.service, groups: by(groupOf), filters: by(filterOf) },
      functions: changed.slice(0, functions).map(part => ({ ...part, inclusive: inclusive.get(part.name) ?? 0 })),
    }
  })
}

/** @param {Part} part */
function changeOf(part) {
  return Math.abs(part.new - part.old)
}

/**
 * @param {Map<string, number>} old
 * @param {Map<string, number>} next
 * @returns {Part[]}
 */
function join(old, next) {
  return [...new Set([...next.keys(), ...old.keys()])].map(name => ({
    ...{ name, old: old.get(name) ?? 0, new: next.get(name) ?? 0 },
  }))
}

/** @param {{ old: SidecarCount[], new: SidecarCount[] }} counts @returns {[SidecarCount, SidecarCount][]} */
function pair(counts) {
  return counts.new.flatMap(next => {
    const old = counts.old.find(({ link, service }) => link === next.link && service === next.service)
    return old ? [/** @type {[SidecarCount, SidecarCount]} */ ([old, next])] : []
  })
}

/** @type {Record<string, (value: number, limit: number) => boolean>} */
const OPERATORS = {
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
}

/**
 * @param {string} expression `new/old instructions[@service] <= number`
 * @param {string[]} services that are counted
 * @returns {Threshold}
 * @throws {UsageError}
 */
export function parseLabThreshold(expression, services) {
  const fail = (/** @type {string} */ why) =>
    new UsageError(`--threshold '${expression}': ${why}; write it as 'new/old instructions <= 1.01'`)
  const match = /^\s*(new\/old|old\/new)\s+(\w+)(?:@([a-z0-9-]+))?\s*(<=|>=|<|>)\s*(\S+)\s*$/.exec(expression)
  if (!match) throw fail('it is no condition on new/old')
  const [, sides, quantity, service = null, operator, number] = match
  if (!(quantity in QUANTITIES))
    throw fail(`unknown quantity "${quantity}", only ${Object.keys(QUANTITIES).join(' and ')} are counted`)
  if (service !== null && !services.includes(service))
    throw fail(`unknown sidecar "${service}", only ${services.join(', ')} are counted`)
  const limit = Number(number)
  if (!(limit > 0) || !Number.isFinite(limit)) throw fail(`"${number}" is no ratio above 0`)
  const a = sides.startsWith('new') ? 'new' : 'old'
  return { expression, quantity: /** @type {Quantity} */ (quantity), a, service, operator, limit }
}

/**
 * Why a threshold did not hold, for each sidecar; empty where it held.
 * @param {Threshold} threshold
 * @param {Row[]} rows
 */
export function findCrossed({ expression, quantity, a, service, operator, limit }, rows) {
  const own = rows.filter(row => row.quantity === quantity && (service === null || row.service === service))
  if (own.length === 0) return [`--threshold '${expression}': ${quantity} was not counted`]
  return own.flatMap(row => {
    const value = a === 'new' ? row.ratio : 1 / row.ratio
    if (OPERATORS[operator](value, limit)) return []
    return [`--threshold '${expression}' is crossed by ${row.service} of ${row.link}: ${value.toFixed(5)}`]
  })
}
