import { fitMemory } from '../../judge/over-sidecars.js'
import { summariseValues } from '../../lib/stats.js'
import { choiceOf } from '../../model/arms.js'
import { hasHeld, listMemoryPoints } from './numbers.js'

/**
 * How far control planes came with more and more sidecars, and what each sidecar took of their memory. Pure.
 * @import { Arm, GrowthFit, TrialRecord } from '../../model/types.ts'
 */

/**
 * @param {{ arms: Arm[], records: TrialRecord[] }} run
 * @returns {GrowthFit[]} one of each arm that grew
 */
export function fitGrowths({ arms, records }) {
  return arms.flatMap(arm => {
    const own = records.flatMap(({ trial, growth }) => (growth && trial.arm.id === arm.id ? [{ trial, growth }] : []))
    if (own.length === 0) return []
    const rounds = own.map(({ trial: { round }, growth: { sidecars, ended } }) => ({
      round,
      sidecars,
      failedAt: ended?.sidecars ?? null,
      reason: ended?.reason ?? null,
      why: ended?.why ?? null,
    }))
    return [
      {
        ...choiceOf(arm),
        armId: arm.id,
        rounds,
        memory: fitMemory(own.flatMap(({ growth }) => listMemoryPoints(growth))),
        hasControl: own[0].growth.hasControl,
        sidecarsMost: own[0].growth.sidecarsMost,
        steps: listSteps(own.map(({ growth }) => growth)),
      },
    ]
  })
}

/**
 * @param {NonNullable<TrialRecord['growth']>[]} growths of an arm
 * @returns {GrowthFit['steps']}
 */
function listSteps(growths) {
  const counts = new Set(growths.flatMap(({ steps }) => steps.filter(hasHeld).map(({ sidecars }) => sidecars)))
  return [...counts].map(sidecars => ({
    sidecars,
    seconds: summariseValues(growths.map(({ steps }) => steps.find(s => s.sidecars === sidecars)?.seconds ?? null)),
  }))
}
