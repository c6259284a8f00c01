import { nameOf } from '../model/arms.js'

/** Which rates can be reached, by what each plane reached in a closed loop. Pure. */
/** @import { Arm, Calibration, Plan } from '../model/types.ts' */

/**
 * Keeps the arms whose rate is at most a share of the capacity found, and says why the others are left out.
 * @param {{ plan: Pick<Plan, 'arms' | 'mostOfCapacity'>, calibrations: Calibration[] }} options
 */
export function leaveOutUnreachable({ plan, calibrations }) {
  const share = plan.mostOfCapacity ?? 1
  const judged = plan.arms.map(arm => {
    const found = calibrations.find(c => c.armId === arm.calibratedBy)
    const { ratePerSecond: rate = 0 } = arm.load
    const capacity = found?.ratePerSecond ?? 0
    return { arm, isReachable: rate <= share * capacity, capacity, boundBy: found?.boundBy ?? null }
  })
  return {
    arms: judged.filter(j => j.isReachable).map(j => j.arm),
    notMeasured: judged
      .filter(j => !j.isReachable && j.arm.repeatOf === null)
      .map(({ arm, capacity, boundBy }) => ({
        plane: `${nameOf(arm)}${arm.conditions.services > 1 ? ` with ${arm.conditions.services} services` : ''} at ${arm.load.ratePerSecond} requests/s`,
        reason:
          capacity > 0
            ? `not reachable here: over ${Math.round(100 * share)} % of the ${Math.round(capacity)} requests/s that it reached, bound by ${boundBy}`
            : 'not reachable here: it answered nothing in a closed loop',
      })),
  }
}
