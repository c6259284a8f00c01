import { renderNounCount } from '../lib/units.js'
import { AXES, AXIS_NAMES, renderArmName, renderAxes } from '../model/arms.js'
import { renderRequest } from '../model/requests.js'

/** Pairs the arms of two runs, and renders why others have no partner. Pure. */
/** @import { Arm, AxisName } from '../model/types.ts' */

/**
 * @typedef {{ arm: string, differing: string[], isInterleaved?: true }} Refusal an arm that was not compared, and why
 * @typedef {{ old: Arm, next: Arm }} Match
 */

/**
 * A fact of an arm, or of a run.
 * @template Side
 * @typedef {object} Fact
 * @property {string} label
 * @property {(side: Side) => unknown} read reads the value that is compared
 * @property {(side: Side) => unknown} [render] renders the value for readers; absent: they get the compared one
 */

/** Two arms must share these facts to be compared. @type {Fact<Arm>[]} */
const REQUIRED_FACTS = [
  { label: 'load', read: ({ load: { kind } }) => (kind === 'idle' ? 'none' : `${kind} loop`) },
  ...AXIS_NAMES.filter(name => name !== 'burstSeconds').map(name => ({
    label: AXES[name].label,
    read: AXES[name].readValue,
    render: (/** @type {Arm} */ arm) => renderAxisValue(name, AXES[name].readValue(arm)),
  })),
  {
    label: 'burst',
    read: ({ load: { burst } }) =>
      burst ? `${burst.factor} times the rate for ${burst.seconds} s after ${burst.beginsSeconds} s` : 'none',
  },
  { label: 'request', read: ({ load }) => (load.ownRequest ? renderRequest(load) : "the kit's") },
  { label: 'turn', read: ({ load: { sliceMs } }) => (sliceMs === undefined ? 'none' : `${sliceMs} ms`) },
  { label: 'window', read: ({ load }) => `${load.windowSeconds} s` },
  { label: 'client', read: ({ load }) => (load.hasCertificate ? 'mTLS' : 'plaintext') },
]

/**
 * Pairs arms that share REQUIRED_FACTS: first by name, then by plane, if each side has only one arm of the plane left with them.
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @returns {{ matches: Match[], unmatched: { old: Arm[], next: Arm[] } }} matches: in the order of `next`; unmatched: arms
 *   without a partner
 */
export function matchArms({ old, next }) {
  const byName = next.flatMap(arm => {
    const namesake = old.find(other => shareRequiredFacts(other, arm) && renderArmName(other) === renderArmName(arm))
    return namesake ? [{ old: namesake, next: arm }] : []
  })
  const withoutNamesake = listUnmatched({ old, next }, byName)
  const byPlane = withoutNamesake.next.flatMap(arm => {
    const isCounterpart = (/** @type {Arm} */ other) => shareRequiredFacts(other, arm) && other.plane === arm.plane
    const counterparts = withoutNamesake.old.filter(isCounterpart)
    const rivals = withoutNamesake.next.filter(isCounterpart)
    return counterparts.length === 1 && rivals.length === 1 ? [{ old: counterparts[0], next: arm }] : []
  })
  const matches = [...byName, ...byPlane].sort((x, y) => next.indexOf(x.next) - next.indexOf(y.next))
  return { matches, unmatched: listUnmatched(withoutNamesake, byPlane) }
}

/**
 * Says whether two arms share all of REQUIRED_FACTS.
 * @param {Arm} a
 * @param {Arm} b
 */
function shareRequiredFacts(a, b) {
  return REQUIRED_FACTS.every(({ read }) => read(a) === read(b))
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
 * @param {{ old: Arm[], next: Arm[] }} unmatched
 * @param {AxisName[]} variedAxes for the names of arms
 * @returns {Refusal[]} new arms first; []: every arm has a partner
 */
export function listRefusals({ old, next }, variedAxes) {
  const newSides = next.map(arm => ({ arm, old: findNearestArm(arm, old), next: arm }))
  const oldSides = old
    .filter(arm => !newSides.some(sides => sides.old === arm))
    .map(arm => ({ arm, old: arm, next: findNearestArm(arm, next) }))
  return [...newSides, ...oldSides].map(({ arm, ...sides }) => ({
    arm: renderMatchedArm({ arm, variedAxes }),
    differing: renderDifferences(sides),
    ...(arm.load.isInterleaved && { isInterleaved: /** @type {const} */ (true) }),
  }))
}

/**
 * Finds the arm of the same plane that differs in the fewest of REQUIRED_FACTS; of equal ones the first. Another name counts as half
 * a fact.
 * @param {Arm} arm
 * @param {Arm[]} others
 * @returns {Arm | undefined} undefined: there is no arm of the plane
 */
function findNearestArm(arm, others) {
  const countDifferences = (/** @type {Arm} */ other) => {
    const isRenamed = renderArmName(other) !== renderArmName(arm)
    return REQUIRED_FACTS.filter(({ read }) => read(other) !== read(arm)).length + (isRenamed ? 0.5 : 0)
  }
  return others.filter(other => other.plane === arm.plane).sort((x, y) => countDifferences(x) - countDifferences(y))[0]
}

/**
 * Renders the facts in which two arms differ, else their names. If one side is missing, it renders which run lacks the arm.
 * @param {{ old?: Arm, next?: Arm }} sides
 * @returns {string[]} a line for each fact; []: the arms differ in none, nor by name
 */
function renderDifferences({ old, next }) {
  if (!old || !next) return [`not in the ${old ? 'new' : 'old'} run`]
  const differences = REQUIRED_FACTS.flatMap(fact => renderFactDifference(fact, { old, next }))
  if (differences.length > 0) return differences
  return renderFactDifference({ label: 'plane', read: renderArmName }, { old, next })
}

/**
 * Renders an arm as `pipy at 0.5 cores`, with both names if the partner has another. Its values on the varied axes follow; an axis on
 * which it has none is left out.
 * @param {{ arm: Arm, variedAxes: AxisName[], partner?: Arm }} options
 * @returns {string}
 */
export function renderMatchedArm({ arm, variedAxes, partner = arm }) {
  const names = [...new Set([renderArmName(arm), renderArmName(partner)])].join(' and ')
  const otherAxes = variedAxes.filter(name => name !== 'cpuLimitCores' && AXES[name].readValue(arm) !== null)
  return [
    arm.cpuLimitCores === null ? names : `${names} at ${renderNounCount(arm.cpuLimitCores, 'core')}`,
    ...otherAxes.map(name => renderAxes(arm, [name])),
  ].join(', ')
}

/**
 * Renders a value of an axis without the label of the axis, which stands before it.
 * @param {AxisName} name
 * @param {any} value null: the arm has none
 * @returns {string}
 */
function renderAxisValue(name, value) {
  const { label, render } = AXES[name]
  if (value === null && name === 'ratePerSecond') return 'none'
  const words = render(value)
  return words.startsWith(`${label} `) ? words.slice(label.length + 1) : words
}

/**
 * Renders a fact in which two sides differ, as `label: x in old, y in new`. A value that one side lacks is `unknown`.
 * @template Side
 * @param {Fact<Side>} fact
 * @param {{ old: Side, next: Side }} sides
 * @returns {string[]} one line; []: both sides share the fact, or neither has it
 */
export function renderFactDifference({ label, read, render = read }, { old, next }) {
  const isSame = (read(old) ?? 'unknown') === (read(next) ?? 'unknown')
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
