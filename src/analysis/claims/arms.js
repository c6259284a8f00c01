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
 * Finds two arms that are alike but for what the selectors tell apart. Of several pairs it takes one with values in every
 * round first, then one at the published cap, then the largest cap.
 * @param {PairOptions} options
 * @returns {{ pair: { a: SummaryArm, b: SummaryArm }, isAtCap: boolean } | { why: string }} isAtCap: both have the published
 *   CPU limit; why: the reason that there is no pair
 */
export function findPair({ arms, of: numerator, to, otherCaps, valuesOf }) {
  const [as, bs] = [numerator, to].map(selector => arms.filter(arm => isMeant(arm, selector)))
  if (as.length === 0 || bs.length === 0)
    return { why: `no arm here is ${renderSelector(as.length === 0 ? numerator : to)}` }
  const pairs = as
    .flatMap(a => bs.map(b => ({ a, b })))
    .filter(({ a, b }) => isAlike({ a, b, of: numerator, to }))
    .map(pair => ({ pair, isAtCap: isAtCap(pair.a, numerator) && isAtCap(pair.b, to) }))
  const hasTwoCaps = isKnownOf(numerator, to, 'cpuLimitCores')
  const allowed = pairs.filter(p => p.isAtCap || (otherCaps !== 'never' && !hasTwoCaps))
  if (allowed.length === 0) {
    const areAlike = pairs.length > 0 || hasTwoCaps
    const unlike = 'no two arms here are alike but for what the claim compares'
    return { why: areAlike ? renderCaps([...as, ...bs], numerator, to) : unlike }
  }
  return findBestItem(allowed, ({ pair: { a, b }, isAtCap }) => [
    rankCompleteness(valuesOf(a, b)),
    Number(isAtCap),
    Math.max(a.cpuLimitCores ?? 0, b.cpuLimitCores ?? 0),
  ])
}

/**
 * Finds arms that differ in one axis alone, sorted by its value (planes stay in the order of the run). Of several such series
 * it takes the one with the most arms that have values in every round, then one at the published cap, then the largest cap.
 * @param {{ arms: SummaryArm[], among: Selector, over: AxisName | 'plane', valuesOf: (arm: SummaryArm) => (number |
 *   null)[] }} options
 * @returns {{ series: SummaryArm[], isAtCap: boolean } | { why: string }} why: the reason that no arm matches
 */
export function findSeries({ arms, among, over, valuesOf }) {
  const meant = arms.filter(arm => isMeant(arm, among) && findAxisValue(arm, over) !== null)
  if (meant.length === 0) return { why: `no arm here is ${renderSelector(among)}` }
  // The default number of users of a closed loop depends on the CPU limit, so that the two vary together.
  const usersFollowLimit = over === 'cpuLimitCores' && haveUsersOfTheirLimit(meant)
  const groups = groupBy(meant, arm => {
    const names = AXIS_NAMES.filter(
      name => name !== over && !(name === 'users' && arm.load.kind === 'closed' && usersFollowLimit),
    )
    return JSON.stringify([
      over === 'plane' ? null : arm.plane,
      arm.load.kind,
      ...names.map(name => AXES[name].of(arm)),
    ])
  })
  const series = findBestItem([...groups.values()], arms => [
    arms.filter(arm => rankCompleteness(valuesOf(arm)) === 2).length,
    Number(isAtCap(arms[0], among)),
    arms[0].cpuLimitCores ?? 0,
  ])
  const sorted = series.toSorted((a, b) => (findAxisValue(a, over) < findAxisValue(b, over) ? -1 : 1))
  return { series: over === 'plane' ? series : sorted, isAtCap: isAtCap(series[0], among) }
}

/**
 * Says whether arms of the same CPU limit have the same number of users.
 * @param {SummaryArm[]} arms
 */
function haveUsersOfTheirLimit(arms) {
  const ofLimits = groupBy(arms, arm => arm.cpuLimitCores)
  return [...ofLimits.values()].every(alike => new Set(alike.map(arm => arm.load.users)).size === 1)
}

/**
 * Reads the value of an arm on an axis.
 * @param {SummaryArm} arm
 * @param {AxisName | 'plane'} over
 */
export function findAxisValue(arm, over) {
  return over === 'plane' ? arm.plane : AXES[over].of(arm)
}

/**
 * Renders the values that arms with sidecars (else all arms) share: link, rate and users, and others that are not the default.
 * @param {SummaryArm[]} arms
 * @param {{ hasCap: boolean }} options hasCap: with their CPU limit
 */
export function renderArmConditions(arms, { hasCap }) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const judged = withSidecars.length > 0 ? withSidecars : arms
  const [first] = judged
  const names = AXIS_NAMES.filter(name => {
    const value = AXES[name].of(first)
    if (value === null || judged.some(arm => AXES[name].of(arm) !== value)) return false
    if (name === 'cpuLimitCores') return hasCap
    return ALWAYS_SAID.includes(name) || value !== AXES[name].values[0]
  })
  const words = renderAxes(first, names)
  return first.load.isInterleaved ? `${words}, side by side without a cap` : words
}

/**
 * Says whether an arm, at any CPU limit and of any service, is what a selector means. A/A repeats and variants never are.
 * @param {SummaryArm} arm
 * @param {Selector} selector
 */
export function isMeant(arm, { plane, service, cpuLimitCores, ...axes }) {
  return (
    arm.repeatOf === null &&
    arm.variant === null &&
    (plane === undefined || renderContenderName({ ...arm, control: undefined }) === plane) &&
    Object.entries(axes).every(([name, value]) => AXES[/** @type {AxisName} */ (name)].of(arm) === value)
  )
}

/**
 * Says whether arms have the same load and axes. It ignores axes on which the selectors differ, axes of sidecars if an arm has
 * none, and the users of a closed loop under two CPU limits, which chose them.
 * @param {{ a: SummaryArm, b: SummaryArm, of: Selector, to: Selector }} options
 */
function isAlike({ a, b, of: numerator, to }) {
  const isBare = !a.hasSidecars || !b.hasSidecars
  const names = AXIS_NAMES.filter(
    name =>
      !isKnownOf(numerator, to, name) &&
      !(isBare && AXES[name].isOfSidecars) &&
      !(name === 'users' && a.load.kind === 'closed' && a.cpuLimitCores !== b.cpuLimitCores),
  )
  return a.load.kind === b.load.kind && names.every(name => AXES[name].of(a) === AXES[name].of(b))
}

/**
 * Says whether both selectors name a value of an axis, and not the same.
 * @param {Selector} numerator
 * @param {Selector} to
 * @param {AxisName} name
 */
function isKnownOf(numerator, to, name) {
  return numerator[name] !== undefined && to[name] !== undefined && numerator[name] !== to[name]
}

/**
 * Says whether an arm has a selector's CPU limit; any has if it names none.
 * @param {SummaryArm} arm
 * @param {Selector} selector
 */
function isAtCap(arm, { cpuLimitCores }) {
  return cpuLimitCores === undefined || arm.cpuLimitCores === cpuLimitCores
}

/**
 * Ranks an arm or pair by its values: 2 in every round, 1 in some, 0 in none.
 * @param {(number | null)[]} values
 */
function rankCompleteness(values) {
  const present = values.filter(v => v !== null).length
  return present === 0 ? 0 : present < values.length ? 1 : 2
}

/**
 * Finds the item with the highest ranks, compared in turn; of equals the first.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number[]} rank
 */
function findBestItem(items, rank) {
  return items.toSorted((x, y) => {
    const [p, q] = [rank(x), rank(y)]
    const at = p.findIndex((value, i) => value !== q[i])
    return at < 0 ? 0 : q[at] - p[at]
  })[0]
}

/**
 * Renders the plane and the conditions of a selector, without its service and its CPU limit.
 * @param {Selector} selector
 */
export function renderSelector({ plane, service, cpuLimitCores, ...axes }) {
  const conditions = Object.entries(axes).map(([name, value]) => AXES[/** @type {AxisName} */ (name)].render(value))
  return [plane ?? 'any plane', ...conditions].join(', ')
}

/**
 * Renders that the published CPU limits are not those of the arms here.
 * @param {SummaryArm[]} arms
 * @param {Selector[]} selectors
 */
function renderCaps(arms, ...selectors) {
  const caps = new Set(selectors.map(s => s.cpuLimitCores).filter(cap => cap !== undefined))
  const here = new Set(arms.map(arm => arm.cpuLimitCores).filter(cap => cap !== null))
  return `published at a cap of ${[...caps].join(' and ')}, here ${[...here].join(' and ') || 'without one'}`
}
