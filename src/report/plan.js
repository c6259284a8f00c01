import { KINDS } from '../kinds/registry.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { groupBy } from '../lib/group-by.js'
import { wrapText } from '../lib/text-table.js'
import { renderMinutes, renderPercent } from '../lib/units.js'
import { AXES, listVariedAxes, renderArmName, renderAxes, renderVariedAxes } from '../model/arms.js'
import { REQUEST_AXES } from '../model/requests.js'
import { renderNotMeasuredPlanes } from './missing.js'

/**
 * Renders the plan of a run for the terminal. Pure.
 * @import { Arm, AxisName, Plan } from '../model/types.ts'
 */

/** Axes whose values are printed once if all arms share them. @type {AxisName[]} */
const SHARED_AXES = [
  'link',
  'interception',
  'cpuLimitCores',
  'users',
  'neighbourCores',
  'payloadBytes',
  'traffic',
  ...REQUEST_AXES,
]

/**
 * Renders the trials, arms and conditions of a plan, and how long it takes. A line that is wrapped is indented.
 * @param {Plan & { notes: string[] }} plan
 * @param {number} seconds estimated
 * @param {number | null} [mostSeconds] on a busy machine; null: it was not estimated
 * @returns {string} lines of at most 100 columns, unless a word is longer; without a line end at its end
 */
export function renderPlan(plan, seconds, mostSeconds = null) {
  const { experiment, question, arms, notes, notMeasured, calibrations, claims, settings } = plan
  // Only a search renders its own plan, and it is always the only part.
  const kindWords = KINDS[plan.parts[0].kind].summarisePlan?.(plan)
  const workload = kindWords?.planned ?? renderPlanSize(plan)
  const armGroups = [...groupBy(arms, arm => arm.load.isInterleaved).values()]
  const hasNodeGrpcApps = settings.app === 'pipy' && arms.some(arm => arm.conditions.protocol === 'grpc')
  const lines = [
    `${experiment}: ${workload}, ${renderMinutes(seconds, mostSeconds)}`,
    question,
    ...renderPrecisionGoal(plan, seconds),
    ...notes.map(note => `Note: ${note}`),
    ...renderNotMeasuredPlanes(notMeasured),
    ...(calibrations.length > 0
      ? [`Before them: ${calibrations.length} closed loops, to leave out rates that no plane reaches.`]
      : []),
    ...armGroups.flatMap(group => renderArms(group, kindWords)),
    ...settings.relaxes.map(({ gate, why }) => `The experiment sets aside ${gate}: ${why}`),
    ...(claims.length > 0 ? [`Tests the published claims of: ${claims.join(', ')}`] : []),
    `Seed ${plan.seed}; traffic policy ${settings.trafficPolicy}; applications served by ${settings.app}${hasNodeGrpcApps ? ', those of gRPC by node' : ''}.`,
  ]
  return lines.flatMap(line => wrapText(line, /^ */.exec(line)?.[0], '  ')).join('\n')
}

/** Renders how many trials, rounds and arms a plan has. @param {Plan} plan @returns {string} */
function renderPlanSize({ trials, rounds, arms, precision }) {
  return precision
    ? `${SEQUENCE_LEAST} to ${rounds} rounds of ${arms.length} arms, at most ${trials.length} trials`
    : `${trials.length} trials, ${rounds} rounds of ${arms.length} arms`
}

/**
 * Renders when the rounds of a run with a precision to reach end.
 * @param {Plan} plan
 * @param {number} seconds estimated for all rounds
 * @returns {string[]} one sentence; [] without a precision
 */
function renderPrecisionGoal({ precision, rounds }, seconds) {
  if (!precision) return []
  const width = renderPercent(precision.width, 1)
  const leastMinutes = Math.ceil((seconds * SEQUENCE_LEAST) / (60 * rounds))
  return [
    `Rounds go on until the interval of CPU per request is at most ${width} wide for every pair, or ${precision.maxMinutes} min are over: at least about ${leastMinutes} min.`,
  ]
}

/**
 * Renders the conditions that arms share, then a line for each combination of the others with the planes that have it.
 * @param {Arm[]} arms all interleaved, or none of them
 * @param {{ loop?: string, chooses?: AxisName[] }} [words] loop: the name of the load; chooses: axes whose values the
 *   trials find
 * @returns {string[]} lines
 */
function renderArms(arms, { loop, chooses = [] } = {}) {
  const variedAxes = listVariedAxes(arms)
  const title = arms[0].load.isInterleaved ? 'Interleaved arms' : 'Arms'
  const groups = [...groupBy(arms, arm => renderVariedAxes(arm, variedAxes))]
  const lines = groups.map(([values, group]) => {
    const planes = group.map(renderArmName).join(', ')
    return `  ${values ? `${values}: ` : ''}${planes}`
  })
  const conditions = renderSharedConditions(arms, { leftOutAxes: [...variedAxes, ...chooses], loop })
  return [`${title}, each ${conditions}:`, ...lines]
}

/**
 * Renders the conditions that all arms share, as those of the first arm that is not `none`. A warm-up that differs is a
 * range. Idle arms share only their window.
 * @param {Arm[]} arms all interleaved, or none of them
 * @param {{ leftOutAxes: AxisName[], loop?: string }} options loop: the name of the load instead of its kind and rate
 * @returns {string}
 */
function renderSharedConditions(arms, { leftOutAxes, loop }) {
  const arm = arms.find(({ plane }) => plane !== 'none') ?? arms[0]
  const { kind, ratePerSecond, sliceMs, windowSeconds, placement } = arm.load
  if (kind === 'idle') return `idle for ${windowSeconds} s`
  const isUnsaid = (/** @type {AxisName} */ name) => AXES[name].isUnsaidWhenNull && AXES[name].readValue(arm) === null
  const names = SHARED_AXES.filter(name => !leftOutAxes.includes(name) && !isUnsaid(name))
  const axesText = renderAxes(arm, names)
  // A small CPU request beside a neighbour takes a longer warm-up.
  const warmups = arms.map(({ load }) => Number(load.warmupSeconds.toFixed(2)))
  const warmup = [...new Set([Math.min(...warmups), Math.max(...warmups)])].join(' to ')
  const times = `${warmup} s warm-up and ${windowSeconds} s window`
  if (kind === 'interleaved')
    return `in turns of ${sliceMs} ms, ${placement === 'apart' ? 'pinned' : 'unpinned'}, ${axesText}, ${times}`
  const rate = kind === 'open' && !leftOutAxes.includes('ratePerSecond') ? ` of ${ratePerSecond} requests/s` : ''
  return `${loop ?? `${kind} loop${rate}`}, ${axesText}, ${times}`
}
