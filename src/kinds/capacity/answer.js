import { renderContrasts } from '../../answer/contrasts.js'
import { renderSureness } from '../../answer/noise.js'
import { renderPair } from '../../answer/pair.js'
import { renderPairs } from '../../answer/pairs.js'
import { chooseQuantities, drawProxies, hasChosenQuantities, hasPoints } from '../../answer/proxies.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { renderInterval } from '../../lib/units.js'
import { renderCpuRequests } from './cpu-requests.js'
import { renderCrossings } from './crossings.js'
import { listExcludedQuantities } from './excluded.js'
import { renderLoudPairs } from './loud.js'
import { listOpenQuestions } from './open-questions.js'

/** The answer of windows of one arm, under load or idle: the cost of a request, and the rate or latency of each proxy. Pure. */
/**
 * @import { Answered } from '../sections.js'
 * @import { Cell, Column, KindAnswer } from '../../answer/picture.js'
 */
/** @import { ResultOf, SummaryArm } from '../../model/types.ts' */

/** @typedef {Answered<ResultOf<'capacity'>>} AnsweredCapacity */

const DEFAULTS = ['cpuPerRequest', 'rss']
const DEFAULTS_OF_IDLE = ['cpuCores', 'rss']

/**
 * Creates the answer: it draws the proxies, and renders the verdicts, how sure they are, and what was not measured.
 * Beside interleaved trials of the same run, which answer the cost, it leaves the cost out.
 * @param {AnsweredCapacity} answered
 * @returns {KindAnswer | null} null: nothing was measured
 */
export function answerCapacity(answered) {
  const { result, summary, measured, isAlone } = answered
  if (measured.length === 0) return null
  const { arms, comparisons } = result
  const isIdle = arms[0].load.kind === 'idle'
  const primary = isIdle ? 'cpuCores' : 'cpuPerRequest'
  const isDefault = !hasChosenQuantities(summary)
  // Experiments with CPU requests or a loud pair are about the p99.
  const latencyVerdicts = [...renderCpuRequests(arms), ...renderLoudPairs(arms)]
  const defaults = isIdle ? DEFAULTS_OF_IDLE : latencyVerdicts.length > 0 ? ['p99'] : DEFAULTS
  return {
    pictures: isAlone
      ? drawArmsAlone(answered, defaults)
      : isDefault
        ? drawBesideCost(answered)
        : drawQuantities(answered),
    verdicts: [
      ...latencyVerdicts,
      ...(isAlone ? [...renderPairs({ comparisons, primary }), ...renderContrasts({ comparisons, primary })] : []),
      ...renderRateVerdict(result),
      ...renderCrossings(result, summary),
    ],
    ...(isAlone && renderSureness(result, { primary, repeats: 'repeat', drawn: chooseQuantities(summary, defaults) })),
    notMeasured: isIdle
      ? []
      : [
          ...(latencyVerdicts.length > 0 ? [] : listExcludedQuantities(result, summary)),
          ...listOpenQuestions({ ...summary, arms }),
        ],
  }
}

/**
 * Draws the cost and the rate or latency of each proxy, in a run without interleaved trials.
 * @param {AnsweredCapacity} answered
 * @param {string[]} defaults names of quantities, the primary one first
 * @param  defaults names of quantities, the primary one first
 * @returns {import('../../answer/picture.js').Picture[]} one; []: no arm has a value
 */
function drawArmsAlone({ result: { arms, comparisons }, summary, measured }, defaults) {
  const isIdle = arms[0].load.kind === 'idle'
  const isOfPoints = hasPoints(measured.filter(arm => arm.repeatOf === null))
  const isDefault = !hasChosenQuantities(summary)
  const quantities = chooseQuantities(summary, defaults)
  return drawProxies({
    arms,
    comparisons,
    primary: defaults[0],
    quantities: isOfPoints && isDefault && !isIdle ? [...quantities, chooseRateQuantity(measured)] : quantities,
    columns: isDefault && !isIdle ? createColumns(measured) : [],
  })
}

/**
 * Draws the rate or latency of each proxy, without the cost, which interleaved trials of the same run answer.
 * @param {AnsweredCapacity} answered
 * @returns {import('../../answer/picture.js').Picture[]} one; []: no arm has a value
 */
function drawBesideCost({ result: { arms }, measured }) {
  const isOfPoints = hasPoints(measured.filter(arm => arm.repeatOf === null))
  return isOfPoints
    ? drawProxies({ arms, comparisons: [], quantities: [chooseRateQuantity(measured)] })
    : drawProxies({ arms, comparisons: [], quantities: [], columns: createColumns(measured) })
}

/**
 * Draws the quantities that the experiment names, without those that interleaved trials of the same run answer.
 * @param {AnsweredCapacity} answered
 * @returns {import('../../answer/picture.js').Picture[]} one; []: no arm has a value
 */
function drawQuantities({ result: { arms }, summary }) {
  const quantities = chooseQuantities(summary, DEFAULTS).filter(name => !DEFAULTS.includes(name))
  return drawProxies({ arms, comparisons: [], quantities })
}

/**
 * Chooses the quantity by which arms of one load are judged: p99 in an open loop; else capacity if any arm reached
 * it, else throughput.
 * @param {SummaryArm[]} arms
 * @returns {'p99' | 'capacity' | 'throughput'}
 */
function chooseRateQuantity(arms) {
  if (arms[0].load.kind === 'open') return 'p99'
  return arms.some(arm => findQuantity(arm, 'capacity').median !== null) ? 'capacity' : 'throughput'
}

/**
 * Creates the columns of latency (open loop), or the one of capacity or rate.
 * @param {SummaryArm[]} arms that were measured
 * @returns {{ column: Column, cellOf: (arm: SummaryArm) => Cell | null }[]}
 */
function createColumns(arms) {
  const sidecars = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const [arm = arms[0]] = sidecars
  const { kind, ratePerSecond, users } = arm.load
  const limit = arm.cpuLimitCores === null ? '' : ` at ${arm.cpuLimitCores} CPU each`
  if (kind === 'open')
    return [createColumn(`p99 at ${ratePerSecond} req/s`, 'p99'), createColumn('added by the sidecars', 'addedP99')]
  const bound = sidecars.filter(arm => findQuantity(arm, 'capacity').median !== null)
  const isCapacity = bound.length > 0
  return [
    {
      column: /** @type {Column} */ ({
        heading: isCapacity ? `capacity${limit}` : `rate of ${users} users${limit}`,
        align: 'left',
      }),
      cellOf: (/** @type {SummaryArm} */ arm) => renderRate(arm, isCapacity),
    },
  ]
}

/**
 * Creates a column of medians in ms, with their intervals.
 * @param {string} heading
 * @param {string} name of the quantity
 * @returns {{ column: Column, cellOf: (arm: SummaryArm) => Cell | null }} a cell is null if the arm has no value, or
 *   no sidecar could add to it
 */
function createColumn(heading, name) {
  return {
    column: /** @type {Column} */ ({ heading }),
    cellOf: (/** @type {SummaryArm} */ arm) => {
      const { median, low, high } = findQuantity(arm, name)
      if (median === null || (name === 'addedP99' && !arm.hasSidecars)) return null
      const [value, ...ends] = [median, low, high].map(v => formatValue(QUANTITIES[name], Number(v)))
      return { text: low === null ? `${value} ms` : `${value} ms [${ends.join(', ')}]`, value: median }
    },
  }
}

/**
 * Renders a capacity or, if the sidecar did not reach its limit, the rate and the fraction of the limit that it used.
 * @param {SummaryArm} arm
 * @param {boolean} isCapacity the heading of the column is `capacity`
 * @returns {Cell | null} null: the arm has no rate
 */
function renderRate(arm, isCapacity) {
  const capacity = findQuantity(arm, 'capacity')
  const formatCapacity = (/** @type {number | null} */ value) => formatValue(QUANTITIES.capacity, Number(value))
  if (capacity.median !== null) {
    return { text: `${formatCapacity(capacity.median)} req/s${renderInterval(capacity, formatCapacity)}` }
  }
  const rate = findQuantity(arm, 'throughput').median
  if (rate === null) return null
  const share = findQuantity(arm, 'cpuOfCap').median
  const used = share === null ? '' : ` with ${formatValue(QUANTITIES.cpuOfCap, share)} of its limit used`
  const more = isCapacity && arm.hasSidecars ? 'not reached: ' : ''
  return { text: `${more}${formatCapacity(rate)} req/s${used}` }
}

/**
 * Renders the verdict on capacity or, in an open loop, on p99.
 * @param {ResultOf<'capacity'>} result
 * @returns {string[]} one sentence; []: not exactly one pair has a ratio, or its verdict is invalid
 */
function renderRateVerdict({ comparisons, arms }) {
  const name = arms[0].load.kind === 'open' ? 'p99' : 'capacity'
  const pairs = comparisons.filter(
    c => c.quantity === name && c.service === null && !c.isControl && c.contrast === null && c.ratio.median !== null,
  )
  if (pairs.length !== 1 || pairs[0].verdict === 'invalid') return []
  // Both arms of a pair have the same limit and rate.
  const [{ load, cpuLimitCores }] = pairs
  const where = name === 'p99' ? `At ${load.ratePerSecond} req/s` : `At ${cpuLimitCores} CPU each`
  const sentence = renderPair(pairs[0])
  return [`${where}: ${sentence.startsWith('No ') ? `n${sentence.slice(1)}` : sentence}`]
}
