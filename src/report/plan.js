import { nameOf } from '../arms.js'

/**
 * What would run, for the terminal.
 * @import { Load, Plan } from '../types.ts'
 * @param {Plan & { notes: string[] }} plan
 * @param {number} seconds estimated
 */
export function renderPlan({ experiment, trials, rounds, arms, notes, notMeasured, seed, settings }, seconds) {
  const { trafficPolicy, app, envoyProfile, relaxes } = settings
  return [
    `${experiment}: ${trials.length} trials in ${rounds} rounds of ${arms.length} arms, about ${Math.ceil(seconds / 60)} min`,
    ...notes.map(note => `note: ${note}`),
    ...notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    ...arms.map(arm => `  ${nameOf(arm)}  cap ${arm.capCores ?? 'none'}  link ${arm.link}  ${describeLoad(arm.load)}`),
    ...relaxes.map(({ gate, why }) => `set aside: ${gate}: ${why}`),
    `seed ${seed}; traffic policy ${trafficPolicy}; applications on ${app}; Envoy profile ${envoyProfile}`,
  ].join('\n')
}

/** @param {Load} load */
function describeLoad({ kind, users, ratePerSecond, payloadBytes, warmupSeconds, windowSeconds }) {
  const loop = kind === 'open' ? `open loop of ${ratePerSecond} requests/s, at most` : 'closed loop of'
  return `${loop} ${users} users, ${payloadBytes} bytes, ${warmupSeconds} s + ${windowSeconds} s`
}
