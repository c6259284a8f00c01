import { nameOf } from '../model/arms.js'
import { describeAxes, findVaried } from '../model/axes.js'

/**
 * What would run, for the terminal.
 * @import { Load, Plan } from '../model/types.ts'
 * @param {Plan & { notes: string[] }} plan
 * @param {number} seconds estimated
 */
export function renderPlan({ experiment, question, trials, rounds, arms, notes, notMeasured, seed, ...plan }, seconds) {
  const { settings, search, calibrations, claims } = plan
  const { trafficPolicy, app, relaxes } = settings
  const minutes = `about ${Math.ceil(seconds / 60)} min`
  const varied = findVaried(arms).filter(
    name => !['link', 'capCores', 'ratePerSecond', 'users', 'payloadBytes'].includes(name),
  )
  return [
    search
      ? `${experiment}: a search for the ${search.kind} from each of ${arms.length} arms, ${minutes}`
      : `${experiment}: ${trials.length} trials in ${rounds} rounds of ${arms.length} arms, ${minutes}`,
    question,
    ...notes.map(note => `note: ${note}`),
    ...notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    ...(calibrations.length > 0
      ? [`first ${calibrations.length} closed loops, to leave out rates that cannot be reached`]
      : []),
    ...arms.map(arm =>
      [
        `  ${nameOf(arm)}`,
        `cap ${arm.capCores ?? 'none'}`,
        `link ${arm.link}`,
        describeLoad(arm.load),
        describeAxes(arm, varied),
      ]
        .filter(Boolean)
        .join('  '),
    ),
    ...relaxes.map(({ gate, why }) => `set aside: ${gate}: ${why}`),
    ...(claims.length > 0 ? [`claims: ${claims.join(', ')}`] : []),
    `seed ${seed}; traffic policy ${trafficPolicy}; applications on ${app}`,
  ].join('\n')
}

/** @param {Load} load */
function describeLoad({ kind, users, ratePerSecond, payloadBytes, warmupSeconds, windowSeconds }) {
  if (kind === 'idle') return `idle for ${windowSeconds} s`
  const loop = kind === 'open' ? `open loop of ${ratePerSecond} requests/s, at most` : 'closed loop of'
  return `${loop} ${users} users, ${payloadBytes} bytes, ${warmupSeconds} s + ${windowSeconds} s`
}
