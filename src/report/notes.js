import { findQuantity } from '../judge/quantities.js'
import { listResults } from '../kinds/sections.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { ROUNDS_LEAST } from '../lib/stats.js'
import { renderNounCount, renderPercent } from '../lib/units.js'
import { listVariedAxes, renderArmName, renderAxes } from '../model/arms.js'
import { renderRequest } from '../model/requests.js'
import { listArms } from '../model/results.js'
import { DEFAULT_GENERATOR, findGenerator } from '../model/tools.js'
import { renderCheckTimes, renderTrafficPolicy } from '../parity/verdict/rows.js'
import { renderRatioConditions } from './conditions.js'

/**
 * The lines below the table. Pure.
 * @import { RenderedResult } from '../kinds/sections.js'
 * @import { Precision, Summary, SummaryArm, ThresholdResult } from '../model/types.ts'
 */

const COST = 'µs/req is CPU time per verified request: of all sidecars, then of each.'

/**
 * Renders how the numbers were measured, and what limits them, without the gates (`renderFiredGates`). An idle run
 * has only one note.
 * @param {Summary} summary with arms
 * @returns {string[]} sentences
 */
export function renderNotes(summary) {
  const { relaxes, parity, tools, precision, deployed = [] } = summary
  const arms = listArms(summary)
  if (arms[0].load.kind === 'idle') return ['No load: CPU and memory of sidecars that nobody calls, after one request.']
  const notes = [
    ...renderPrecision({ precision }),
    ...renderRatioConditions(summary),
    ...listResults(summary).flatMap((result, place) => renderResultNotes(result, { summary, place })),
  ]
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  if (generator !== DEFAULT_GENERATOR)
    notes.push(`${generator} made the load: its runs are compared with each other only.`)
  if (arms.some(a => a.load.connections === 'new'))
    notes.push('Connections are new for every request: response times include connecting and the handshake.')
  if (arms.some(a => a.link === 'ratings') && !arms.some(a => a.load.hasCertificate))
    notes.push('The link ratings carries no mTLS: the client speaks plaintext to the only sidecar.')
  notes.push(...renderTrafficPolicy({ parity }), ...renderCheckTimes({ parity }))
  for (const { plane, from } of deployed) notes.push(`${plane} is as deployed: ${from}.`)
  if (summary.machine.lacksMemoryController)
    notes.push('Memory is from /proc, process by process: the memory controller of cgroups is off in this kernel.')
  for (const { gate, why } of relaxes) notes.push(`The experiment sets aside ${gate}: ${why}`)
  return notes
}

/**
 * Renders the notes on one result: what its medians, times and capacity are, and are not.
 * @param {RenderedResult} rendered
 * @param {{ summary: Pick<Summary, 'precision' | 'shows'>, place: number }} run place: index of the result
 * @returns {string[]} sentences; []: it has no values
 */
function renderResultNotes({ result: { arms }, heading }, { summary: { precision, shows }, place }) {
  const [{ load }] = arms
  const names = ['throughput', 'cpuPerRequest', ...shows.quantities]
  const quantities = arms.flatMap(a => names.map(name => findQuantity(a, name)))
  const rounds = Math.max(...quantities.map(q => q.values.filter(v => v !== null).length))
  // Nothing was measured, so there are no notes.
  if (rounds === 0) return []
  const interval =
    rounds >= (precision ? SEQUENCE_LEAST : ROUNDS_LEAST) ? ' with [95 % interval]' : ', too few for an interval'
  const isEchoed = arms.every(a => a.load.requests === undefined && a.load.ownRequest === undefined)
  const bodies = arms.map(a => (isEchoed ? a.load.payloadBytes : renderRequest(a.load)))
  const sizes = `${[...new Set(bodies)].join(' or ')}${isEchoed ? ' bytes posted and echoed' : ''}`
  const unit = load.isInterleaved ? 'interleaved repeats' : 'repeats'
  const start = heading === undefined ? 'M' : `${heading}: m`
  return [
    `${start}edians of up to ${rounds} ${unit}${interval}; ${sizes}.${place === 0 ? ` ${COST}` : ''}`,
    renderMeaningOfTimes(arms),
    ...(load.kind === 'closed' ? [renderCapacityNote(arms)] : []),
  ]
}

/**
 * Renders how to read the rate or the times of a load.
 * @param {SummaryArm[]} arms of one kind
 * @returns {string} a sentence
 */
function renderMeaningOfTimes(arms) {
  const [{ load }] = arms
  const users = [...new Set(arms.map(a => a.load.users))].join(' or ')
  if (load.kind === 'interleaved') return 'req/s is the rate of a proxy in its own turns: no capacity.'
  if (load.kind === 'open')
    return `Open loop: requests start at the rate, at most ${users} at a time. Added latency is over no mesh, round by round.${arms.some(a => a.load.loudPerSecond) ? ' Beside a loud pair, p50 to p99 are of the others.' : ''}`
  return `p50 to p99 are response times of ${users} users at saturation, not latencies: they follow from req/s.`
}

/** Renders which arms of a closed loop reached their capacity. @param {SummaryArm[]} arms @returns {string} a sentence */
function renderCapacityNote(arms) {
  const bound = arms.filter(a => a.repeatOf === null && findQuantity(a, 'capacity').median !== null).map(renderArmName)
  const why = arms.some(a => a.boundBy === 'sidecar') ? 'No capacity was shown' : 'No sidecar was the limit'
  return bound.length > 0
    ? `req/s is the capacity at this CPU limit where the sidecar was the limit (${[...new Set(bound)].join(', ')}), elsewhere throughput.`
    : `${why}: req/s is throughput, not capacity.`
}

/**
 * Renders in which points planes differ from the mesh's deployment from which they are taken.
 * @param {Pick<Summary, 'deployed'>} summary
 * @returns {string[]} sentences; []: in none
 */
export function renderDeviations({ deployed = [] }) {
  return deployed.flatMap(({ plane, deviations }) =>
    deviations.map(deviation => `${plane}, otherwise than deployed: ${deviation}.`),
  )
}

/**
 * Renders each threshold with the median ratio: met, not met, or excluded.
 * @param {Pick<Summary, 'thresholds'>} summary
 * @returns {string[]} []: the run has none
 */
export function renderThresholds({ thresholds }) {
  return thresholds.map(({ expression, link, cpuLimitCores, value, held }) => {
    const arm = `${link}${cpuLimitCores ? `, ${renderNounCount(cpuLimitCores, 'core')}` : ''}`
    return renderThreshold({ expression, arm, value, held })
  })
}

/**
 * Renders a threshold with the median ratio that it bounds, and whether that meets it.
 * @param {Pick<ThresholdResult, 'expression' | 'value' | 'held'> & { arm: string }} threshold held: null: the
 *   quantity was excluded
 * @returns {string}
 */
export function renderThreshold({ expression, arm, value, held }) {
  const result = held === null ? 'not tested: excluded' : `${held ? 'met' : 'NOT met'}: ${value?.toFixed(3)}`
  return `Threshold ${expression} (${arm}): ${result}`
}

/**
 * Summarises how close a run is to its precision, by the pair with the widest interval: of those that are not precise
 * yet (too wide, or with too many spoiled rounds), else of all.
 * @param {Precision} precision
 * @returns {{ isReached: boolean, hasPairs: boolean, roundsMore: number | null, sentence: string }} hasPairs: false:
 *   no pair is left to compare; roundsMore: the most that a pair still needs, null: unknown, or no pair is left;
 *   sentence: begins with `after 12 rounds: `
 */
export function summarisePrecision({ width: widthLimit, rounds, isReached, pairs }) {
  const after = `after ${renderNounCount(rounds, 'round')}`
  if (pairs.length === 0)
    return { isReached, hasPairs: false, roundsMore: null, sentence: `${after}: no pair is left to compare` }
  const more = pairs.map(pair => pair.roundsMore)
  const roundsMore = more.includes(null) ? null : Math.max(...more.map(Number))
  const open = pairs.filter(pair => !pair.isNarrow)
  const among = open.length > 0 ? open : pairs
  const [widest] = among.toSorted((x, y) => (y.width ?? Infinity) - (x.width ?? Infinity))
  const place = renderAxes(widest, listVariedAxes(pairs))
  const spoiled = widest.width !== null && widest.width <= widthLimit && !widest.isNarrow
  const is =
    widest.width === null
      ? 'has no interval yet'
      : `is ${renderPercent(widest.width, 1)} wide${spoiled ? ', and more than one round in ten was spoiled' : ''}`
  const others = pairs.length > 1 ? `, the widest of ${pairs.length}` : ''
  const sentence =
    `${after}: CPU per request of ${widest.a} and ${widest.b}${place ? ` (${place})` : ''} ${is}${others}; ` +
    (isReached
      ? `at most ${renderPercent(widthLimit, 1)} was asked for`
      : roundsMore === null
        ? `what ${renderPercent(widthLimit, 1)} takes is not known`
        : `for ${renderPercent(widthLimit, 1)} it needs about ${renderNounCount(roundsMore, 'more round')}`)
  return { isReached, hasPairs: true, roundsMore, sentence }
}

/**
 * Renders why a run with a precision to reach ended, and what that means for its intervals.
 * @param {{ precision?: Precision }} summary
 * @returns {string[]} sentences; []: the number of rounds was fixed
 */
function renderPrecision({ precision }) {
  if (!precision) return []
  const { rounds, mostRounds, ended } = precision
  const { sentence } = summarisePrecision(precision)
  const late = rounds >= mostRounds ? `The ${mostRounds} rounds of its plan` : 'The time'
  const words = {
    reached: 'The precision was reached',
    'no-pair': 'This run ended early, and the precision was NOT reached',
    time: `${late} ended this run, and the precision was NOT reached`,
  }
  const why = ended ? words[ended] : 'This run was cut short'
  return [
    `${why}: ${sentence}.`,
    'Each interval of a ratio or a quantity holds at 95 % whenever the run ends, and not all of them at once: they are confidence sequences of the median, wider than those of a fixed number of rounds.',
  ]
}
