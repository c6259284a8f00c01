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

// Less is a function that a sidecar calls now and then.
const GONE_SHARE = 0.001

/** @typedef {keyof typeof QUANTITIES} Quantity */
/** @typedef {{ link: string, service: string, quantity: Quantity, old: number, new: number, ratio: number, spread: number }} Row spread: how far two counts of one side were apart at most, as a share */
/** @typedef {{ name: string, old: number, new: number }} Part instructions a request */
/** @typedef {{ link: string, service: string, groups: Part[], filters: Part[], functions: (Part & { inclusive: number })[] }} Breakdown inclusive: of the new side, with what the function calls */

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
 * @param {{ functions: number }} options functions: how many, those that changed most first, beside those that are gone
 * @returns {Breakdown[]}
 */
export function breakDown(counts, { functions }) {
  return pair(counts).map(([old, next]) => {
    const by = (/** @type {typeof groupOf} */ nameOf) =>
      join(sumBy(old.stacks, nameOf), sumBy(next.stacks, nameOf)).sort((a, b) => b.new - a.new)
    const inclusive = sumInclusive(next.stacks)
    const isGone = (/** @type {Part} */ part) => part.new === 0 && part.old >= GONE_SHARE * old.instructions.value
    const changed = by(({ frames }) => frames[0]).sort((a, b) => changeOf(b) - changeOf(a))
    return {
      ...{ link: next.link, service: next.service, groups: by(groupOf), filters: by(filterOf) },
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
