import { groupBy } from '../lib/group-by.js'
import { renderArmName } from '../model/arms.js'

/**
 * Arms that a plan loses once it runs: they fail, or cannot reach their rate. Pure.
 * @import { Arm, Calibration, Plan } from '../model/types.ts'
 * @import { Missing } from '../request/question.js'
 */

/**
 * Removes failed arms from a plan, with their A/A repeats and trials and the calibrations that no other arm needs, and adds the
 * reasons to notMeasured.
 * @param {Plan} plan
 * @param {{ arms: Arm[], reason: string }[]} failures the arms that failed for each reason
 * @returns {Plan} a new plan; notMeasured names an arm by its id, or by its plane if none of that plane is left, each once with its
 *   first reason
 */
export function removeFailedArms(plan, failures) {
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
  const firstMissing = [...groupBy(missing, ({ plane }) => plane).values()].map(([first]) => first)
  return {
    ...plan,
    ...pickServing(plan),
    parts: plan.parts.map(part => ({ ...part, ...pickServing(part) })),
    notMeasured: [...plan.notMeasured, ...firstMissing],
  }
}

/**
 * Splits arms by whether their rate is above a share of the measured capacity. An arm without a rate can always be measured; without
 * a calibration, its capacity counts as 0.
 * @param {{ plan: Pick<Plan, 'arms' | 'mostOfCapacity'>, calibrations: Calibration[] }} options plan: its
 *   mostOfCapacity is a fraction, null: 1
 * @returns {{ arms: Arm[], notMeasured: Missing[] }} arms: those whose rate can be reached; notMeasured: the others but A/A repeats,
 *   with the reason; []: all can
 */
export function splitUnreachableArms({ plan, calibrations }) {
  const share = plan.mostOfCapacity ?? 1
  const judged = plan.arms.map(arm => {
    const calibration = calibrations.find(({ armId }) => armId === arm.calibratedBy)
    const capacity = calibration?.ratePerSecond ?? 0
    const { ratePerSecond = 0 } = arm.load
    return { arm, isReachable: ratePerSecond <= share * capacity, capacity, boundBy: calibration?.boundBy ?? null }
  })
  const unreachable = judged.filter(({ arm, isReachable }) => !isReachable && arm.repeatOf === null)
  return {
    arms: judged.flatMap(({ arm, isReachable }) => (isReachable ? [arm] : [])),
    notMeasured: unreachable.map(({ arm, capacity, boundBy }) => ({
      plane: renderArmAtRate(arm),
      reason:
        capacity > 0
          ? `not reachable here: over ${Math.round(100 * share)} % of the ${Math.round(capacity)} requests/s that it reached, bound by ${boundBy}`
          : 'not reachable here: it answered nothing in a closed loop',
    })),
  }
}

/**
 * Renders the name of an arm with its rate and, beyond one, its number of services.
 * @param {Arm} arm with a rate
 * @returns {string}
 */
function renderArmAtRate({ load, ...arm }) {
  const { services } = arm.conditions
  return `${renderArmName(arm)}${services > 1 ? ` with ${services} services` : ''} at ${load.ratePerSecond} requests/s`
}
