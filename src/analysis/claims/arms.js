import { groupBy } from '../../lib/group-by.js'
import { AXES, AXIS_NAMES, renderAxes, renderContenderName } from '../../model/arms.js'

/**
 * Finds the arms of a run that a claim is about. Pure.
 * @import { AxisName, SummaryArm } from '../../model/types.ts'
 */
/** @import { Ratio, Selector } from './schema.js' */

/** Conditions name these axes even at their default. @type {AxisName[]} */
const ALWAYS_NAMED = ['link', 'ratePerSecond', 'users']

/**
 * @typedef {object} PairOptions
 * @property {SummaryArm[]} arms of the run
 * @property {Selector} numerator
 * @property {Selector} denominator
 * @property {Ratio['otherCaps']} otherCaps `never`: only a pair at the published CPU limits may be taken
 * @property {(a: SummaryArm, b: SummaryArm) => (number | null)[]} computeRatios computes the ratios of a pair by round; null: a
 *   spoiled round
 */

/**
 * Finds two arms that differ only in what the selectors distinguish. Of several pairs it chooses one with values in every
 * round, then one at the published CPU limit, then the one with the largest limit.
 * @param {PairOptions} options
 * @returns {{ pair: { a: SummaryArm, b: SummaryArm }, isAtCap: boolean } | { why: string }} isAtCap: both arms have the
 *   published CPU limit; why: the reason that there is no pair
 */
export function findArmPair({ arms, numerator, denominator, otherCaps, computeRatios }) {
  const numeratorArms = arms.filter(arm => isSelected(arm, numerator))
  const denominatorArms = arms.filter(arm => isSelected(arm, denominator))
  if (numeratorArms.length === 0) return { why: `no arm here is ${renderSelector(numerator)}` }
  if (denominatorArms.length === 0) return { why: `no arm here is ${renderSelector(denominator)}` }
  const pairs = numeratorArms
    .flatMap(a => denominatorArms.map(b => ({ a, b })))
    .filter(({ a, b }) => areComparable({ a, b, numerator, denominator }))
    .map(pair => ({ pair, isAtCap: hasLimitOf(pair.a, numerator) && hasLimitOf(pair.b, denominator) }))
  // Other limits cannot test a claim that compares two limits.
  const hasTwoCaps = isComparedAxis(numerator, denominator, 'cpuLimitCores')
  const allowedPairs = pairs.filter(({ isAtCap }) => isAtCap || (otherCaps !== 'never' && !hasTwoCaps))
  if (allowedPairs.length === 0) {
    if (pairs.length === 0 && !hasTwoCaps) return { why: 'no two arms here are alike but for what the claim compares' }
    return { why: renderCaps([...numeratorArms, ...denominatorArms], numerator, denominator) }
  }
  return chooseBest(allowedPairs, ({ pair: { a, b }, isAtCap }) => [
    computeCompleteness(computeRatios(a, b)),
    Number(isAtCap),
    Math.max(a.cpuLimitCores ?? 0, b.cpuLimitCores ?? 0),
  ])
}

/**
 * Finds arms that differ in one axis alone, sorted by its value (planes stay in the order of the run). Of several such series
 * it chooses the one with the most arms that have values in every round, then one at the published CPU limit, then the one with
 * the largest limit.
 * @param {{ arms: SummaryArm[], among: Selector, over: AxisName | 'plane',
 *   listValues: (arm: SummaryArm) => (number | null)[] }} options listValues: lists the values of an arm by round
 * @returns {{ series: SummaryArm[], isAtCap: boolean } | { why: string }} isAtCap: the first arm has the published CPU limit; why: the
 *   reason that no arm matches
 */
export function findSeries({ arms, among, over, listValues }) {
  const selectedArms = arms.filter(arm => isSelected(arm, among) && readAxisOrPlane(arm, over) !== null)
  if (selectedArms.length === 0) return { why: `no arm here is ${renderSelector(among)}` }
  // The default number of users of a closed loop depends on the CPU limit, so that the two vary together.
  const usersFollowLimit = over === 'cpuLimitCores' && haveUsersOfTheirLimit(selectedArms)
  const createSeriesKey = (/** @type {SummaryArm} */ arm) => {
    const areUsersFree = usersFollowLimit && arm.load.kind === 'closed'
    const names = AXIS_NAMES.filter(name => name !== over && !(name === 'users' && areUsersFree))
    const plane = over === 'plane' ? null : arm.plane
    return JSON.stringify([plane, arm.load.kind, ...names.map(name => AXES[name].readValue(arm))])
  }
  const series = chooseBest([...groupBy(selectedArms, createSeriesKey).values()], group => [
    group.filter(arm => computeCompleteness(listValues(arm)) === 1).length,
    Number(hasLimitOf(group[0], among)),
    group[0].cpuLimitCores ?? 0,
  ])
  const sorted = series.toSorted((a, b) => (readAxisOrPlane(a, over) < readAxisOrPlane(b, over) ? -1 : 1))
  return { series: over === 'plane' ? series : sorted, isAtCap: hasLimitOf(series[0], among) }
}

/**
 * Says whether all arms with the same CPU limit have the same number of users.
 * @param {SummaryArm[]} arms
 * @returns {boolean}
 */
function haveUsersOfTheirLimit(arms) {
  const armsByLimit = groupBy(arms, arm => arm.cpuLimitCores)
  return [...armsByLimit.values()].every(group => new Set(group.map(arm => arm.load.users)).size === 1)
}

/**
 * Reads the value of an arm on an axis, or its plane.
 * @param {SummaryArm} arm
 * @param {AxisName | 'plane'} over
 * @returns {any} null: the arm has no value on the axis
 */
export function readAxisOrPlane(arm, over) {
  return over === 'plane' ? arm.plane : AXES[over].readValue(arm)
}

/**
 * Renders the values that the arms with sidecars (else all arms) share: link, rate and users, and values of other axes that are
 * not the default.
 * @param {SummaryArm[]} arms at least one
 * @param {{ hasCap: boolean }} options hasCap: include their CPU limit
 * @returns {string} empty: they share none
 */
export function renderArmConditions(arms, { hasCap }) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const conditionArms = withSidecars.length > 0 ? withSidecars : arms
  const [first] = conditionArms
  const names = AXIS_NAMES.filter(name => {
    const value = AXES[name].readValue(first)
    if (value === null || conditionArms.some(arm => AXES[name].readValue(arm) !== value)) return false
    if (name === 'cpuLimitCores') return hasCap
    return ALWAYS_NAMED.includes(name) || value !== AXES[name].values[0]
  })
  const axesText = renderAxes(first, names)
  return first.load.isInterleaved ? `${axesText}, side by side without a cap` : axesText
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
    Object.entries(axes).every(([name, value]) => AXES[/** @type {AxisName} */ (name)].readValue(arm) === value)
  )
}

/**
 * Says whether two arms have the same load and axis values. It ignores axes on which the selectors differ, axes of sidecars if
 * an arm has none, and the users of a closed loop under two CPU limits, since their number follows the limit.
 * @param {{ a: SummaryArm, b: SummaryArm, numerator: Selector, denominator: Selector }} options
 * @returns {boolean}
 */
function areComparable({ a, b, numerator, denominator }) {
  const isWithoutSidecars = !a.hasSidecars || !b.hasSidecars
  const areUsersFree = a.load.kind === 'closed' && a.cpuLimitCores !== b.cpuLimitCores
  const isIgnored = (/** @type {AxisName} */ name) =>
    isComparedAxis(numerator, denominator, name) ||
    (isWithoutSidecars && AXES[name].isOfSidecars) ||
    (name === 'users' && areUsersFree)
  const names = AXIS_NAMES.filter(name => !isIgnored(name))
  return a.load.kind === b.load.kind && names.every(name => AXES[name].readValue(a) === AXES[name].readValue(b))
}

/**
 * Says whether both selectors name a value of an axis, and the values differ.
 * @param {Selector} numerator
 * @param {Selector} denominator
 * @param {AxisName} name of the axis
 * @returns {boolean}
 */
function isComparedAxis(numerator, denominator, name) {
  const [over, under] = [numerator[name], denominator[name]]
  return over !== undefined && under !== undefined && over !== under
}

/**
 * Says whether an arm has the CPU limit of a selector.
 * @param {SummaryArm} arm
 * @param {Selector} selector
 * @returns {boolean} true also: the selector names no limit
 */
function hasLimitOf(arm, { cpuLimitCores }) {
  return cpuLimitCores === undefined || arm.cpuLimitCores === cpuLimitCores
}

/**
 * Computes how complete the values of an arm or a pair are, as a rank.
 * @param {(number | null)[]} values by round; null: a spoiled round
 * @returns {0 | 0.5 | 1} 1: a value in every round; 0.5: in some rounds; 0: in none, or there are no rounds
 */
function computeCompleteness(values) {
  if (values.every(value => value === null)) return 0
  return values.includes(null) ? 0.5 : 1
}

/**
 * Chooses the item with the highest ranks, compared one after the other; of equal items the first.
 * @template T
 * @param {T[]} items at least one
 * @param {(item: T) => number[]} rank computes the ranks of an item, the most important first
 * @returns {T}
 */
function chooseBest(items, rank) {
  const sorted = items.toSorted((a, b) => {
    const [ranksOfA, ranksOfB] = [rank(a), rank(b)]
    const index = ranksOfA.findIndex((value, i) => value !== ranksOfB[i])
    return index < 0 ? 0 : ranksOfB[index] - ranksOfA[index]
  })
  return sorted[0]
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
 * Renders the published CPU limits, and those of the arms of this run: `published at a cap of 1, here 2`.
 * @param {SummaryArm[]} arms
 * @param {Selector[]} selectors of which at least one names a limit
 * @returns {string}
 */
function renderCaps(arms, ...selectors) {
  const caps = new Set(selectors.map(s => s.cpuLimitCores).filter(cap => cap !== undefined))
  const runCaps = new Set(arms.map(arm => arm.cpuLimitCores).filter(cap => cap !== null))
  return `published at a cap of ${[...caps].join(' and ')}, here ${[...runCaps].join(' and ') || 'without one'}`
}
