import { splitRounds } from '../judge/measures.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { measureRound } from '../judge/quantity.js'
import { summariseValues } from '../lib/stats.js'
import { findVaried, groupOf, isAlike } from '../model/axes.js'
import { CONTROL, CONTROL_AXES, listArms, listBaselines } from './compare-runs.js'
import { matchArms, nameMatch } from './match-arms.js'

/** The lines of a history: what each run measured of the arms of the reference. Pure. */
/** @import { Arm } from '../model/types.ts' */
/** @import { QuantityRow } from '../judge/quantities.js' */
/** @import { Line, ReadRun } from './history.js' */

const FOLLOWED = [PRIMARY, QUANTITIES.capacity, QUANTITIES.cpuCores, QUANTITIES.rss]

/** Makes a line for each quantity of each arm. @param {ReadRun[]} runs @param {ReadRun} reference @returns {Line[]} */
export function followLines(runs, reference) {
  const arms = listArms(reference)
  const varied = findVaried(arms)
  const ofArms = arms.flatMap(arm =>
    FOLLOWED.filter(row => row.compared?.kinds.includes(arm.load.kind)).map(row => ({
      label: nameMatch({ arm, varied }),
      quantity: row.name,
      group: groupOf(arm),
      isControl: false,
      arm,
      values: runs.map(run => measureRun(run, { row, arm: findArm(run, reference, { arm, list: listArms }) })),
    })),
  )
  const baselines = listBaselines(reference).filter(baseline => arms.some(arm => isAlike(baseline, arm, CONTROL_AXES)))
  const ofBaselines = baselines.map(arm => ({
    label: 'none (the applications)',
    quantity: CONTROL.name,
    isControl: true,
    arm,
    group: groupOf(/** @type {Arm} */ (arms.find(other => isAlike(arm, other, CONTROL_AXES)))),
    values: runs.map(run =>
      measureRun(run, { row: CONTROL, arm: findArm(run, reference, { arm, list: listBaselines }) }),
    ),
  }))
  return [...ofArms, ...ofBaselines]
}

/**
 * Finds a run's arm that matches one of the reference.
 * @param {ReadRun} run @param {ReadRun} reference @param {{ arm: Arm, list: (run: ReadRun) => Arm[] }} options
 */
export function findArm(run, reference, { arm, list }) {
  return matchArms({ old: list(run), next: list(reference) }).matches.find(match => match.next === arm)?.old
}

/** Leaves out rounds taken from other runs. @param {ReadRun} run @param {{ row: QuantityRow, arm?: Arm }} options */
function measureRun({ manifest, records }, { row, arm }) {
  const own = records.filter(r => r.trial.arm.id === arm?.id && r.takenFrom === undefined)
  const values = splitRounds(own, manifest.rounds).map(trials => measureRound(row, trials))
  return { ...summariseValues(values), rounds: values.filter(value => value !== null).length }
}

/** The arms of comparable runs that are in no line. @param {ReadRun[]} runs @param {ReadRun} reference */
export function countUnmatched(runs, reference) {
  const labels = runs.flatMap(run => {
    const { left } = matchArms({ old: listArms(run), next: listArms(reference) })
    return left.old.map(arm => nameMatch({ arm, varied: findVaried([...listArms(reference), arm]) }))
  })
  return [...new Set(labels)].map(arm => ({ arm, runs: labels.filter(label => label === arm).length }))
}
