import { hasChosenQuantities, renderQuantityHeading } from '../../answer/proxies.js'
import { GATES } from '../../judge/gates.js'
import { findQuantity, QUANTITIES } from '../../judge/quantities.js'
import { P99_REQUESTS } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'

/**
 * Quantities that arms of an open loop lack, and why: gates excluded them from trials, or a window has too few requests. Pure.
 * @import { Result, Summary, SummaryArm, Use } from '../../model/types.ts'
 * @import { NotMeasured } from '../../answer/picture.js'
 */

/**
 * Lists the quantities that the experiment names, and that no proxy has because of a gate. Those with the same reason
 * are joined.
 * @param {Pick<Result, 'arms'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {NotMeasured[]} without commands; []: there are none, the experiment names no quantities of its own, or a load is no
 *   open loop
 */
export function listExcludedQuantities({ arms }, { shows }) {
  const measured = arms
    .filter(arm => arm.repeatOf === null && arm.trials.completed > 0)
    // A trial that failed does not explain why those that completed have no value.
    .map(arm => ({ ...arm, spoiled: arm.spoiled.filter(({ gate }) => gate !== 'failed') }))
  if (!hasChosenQuantities({ shows }) || measured.some(({ load }) => load.kind !== 'open')) return []
  const excluded = shows.quantities.flatMap(name => {
    const { use } = QUANTITIES[name]
    const isMissingByGate = measured.every(arm => findQuantity(arm, name).median === null && isExcluded(arm, use))
    const reason = isMissingByGate ? findExclusion(measured, use)?.reason : undefined
    return reason === undefined ? [] : [{ heading: renderQuantityHeading(name), reason }]
  })
  return [...groupBy(excluded, ({ reason }) => reason)].map(([why, quantities]) => ({
    what: quantities.map(({ heading }) => heading).join(', '),
    why,
    commands: [],
  }))
}

/**
 * Renders the arms without a p99, by reason: the gate that excluded it, or too few requests in the window.
 * @param {SummaryArm[]} arms without a p99
 * @param {(arms: SummaryArm[]) => string} renderPlace renders the arms of one reason, such as `at 250m`
 * @returns {string[]} clauses, such as `no p99 at 250m: …`; []: there are no arms
 */
export function renderMissingP99s(arms, renderPlace) {
  const armsByGate = groupBy(arms, arm => findExclusion([arm], 'latency')?.gate)
  return [...armsByGate.values()].map(group => {
    const reason = findExclusion([group[0]], 'latency')?.reason ?? renderTooFewRequests(group[0])
    return `no p99 ${renderPlace(group)}: ${reason}`
  })
}

/**
 * Renders how many requests a window has, and how many a p99 needs; if there are enough, that no p99 was measured. Without a rate, the
 * window counts as having 0.
 * @param {SummaryArm} arm without a p99, though no gate excluded it
 * @returns {string} a clause
 */
function renderTooFewRequests({ load: { ratePerSecond = 0, windowSeconds } }) {
  const due = Math.round(ratePerSecond * windowSeconds)
  if (due >= P99_REQUESTS) return 'none was measured'
  return `${due} requests in a window, and a p99 takes ${P99_REQUESTS} (--rate ${Math.ceil(P99_REQUESTS / windowSeconds)}, or --profile full)`
}

/**
 * Says whether one gate excluded all completed trials from a use.
 * @param {SummaryArm} arm
 * @param {Use} use
 */
function isExcluded({ spoiled, trials }, use) {
  return spoiled.some(({ gate, trials: count }) => isSpoiling(gate, use) && count >= trials.completed)
}

/**
 * Says whether a gate spoils a use.
 * @param {string} gate its name
 * @param {Use} use
 * @returns {boolean} true also: this version has no such gate
 */
function isSpoiling(gate, use) {
  return GATES.get(gate)?.spoils.includes(use) ?? true
}

/**
 * Finds the gate that excluded the most trials of one of the arms from a use.
 * @param {SummaryArm[]} arms
 * @param {Use} use
 * @returns {{ gate: string, reason: string } | undefined} reason: its first line; undefined: no gate excluded any
 */
export function findExclusion(arms, use) {
  const excluding = arms.flatMap(({ spoiled }) => spoiled).filter(({ gate }) => isSpoiling(gate, use))
  const largest = excluding.toSorted((a, b) => b.trials - a.trials).at(0)
  return largest && { gate: largest.gate, reason: largest.reason.split('\n')[0] }
}
