import { KINDS } from '../kinds/registry.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { groupBy } from '../lib/group-by.js'
import { wrapText } from '../lib/text-table.js'
import { renderMinutes, renderPercent } from '../lib/units.js'
import { AXES, listVariedAxes, renderArmName, renderAxes, renderVaried } from '../model/arms.js'
import { REQUEST_AXES } from '../model/requests.js'
import { renderNotMeasuredPlanes } from './missing.js'

/**
 * Renders the plan of a run for the terminal. Pure.
 * @import { Arm, AxisName, Plan } from '../model/types.ts'
 */

/** Axes whose values are printed once if all arms share them. @type {AxisName[]} */
const SHARED = [
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
 * Renders the trials, arms and conditions of a plan, and how long it takes.
 * @param {Plan & { notes: string[] }} plan
 * @param {number} seconds estimated
 * @param {number | null} [mostSeconds] on a busy machine; null: it was not estimated
 * @returns {string} lines of at most 100 columns
 */
export function renderPlan(plan, seconds, mostSeconds = null) {
  const { experiment, question, trials, rounds, arms, notes, notMeasured, seed } = plan
  const { parts, settings, calibrations, claims, precision } = plan
  const words = KINDS[parts[0].kind].summarisePlan?.(plan)
  const minutes = renderMinutes(seconds, mostSeconds)
  const leastMinutes = Math.ceil((seconds * SEQUENCE_LEAST) / (60 * rounds))
  const workload =
    words?.planned ??
    (precision
      ? `${SEQUENCE_LEAST} to ${rounds} rounds of ${arms.length} arms, at most ${trials.length} trials`
      : `${trials.length} trials, ${rounds} rounds of ${arms.length} arms`)
  const hasCalls = settings.app === 'pipy' && arms.some(arm => arm.conditions.protocol === 'grpc')
  const lines = [
    `${experiment}: ${workload}, ${minutes}`,
    question,
    ...(precision
      ? [
          `Rounds go on until the interval of CPU per request is at most ${renderPercent(precision.width, 1)} wide for every pair, or ${precision.maxMinutes} min are over: at least about ${leastMinutes} min.`,
        ]
      : []),
    ...notes.map(note => `Note: ${note}`),
    ...renderNotMeasuredPlanes(notMeasured),
    ...(calibrations.length > 0
      ? [`Before them: ${calibrations.length} closed loops, to leave out rates that no plane reaches.`]
      : []),
    ...[...groupBy(arms, arm => arm.load.isInterleaved).values()].flatMap(loadArms => renderArms(loadArms, words)),
    ...settings.relaxes.map(({ gate, why }) => `The experiment sets aside ${gate}: ${why}`),
    ...(claims.length > 0 ? [`Tests the published claims of: ${claims.join(', ')}`] : []),
    `Seed ${seed}; traffic policy ${settings.trafficPolicy}; applications served by ${settings.app}${hasCalls ? ', those of gRPC by node' : ''}.`,
  ]
  return lines.flatMap(line => wrapText(line, /^ */.exec(line)?.[0], '  ')).join('\n')
}

/**
 * Renders the shared conditions of arms, then a line for each combination of the others.
 * @param {Arm[]} arms of one kind
 * @param {{ loop?: string, chooses?: AxisName[] }} [words] loop: the name of the load; chooses: axes whose values the
 *   trials find
 * @returns {string[]} lines
 */
function renderArms(arms, { loop, chooses = [] } = {}) {
  const varied = listVariedAxes(arms)
  const title = arms[0].load.isInterleaved ? 'Interleaved arms' : 'Arms'
  // Arms that differ only in their plane share a line.
  const groups = [...groupBy(arms, arm => renderVaried(arm, varied))]
  const lines = groups.map(
    ([values, armsOfLine]) => `  ${values ? `${values}: ` : ''}${armsOfLine.map(renderArmName).join(', ')}`,
  )
  return [`${title}, each ${renderSharedConditions(arms, { varied: [...varied, ...chooses], loop })}:`, ...lines]
}

/**
 * Renders the conditions that all arms share, as those of the first arm with a plane. A warm-up that differs is a
 * range. Idle arms share only their window.
 * @param {Arm[]} arms of one kind
 * @param {{ varied: AxisName[], loop?: string }} options varied: axes that are left out; loop: the name of the load
 *   instead of its kind and rate
 * @returns {string}
 */
function renderSharedConditions(arms, { varied, loop: loopName }) {
  const arm = arms.find(({ plane }) => plane !== 'none') ?? arms[0]
  const { kind, ratePerSecond, sliceMs, windowSeconds } = arm.load
  if (kind === 'idle') return `idle for ${windowSeconds} s`
  const rate = kind === 'open' && !varied.includes('ratePerSecond') ? ` of ${ratePerSecond} requests/s` : ''
  const shared = renderAxes(
    arm,
    SHARED.filter(name => !varied.includes(name) && !(AXES[name].isUnsaidWhenNull && AXES[name].of(arm) === null)),
  )
  const loop = loopName ?? `${kind} loop${rate}`
  // A small CPU request beside a neighbour takes a longer warm-up.
  const warmups = arms.map(({ load }) => Number(load.warmupSeconds.toFixed(2)))
  const warmup = [...new Set([Math.min(...warmups), Math.max(...warmups)])].join(' to ')
  if (kind === 'interleaved')
    return `in turns of ${sliceMs} ms, ${arm.load.placement === 'apart' ? 'pinned' : 'unpinned'}, ${shared}, ${warmup} s warm-up and ${windowSeconds} s window`
  return `${loop}, ${shared}, ${warmup} s warm-up and ${windowSeconds} s window`
}
