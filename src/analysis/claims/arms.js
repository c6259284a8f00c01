import { groupBy } from '../../lib/group-by.js'
import { AXES, AXIS_NAMES, renderAxes, renderContenderName } from '../../model/arms.js'

/**
 * The arms of a run that a claim is about. Pure.
 * @import { AxisName, SummaryArm } from '../../model/types.ts'
 */
/** @import { Ratio, Selector } from './schema.js' */

/** Axes that conditions name even at their default. @type {AxisName[]} */
const ALWAYS_SAID = ['link', 'ratePerSecond', 'users']

/**
 * @typedef {object} PairOptions
 * @property {SummaryArm[]} arms of the run
 * @property {Selector} of
 * @property {Selector} to
 * @property {Ratio['otherCaps']} otherCaps whether a pair at other CPU limits than the published may be taken
 * @property {(a: SummaryArm, b: SummaryArm) => (number | null)[]} valuesOf the ratios of a pair by round
 */

/**
 * Finds two arms that differ only in what the selectors distinguish. Of several pairs it chooses one with values in every
 * round, then one at the published CPU limit, then the one with the largest limit.
 * @param {PairOptions} options
 * @returns {{ pair: { a: SummaryArm, b: SummaryArm }, isAtCap: boolean } | { why: string }} isAtCap: both arms have the
 *   published CPU limit; why: the reason that there is no pair
 */
export function findPair({ arms, of: numerator, to, otherCaps, valuesOf }) {
  const [numeratorArms, denominatorArms] = [numerator, to].map(selector =>
    arms.filter(arm => isSelected(arm, selector)),
  )
  if (numeratorArms.length === 0 || denominatorArms.length === 0)
    return { why: `no arm here is ${renderSelector(numeratorArms.length === 0 ? numerator : to)}` }
  const pairs = numeratorArms
    .flatMap(a => denominatorArms.map(b => ({ a, b })))
    .filter(({ a, b }) => areComparable({ a, b, of: numerator, to }))
    .map(pair => ({ pair, isAtCap: isAtCap(pair.a, numerator) && isAtCap(pair.b, to) }))
  const hasTwoCaps = isComparedAxis(numerator, to, 'cpuLimitCores')
  const allowed = pairs.filter(p => p.isAtCap || (otherCaps !== 'never' && !hasTwoCaps))
  if (allowed.length === 0) {
    const areAlike = pairs.length > 0 || hasTwoCaps
    const noPairReason = 'no two arms here are alike but for what the claim compares'
    return { why: areAlike ? renderCaps([...numeratorArms, ...denominatorArms], numerator, to) : noPairReason }
  }
  return chooseBestItem(allowed, ({ pair: { a, b }, isAtCap }) => [
    rankCompleteness(valuesOf(a, b)),
    Number(isAtCap),
    Math.max(a.cpuLimitCores ?? 0, b.cpuLimitCores ?? 0),
  ])
}

/**
 * Finds arms that differ in one axis alone, sorted by its value (planes stay in the order of the run). Of several such series
 * it chooses the one with the most arms that have values in every round, then one at the published CPU limit, then the one with
 * the largest limit.
 * @param {{ arms: SummaryArm[], among: Selector, over: AxisName | 'plane', valuesOf: (arm: SummaryArm) => (number |
 *   null)[] }} options
 * @returns {{ series: SummaryArm[], isAtCap: boolean } | { why: string }} why: the reason that no arm matches
 */
export function findSeries({ arms, among, over, valuesOf }) {
  const selected = arms.filter(arm => isSelected(arm, among) && readAxisValue(arm, over) !== null)
  if (selected.length === 0) return { why: `no arm here is ${renderSelector(among)}` }
  // The default number of users of a closed loop depends on the CPU limit, so that the two vary together.
  const usersFollowLimit = over === 'cpuLimitCores' && haveUsersOfTheirLimit(selected)
  const groups = groupBy(selected, arm => {
    const names = AXIS_NAMES.filter(
      name => name !== over && !(name === 'users' && arm.load.kind === 'closed' && usersFollowLimit),
    )
    return JSON.stringify([
      over === 'plane' ? null : arm.plane,
      arm.load.kind,
      ...names.map(name => AXES[name].of(arm)),
    ])
  })
  const series = chooseBestItem([...groups.values()], arms => [
    arms.filter(arm => rankCompleteness(valuesOf(arm)) === 2).length,
    Number(isAtCap(arms[0], among)),
    arms[0].cpuLimitCores ?? 0,
  ])
  const sorted = series.toSorted((a, b) => (readAxisValue(a, over) < readAxisValue(b, over) ? -1 : 1))
  return { series: over === 'plane' ? series : sorted, isAtCap: isAtCap(series[0], among) }
}

/**
 * Says whether arms with the same CPU limit have the same number of users.
 * @param {SummaryArm[]} arms
 * @returns {boolean}
 */
function haveUsersOfTheirLimit(arms) {
  const armsByLimit = groupBy(arms, arm => arm.cpuLimitCores)
  return [...armsByLimit.values()].every(alike => new Set(alike.map(arm => arm.load.users)).size === 1)
}

/**
 * Reads the value of an arm on an axis, or its plane.
 * @param {SummaryArm} arm
 * @param {AxisName | 'plane'} over
 * @returns {any} null: the arm has no such condition
 */
export function readAxisValue(arm, over) {
  return over === 'plane' ? arm.plane : AXES[over].of(arm)
}

/**
 * Renders the values that the arms with sidecars (else all arms) share: link, rate and users, and values of other axes that are
 * not the default.
 * @param {SummaryArm[]} arms
 * @param {{ hasCap: boolean }} options hasCap: include their CPU limit
 * @returns {string}
 */
export function renderArmConditions(arms, { hasCap }) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const conditionArms = withSidecars.length > 0 ? withSidecars : arms
  const [first] = conditionArms
  const names = AXIS_NAMES.filter(name => {
    const value = AXES[name].of(first)
    if (value === null || conditionArms.some(arm => AXES[name].of(arm) !== value)) return false
    if (name === 'cpuLimitCores') return hasCap
    return ALWAYS_SAID.includes(name) || value !== AXES[name].values[0]
  })
  const words = renderAxes(first, names)
  return first.load.isInterleaved ? `${words}, side by side without a cap` : words
}

/**
 * Says whether an arm, at any CPU limit, has the plane and the axis values of a selector. A/A repeats and variants never match.
 * @param {SummaryArm} arm
 * @param {Selector} selector
 * @returns {boolean}
 */
export function isSelected(arm, { plane, service, cpuLimitCores, ...axes }) {
  return (
    arm.repeatOf === null &&
    arm.variant === null &&
    (plane === undefined || renderContenderName({ ...arm, control: undefined }) === plane) &&
    Object.entries(axes).every(([name, value]) => AXES[/** @type {AxisName} */ (name)].of(arm) === value)
  )
}

/**
 * Says whether two arms have the same load and axis values. It ignores axes on which the selectors differ, axes of sidecars if
 * an arm has none, and the users of a closed loop under two CPU limits, which chose them.
 * @param {{ a: SummaryArm, b: SummaryArm, of: Selector, to: Selector }} options
 * @returns {boolean}
 */
function areComparable({ a, b, of: numerator, to }) {
  const isBare = !a.hasSidecars || !b.hasSidecars
  const names = AXIS_NAMES.filter(
    name =>
      !isComparedAxis(numerator, to, name) &&
      !(isBare && AXES[name].isOfSidecars) &&
      !(name === 'users' && a.load.kind === 'closed' && a.cpuLimitCores !== b.cpuLimitCores),
  )
  return a.load.kind === b.load.kind && names.every(name => AXES[name].of(a) === AXES[name].of(b))
}

/**
 * Says whether both selectors name a value of an axis, and the values differ.
 * @param {Selector} numerator
 * @param {Selector} to
 * @param {AxisName} name the axis
 * @returns {boolean}
 */
function isComparedAxis(numerator, to, name) {
  return numerator[name] !== undefined && to[name] !== undefined && numerator[name] !== to[name]
}

/**
 * Says whether an arm has the CPU limit of a selector.
 * @param {SummaryArm} arm
 * @param {Selector} selector
 * @returns {boolean} true also: the selector names no limit
 */
function isAtCap(arm, { cpuLimitCores }) {
  return cpuLimitCores === undefined || arm.cpuLimitCores === cpuLimitCores
}

/**
 * Ranks an arm or a pair by its values.
 * @param {(number | null)[]} values by round; null: a spoiled round
 * @returns {0 | 1 | 2} 2: a value in every round; 1: in some rounds; 0: in none
 */
function rankCompleteness(values) {
  const present = values.filter(v => v !== null).length
  return present === 0 ? 0 : present < values.length ? 1 : 2
}

/**
 * Chooses the item with the highest ranks, compared one after the other; of equal items the first.
 * @template T
 * @param {T[]} items index least one
 * @param {(item: T) => number[]} rank
 * @returns {T}
 */
function chooseBestItem(items, rank) {
  return items.toSorted((x, y) => {
    const [p, q] = [rank(x), rank(y)]
    const index = p.findIndex((value, i) => value !== q[i])
    return index < 0 ? 0 : q[index] - p[index]
  })[0]
}

/**
 * Renders the plane and the conditions of a selector, without its service and its CPU limit.
 * @param {Selector} selector
 * @returns {string}
 */
export function renderSelector({ plane, service, cpuLimitCores, ...axes }) {
  const conditions = Object.entries(axes).map(([name, value]) => AXES[/** @type {AxisName} */ (name)].render(value))
  return [plane ?? 'any plane', ...conditions].join(', ')
}

/**
 * Renders that the published CPU limits are not those of the arms of this run.
 * @param {SummaryArm[]} arms
 * @param {Selector[]} selectors
 * @returns {string}
 */
function renderCaps(arms, ...selectors) {
  const caps = new Set(selectors.map(s => s.cpuLimitCores).filter(cap => cap !== undefined))
  const runCaps = new Set(arms.map(arm => arm.cpuLimitCores).filter(cap => cap !== null))
  return `published at a cap of ${[...caps].join(' and ')}, here ${[...runCaps].join(' and ') || 'without one'}`
}
