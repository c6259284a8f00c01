import { ratePerSecond } from '../judge/measures.js'
import { BenchError } from '../lib/errors.js'
import { leaveOutUnreachable } from '../plan/arms.js'

/**
 * @import { Calibration, Plan } from '../model/types.ts'
 * @import { RunOne } from './run.js'
 */

/**
 * Finds what each plane reaches in a closed loop, once, and leaves out the rates too near to it.
 * @param {{ plan: Plan, run: RunOne, signal: AbortSignal }} options
 * @returns {Promise<{ plan: Plan, calibrations: Calibration[] }>} the plan without the rates that cannot be reached
 * @throws {BenchError} when no rate can be reached
 */
export async function calibrate({ plan, run, signal }) {
  /** @type {Calibration[]} */
  const calibrations = []
  if (plan.calibrations.length === 0 || plan.mostOfCapacity === null) return { plan, calibrations }
  for (const arm of plan.calibrations) {
    signal.throwIfAborted()
    const trial = { id: `r1-${arm.id}`, round: 1, arm, repeats: null, searchOf: null }
    const record = await run({ trial, progress: 'finding the capacity' })
    const { boundBy } = record
    calibrations.push({ armId: arm.id, ratePerSecond: ratePerSecond(record), boundBy, trialId: trial.id })
  }
  const { arms, notMeasured } = leaveOutUnreachable({ plan, calibrations })
  if (arms.length === 0) throw new BenchError('no rate can be reached here: ask for lower ones with --rate')
  const trials = plan.trials.filter(t => arms.some(arm => arm.id === t.arm.id))
  return { plan: { ...plan, arms, trials, notMeasured: [...plan.notMeasured, ...notMeasured] }, calibrations }
}
