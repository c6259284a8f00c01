import { groupBy } from '../lib/group-by.js'
import { renderArmName } from '../model/arms.js'

/** Arms that a plan loses once it runs. Pure. @import { Arm, Plan } from '../model/types.ts' */

/**
 * Removes failed arms from a plan, with their A/A repeats, calibrations and trials, and adds the reasons to
 * notMeasured.
 * @param {Plan} plan
 * @param {{ arms: Arm[], reason: string }[]} failures
 * @returns {Plan} a new plan; notMeasured names an arm by its id, or by its plane if none of that plane is left
 */
export function leaveOutFailed(plan, failures) {
  const failed = new Set(failures.flatMap(({ arms }) => arms.map(({ id }) => id)))
  const isServing = (/** @type {Arm} */ { id, repeatOf }) => !failed.has(repeatOf ?? id)
  const arms = plan.arms.filter(isServing)
  const calibrated = new Set(arms.map(({ calibratedBy }) => calibratedBy))
  const pickServing = (/** @type {Pick<Plan, 'arms' | 'calibrations' | 'trials'>} */ planOrPart) => ({
    arms: planOrPart.arms.filter(isServing),
    calibrations: planOrPart.calibrations.filter(({ id }) => calibrated.has(id)),
    trials: planOrPart.trials.filter(({ arm }) => isServing(arm)),
  })
  const serving = new Set(arms.map(renderArmName))
  const missing = failures.flatMap(({ arms, reason }) =>
    // The reasons of a plane's arms differ only in the paths of logs, so that the first stands for all.
    arms.map(arm => ({ plane: serving.has(renderArmName(arm)) ? arm.id : renderArmName(arm), reason })),
  )
  return {
    ...plan,
    ...pickServing(plan),
    parts: plan.parts.map(planOrPart => ({ ...planOrPart, ...pickServing(planOrPart) })),
    notMeasured: [...plan.notMeasured, ...[...groupBy(missing, ({ plane }) => plane).values()].map(([first]) => first)],
  }
}
