import { hasChosenQuantities, renderHeading } from '../../answer/proxies.js'
import { GATES } from '../../judge/gates.js'
import { findQuantity, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'

/**
 * Quantities that gates excluded from all trials of an open loop, and why. Pure.
 * @import { Result, Summary, SummaryArm, Use } from '../../model/types.ts'
 * @import { NotMeasured } from '../../answer/picture.js'
 */

/**
 * Lists the quantities that the experiment names, and that no proxy has because of a gate. Those with the same reason
 * are joined.
 * @param {Pick<Result, 'arms'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {NotMeasured[]} without commands; []: there are none, the experiment names no quantities, or a load is no
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
    if (measured.some(arm => findQuantity(arm, name).median !== null || !isExcluded(arm, use))) return []
    const reason = findExclusion(measured, use)?.reason
    return reason === undefined ? [] : [{ heading: renderHeading(name), reason }]
  })
  return [...groupBy(excluded, ({ reason }) => reason)].map(([why, quantities]) => ({
    what: quantities.map(({ heading }) => heading).join(', '),
    why,
    commands: [],
  }))
}

/**
 * Says whether one gate excluded a use of all completed trials.
 * @param {SummaryArm} arm
 * @param {Use} use
 */
function isExcluded({ spoiled, trials }, use) {
  return spoiled.some(({ gate, trials: count }) => isSpoiling(gate, use) && count >= trials.completed)
}

/**
 * Says whether a gate spoils a use. True: also for an unknown gate, and one without a list, which spoils all uses.
 * @param {string} gate its name
 * @param {Use} use
 */
const isSpoiling = (gate, use) => GATES.get(gate)?.spoils?.includes(use) ?? true

/**
 * Finds the gate that excluded a use from most trials of one of the arms.
 * @param {SummaryArm[]} arms
 * @param {Use} use
 * @returns {{ gate: string, reason: string } | undefined} reason: its first line; undefined: no gate excluded it
 */
export function findExclusion(arms, use) {
  const excluding = arms.flatMap(({ spoiled }) => spoiled).filter(({ gate }) => isSpoiling(gate, use))
  const largest = excluding.toSorted((a, b) => b.trials - a.trials).at(0)
  return largest && { gate: largest.gate, reason: largest.reason.split('\n')[0] }
}
