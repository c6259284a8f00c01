/**
 * What would run, for the terminal.
 * @import { Plan } from '../types.ts'
 * @param {Plan & { notes: string[] }} plan
 * @param {number} seconds estimated
 */
export function renderPlan(plan, seconds) {
  const [{ load }] = plan.arms
  return [
    `${plan.experiment}: ${plan.trials.length} trials in ${plan.rounds} rounds of ${plan.arms.length} arms, about ${Math.ceil(seconds / 60)} min`,
    ...plan.notes.map(note => `note: ${note}`),
    ...plan.notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    ...plan.arms.map(
      arm =>
        `  ${arm.plane}${arm.variant ? `=${arm.variant}` : ''}  cap ${arm.capCores ?? 'none'}  link ${arm.link}  ${arm.load.users} users, ${arm.load.payloadBytes} bytes, ${arm.load.warmupSeconds} s + ${arm.load.windowSeconds} s`,
    ),
    `seed ${plan.seed}; traffic policy ${plan.settings.trafficPolicy}; applications on ${plan.settings.app}; Envoy profile ${plan.settings.envoyProfile}; closed loop of ${load.users} users`,
  ].join('\n')
}
