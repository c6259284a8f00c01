import { hasOwnQuantities, headingOf } from '../../answer/proxies.js'
import { GATES } from '../../judge/gates.js'
import { QUANTITIES, quantityOf } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'

/**
 * Quantities that checks excluded from all trials of an open loop, and why. Pure.
 * @import { Summary, SummaryArm, Use } from '../../model/types.ts' @import { NotMeasured } from '../../answer/picture.js'
 */

/** Lists what the experiment asks for, and no proxy has for a check. @param {Pick<Summary, 'arms' | 'shows'>} summary @returns {NotMeasured[]} */
export function listExcluded({ arms, shows }) {
  const measured = arms.filter(arm => arm.repeatOf === null && arm.trials.completed > 0)
  if (!hasOwnQuantities({ shows }) || measured.some(({ load }) => load.kind !== 'open')) return []
  const excluded = shows.quantities.flatMap(name => {
    if (measured.some(arm => quantityOf(arm, name).median !== null)) return []
    const reason = findExclusion(measured, QUANTITIES[name].use)?.reason
    return reason === undefined ? [] : [{ heading: headingOf(name), reason }]
  })
  return [...groupBy(excluded, ({ reason }) => reason)].map(([why, same]) => ({
    what: same.map(({ heading }) => heading).join(', '),
    why,
    commands: [],
  }))
}

/** Finds the check that excluded a use of the most trials; undefined: none did. @param {SummaryArm[]} arms @param {Use} use */
export function findExclusion(arms, use) {
  const excluding = arms
    .flatMap(({ spoiled }) => spoiled)
    .filter(({ gate }) => GATES.get(gate)?.spoils?.includes(use) ?? true)
  const most = excluding.toSorted((a, b) => b.trials - a.trials).at(0)
  return most && { gate: most.gate, reason: most.reason.split('\n')[0] }
}
