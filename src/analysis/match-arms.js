import { renderNounCount } from '../lib/units.js'
import { AXES, AXIS_NAMES, renderArmName, renderAxes } from '../model/arms.js'
import { renderRequest } from '../model/requests.js'

/** The pairs of arms of two runs, and why others have no partner. Pure. */
/** @import { Arm, AxisName } from '../model/types.ts' */

/**
 * @typedef {{ arm: string, differing: string[], isInterleaved?: true }} Refusal what was not compared, and why
 * @typedef {{ old: Arm, next: Arm }} Match
 */

/**
 * A fact of an arm, or of a run. of: the value that is compared; render: the value for readers, if it differs.
 * @template Side
 * @typedef {{ label: string, of: (side: Side) => unknown, render?: (side: Side) => unknown }} Fact
 */

/** Facts that two arms must share to be compared: their place. @type {Fact<Arm>[]} */
const PLACE = [
  { label: 'load', of: ({ load: { kind } }) => (kind === 'idle' ? 'none' : `${kind} loop`) },
  ...AXIS_NAMES.filter(name => name !== 'burstSeconds').map(name => ({
    label: AXES[name].label,
    of: AXES[name].of,
    render: (/** @type {Arm} */ arm) => renderAxisValue(name, AXES[name].of(arm)),
  })),
  {
    label: 'burst',
    of: ({ load: { burst } }) =>
      burst ? `${burst.factor} times the rate for ${burst.seconds} s after ${burst.beginsSeconds} s` : 'none',
  },
  { label: 'request', of: ({ load }) => (load.ownRequest ? renderRequest(load) : "the kit's") },
  { label: 'turn', of: ({ load: { sliceMs } }) => (sliceMs === undefined ? 'none' : `${sliceMs} ms`) },
  { label: 'window', of: ({ load }) => `${load.windowSeconds} s` },
  { label: 'client', of: ({ load }) => (load.hasCertificate ? 'mTLS' : 'plaintext') },
]

/**
 * Pairs arms with the same place (PLACE) by name, and the others by plane if either side has one arm of the plane there.
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @returns {{ matches: Match[], left: { old: Arm[], next: Arm[] } }} matches: in the order of `next`; left: arms without a
 *   partner
 */
export function matchArms({ old, next }) {
  const listArmsInPlace = (/** @type {Arm[]} */ arms, /** @type {Arm} */ arm) =>
    arms.filter(other => PLACE.every(({ of: findFact }) => findFact(other) === findFact(arm)))
  const byName = next.flatMap(arm => {
    const namesake = listArmsInPlace(old, arm).find(other => renderArmName(other) === renderArmName(arm))
    return namesake ? [{ old: namesake, next: arm }] : []
  })
  const unpaired = listUnmatched({ old, next }, byName)
  const byPlane = unpaired.next.flatMap(arm => {
    const [counterpart, ...others] = listArmsInPlace(unpaired.old, arm).filter(other => other.plane === arm.plane)
    const rivals = listArmsInPlace(unpaired.next, arm).filter(other => other.plane === arm.plane)
    return counterpart && others.length === 0 && rivals.length === 1 ? [{ old: counterpart, next: arm }] : []
  })
  const matches = [...byName, ...byPlane].sort((x, y) => next.indexOf(x.next) - next.indexOf(y.next))
  return { matches, left: listUnmatched(unpaired, byPlane) }
}

/**
 * Lists the arms that are in none of the matches.
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @param {Match[]} matches
 * @returns {{ old: Arm[], next: Arm[] }}
 */
function listUnmatched({ old, next }, matches) {
  return {
    old: old.filter(arm => !matches.some(m => m.old === arm)),
    next: next.filter(arm => !matches.some(m => m.next === arm)),
  }
}

/**
 * Lists how each arm without a partner differs from the nearest arm of its plane in the other run. An old arm that is the
 * nearest one of a new arm has no refusal of its own.
 * @param {{ old: Arm[], next: Arm[] }} left
 * @param {AxisName[]} varied axes, for the names of arms
 * @returns {Refusal[]} new arms first; []: every arm has a partner
 */
export function listRefusals({ old, next }, varied) {
  const newSides = next.map(arm => ({ arm, old: findNearestArm(arm, old), next: arm }))
  const oldSides = old
    .filter(arm => !newSides.some(r => r.old === arm))
    .map(arm => ({ arm, old: arm, next: findNearestArm(arm, next) }))
  return [...newSides, ...oldSides].map(({ arm, ...sides }) => ({
    arm: renderMatchedArm({ arm, varied }),
    differing: renderDifferences(sides),
    ...(arm.load.isInterleaved && { isInterleaved: /** @type {const} */ (true) }),
  }))
}

/**
 * Finds the arm of the same plane that differs in the fewest facts; another name counts as half a fact.
 * @param {Arm} arm
 * @param {Arm[]} others
 * @returns {Arm | undefined} undefined: there is no arm of the plane
 */
function findNearestArm(arm, others) {
  const countDifferences = (/** @type {Arm} */ other) =>
    PLACE.filter(({ of: findFact }) => findFact(other) !== findFact(arm)).length +
    (renderArmName(other) === renderArmName(arm) ? 0 : 0.5)
  return others.filter(other => other.plane === arm.plane).sort((x, y) => countDifferences(x) - countDifferences(y))[0]
}

/**
 * Renders the facts in which two arms differ, else their names. Without one side it renders in which run the arm is missing.
 * @param {{ old?: Arm, next?: Arm }} sides
 * @returns {string[]}
 */
function renderDifferences({ old, next }) {
  if (!old || !next) return [`not in the ${old ? 'new' : 'old'} run`]
  const differing = PLACE.flatMap(fact => renderFact(fact, { old, next }))
  return differing.length > 0 ? differing : renderFact({ label: 'plane', of: renderArmName }, { old, next })
}

/**
 * Renders an arm as `pipy at 0.5 cores`, with both names if the partner has another, and with the values of the varied axes.
 * @param {{ arm: Arm, varied: AxisName[], partner?: Arm }} options
 * @returns {string}
 */
export function renderMatchedArm({ arm, varied, partner = arm }) {
  const names = [...new Set([renderArmName(arm), renderArmName(partner)])].join(' and ')
  const others = varied.filter(name => name !== 'cpuLimitCores' && AXES[name].of(arm) !== null)
  return [
    arm.cpuLimitCores === null ? names : `${names} at ${renderNounCount(arm.cpuLimitCores, 'core')}`,
    ...others.map(name => renderAxes(arm, [name])),
  ].join(', ')
}

/**
 * Renders a value of an axis without the label of the axis, which stands before it.
 * @param {AxisName} name
 * @param {any} value
 * @returns {string}
 */
function renderAxisValue(name, value) {
  const { label, render } = AXES[name]
  if (value === null && name === 'ratePerSecond') return 'none'
  const words = render(value)
  return words.startsWith(`${label} `) ? words.slice(label.length + 1) : words
}

/**
 * Renders a fact in which two sides differ, as `label: x in old, y in new`.
 * @template Side
 * @param {Fact<Side>} fact
 * @param {{ old: Side, next: Side }} sides
 * @returns {string[]} one line; []: both sides share the fact, or neither has it
 */
export function renderFact({ label, of: findFact, render = findFact }, { old, next }) {
  const isSame = (findFact(old) ?? 'unknown') === (findFact(next) ?? 'unknown')
  return isSame ? [] : [renderBothValues({ label, old: render(old) ?? 'unknown', next: render(next) ?? 'unknown' })]
}

/**
 * Renders a fact of two runs as `label: x in old, y in new`.
 * @param {{ label: string, old: unknown, next: unknown }} fact
 * @returns {string}
 */
export function renderBothValues({ label, old, next }) {
  return `${label}: ${old} in old, ${next} in new`
}
