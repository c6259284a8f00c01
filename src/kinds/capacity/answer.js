import { renderContrasts } from '../../answer/contrasts.js'
import { renderSureness } from '../../answer/noise.js'
import { renderPair } from '../../answer/pair.js'
import { renderPairs } from '../../answer/pairs.js'
import { chooseQuantities, drawProxies, hasAxisPoints, hasChosenQuantities } from '../../answer/proxies.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { lowerFirstLetter } from '../../lib/letters.js'
import { renderInterval } from '../../lib/units.js'
import { renderP99Doublings } from './cpu-requests.js'
import { renderCrossings } from './crossings.js'
import { listExcludedQuantities } from './excluded.js'
import { renderLoudPairs } from './loud.js'
import { listOpenQuestions } from './open-questions.js'

/** The answer of windows of one arm, under load or idle: the cost of a request, and the rate or latency of each proxy. Pure. */
/**
 * @import { Answered } from '../sections.js'
 * @import { Cell, Column, KindAnswer, Picture } from '../../answer/picture.js'
 * @import { ArmColumn } from '../../answer/proxies.js'
 */
/** @import { ResultOf, SummaryArm } from '../../model/types.ts' */

/** @typedef {Answered<ResultOf<'capacity'>>} AnsweredCapacity */

const DEFAULT_QUANTITIES = ['cpuPerRequest', 'rss']
const DEFAULT_QUANTITIES_OF_IDLE = ['cpuCores', 'rss']

/**
 * Creates the answer: it draws the proxies, and renders the verdicts, how sure they are, and what was not measured.
 * Beside interleaved trials of the same run, which answer the cost, it leaves out the cost and how sure its verdicts are.
 * @param {AnsweredCapacity} answered
 * @returns {KindAnswer | null} null: nothing was measured
 */
export function answerCapacity(answered) {
  const { result, summary, measured, isAlone } = answered
  if (measured.length === 0) return null
  const { arms, comparisons } = result
  const isIdle = arms[0].load.kind === 'idle'
  const primary = isIdle ? 'cpuCores' : 'cpuPerRequest'
  const latencyVerdicts = [...renderP99Doublings(arms), ...renderLoudPairs(arms)]
  const isAboutLatency = latencyVerdicts.length > 0
  const defaults = chooseDefaultQuantities({ isIdle, isAboutLatency })
  return {
    pictures: drawPictures(answered, defaults),
    verdicts: [
      ...latencyVerdicts,
      ...(isAlone ? [...renderPairs({ comparisons, primary }), ...renderContrasts({ comparisons, primary })] : []),
      ...renderRateVerdict(result),
      ...renderCrossings(result, summary),
    ],
    ...(isAlone && renderSureness(result, { primary, repeats: 'repeat', drawn: chooseQuantities(summary, defaults) })),
    notMeasured: [
      ...(isAboutLatency ? [] : listExcludedQuantities(result, summary)),
      ...listOpenQuestions({ ...summary, arms }),
    ],
  }
}

/**
 * Chooses the quantities that are drawn if the experiment names none. Experiments with CPU requests or a loud pair are
 * about the p99.
 * @param {{ isIdle: boolean, isAboutLatency: boolean }} options isAboutLatency: a verdict on CPU requests beside a neighbour, or
 *   on a loud pair, was rendered
 * @returns {string[]} names, the primary one first
 */
function chooseDefaultQuantities({ isIdle, isAboutLatency }) {
  if (isIdle) return DEFAULT_QUANTITIES_OF_IDLE
  return isAboutLatency ? ['p99'] : DEFAULT_QUANTITIES
}

/**
 * Draws the arms; in a run that also has interleaved trials, without the cost, which those answer.
 * @param {AnsweredCapacity} answered
 * @param {string[]} defaults names of quantities, the primary one first
 * @returns {Picture[]} one; []: no arm has a value
 */
function drawPictures(answered, defaults) {
  if (answered.isAlone) return drawArmsAlone(answered, defaults)
  return hasChosenQuantities(answered.summary) ? drawChosenBesideCost(answered) : drawRateBesideCost(answered)
}

/**
 * Draws the cost and the rate or latency of each proxy, in a run without interleaved trials; if the experiment names quantities, or
 * arms are idle, only the chosen quantities.
 * @param {AnsweredCapacity} answered
 * @param {string[]} defaults names of quantities, the primary one first
 * @returns {Picture[]} one; []: no arm has a value
 */
function drawArmsAlone({ result: { arms, comparisons }, summary, measured }, defaults) {
  const hasRate = !hasChosenQuantities(summary) && arms[0].load.kind !== 'idle'
  const isOfPoints = hasAxisPoints(measured.filter(arm => arm.repeatOf === null))
  const quantities = chooseQuantities(summary, defaults)
  return drawProxies({
    arms,
    comparisons,
    primary: defaults[0],
    quantities: hasRate && isOfPoints ? [...quantities, chooseRateQuantity(measured)] : quantities,
    columns: hasRate ? createRateColumns(measured) : [],
  })
}

/**
 * Draws the rate or latency of each proxy. The cost is left out: interleaved trials of the same run show it.
 * @param {AnsweredCapacity} answered
 * @returns {Picture[]} one; []: no arm has a value
 */
function drawRateBesideCost({ result: { arms }, measured }) {
  const isOfPoints = hasAxisPoints(measured.filter(arm => arm.repeatOf === null))
  return isOfPoints
    ? drawProxies({ arms, comparisons: [], quantities: [chooseRateQuantity(measured)] })
    : drawProxies({ arms, comparisons: [], quantities: [], columns: createRateColumns(measured) })
}

/**
 * Draws the quantities that the experiment names, without DEFAULT_QUANTITIES, which interleaved trials of the same run answer.
 * @param {AnsweredCapacity} answered
 * @returns {Picture[]} one; []: no arm has a value
 */
function drawChosenBesideCost({ result: { arms }, summary }) {
  const quantities = chooseQuantities(summary, DEFAULT_QUANTITIES).filter(name => !DEFAULT_QUANTITIES.includes(name))
  return drawProxies({ arms, comparisons: [], quantities })
}

/**
 * Chooses the quantity by which arms of one load are judged: p99 in an open loop; else capacity if any arm reached
 * it, else throughput.
 * @param {SummaryArm[]} arms at least one
 * @returns {'p99' | 'capacity' | 'throughput'}
 */
function chooseRateQuantity(arms) {
  if (arms[0].load.kind === 'open') return 'p99'
  return arms.some(arm => findQuantity(arm, 'capacity').median !== null) ? 'capacity' : 'throughput'
}

/**
 * Creates the columns of latency in an open loop; else the column of capacity, or of the throughput if no arm reached its capacity.
 * @param {SummaryArm[]} arms that were measured, at least one; the first with sidecars gives the heading
 * @returns {ArmColumn[]} a cell is null if the arm has no value
 */
function createRateColumns(arms) {
  const withSidecars = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const [{ load, cpuLimitCores } = arms[0]] = withSidecars
  const { kind, ratePerSecond, users } = load
  const limit = cpuLimitCores === null ? '' : ` at ${cpuLimitCores} CPU each`
  if (kind === 'open')
    return [
      createLatencyColumn(`p99 at ${ratePerSecond} req/s`, 'p99'),
      createLatencyColumn('added by the sidecars', 'addedP99'),
    ]
  const isCapacity = withSidecars.some(arm => findQuantity(arm, 'capacity').median !== null)
  return [
    {
      column: /** @type {Column} */ ({
        heading: isCapacity ? `capacity${limit}` : `not capacity: ${users} users${limit}`,
        align: 'left',
      }),
      drawCell: (/** @type {SummaryArm} */ arm) => drawRateCell(arm, isCapacity),
    },
  ]
}

/**
 * Creates a column of medians in ms, with their intervals.
 * @param {string} heading
 * @param {string} name of the quantity
 * @returns {ArmColumn} a cell is null if the arm has no value, or no sidecars that could add to its p99 (`addedP99`)
 */
function createLatencyColumn(heading, name) {
  return {
    column: /** @type {Column} */ ({ heading }),
    drawCell: (/** @type {SummaryArm} */ arm) => {
      const { median, ...ends } = findQuantity(arm, name)
      if (median === null || (name === 'addedP99' && !arm.hasSidecars)) return null
      const format = (/** @type {number} */ ms) => formatValue(QUANTITIES[name], ms)
      return { text: `${format(median)} ms${renderInterval(ends, format)}`, value: median }
    },
  }
}

/**
 * Draws the capacity or, if the arm has none, its rate and, if it is known, the fraction of the CPU limit that its sidecar used.
 * @param {SummaryArm} arm
 * @param {boolean} isCapacity the heading of the column is `capacity`
 * @returns {Cell | null} null: the arm has no rate
 */
function drawRateCell(arm, isCapacity) {
  const capacity = findQuantity(arm, 'capacity')
  const formatCapacity = (/** @type {number | null} */ value) => formatValue(QUANTITIES.capacity, Number(value))
  if (capacity.median !== null) {
    return { text: `${formatCapacity(capacity.median)} req/s${renderInterval(capacity, formatCapacity)}` }
  }
  const rate = findQuantity(arm, 'throughput').median
  if (rate === null) return null
  const share = findQuantity(arm, 'cpuOfCap').median
  const used = share === null ? '' : `, ${formatValue(QUANTITIES.cpuOfCap, share)} of its limit`
  const lead = isCapacity && arm.hasSidecars ? 'not reached: ' : ''
  return { text: `${lead}${formatCapacity(rate)} req/s${used}` }
}

/**
 * Renders the verdict of a run's only pair on capacity or, in an open loop, on p99, with its limit or rate.
 * @param {ResultOf<'capacity'>} result
 * @returns {string[]} one sentence; []: not exactly one pair has a ratio, or its verdict is invalid
 */
function renderRateVerdict({ comparisons, arms }) {
  const name = arms[0].load.kind === 'open' ? 'p99' : 'capacity'
  const planePairs = comparisons.filter(c => c.service === null && !c.isControl && c.contrast === null)
  const pairs = planePairs.filter(({ quantity, ratio }) => quantity === name && ratio.median !== null)
  if (pairs.length !== 1 || pairs[0].verdict === 'invalid') return []
  // Both arms of a pair have the same limit and rate.
  const [{ load, cpuLimitCores }] = pairs
  const condition = name === 'p99' ? `At ${load.ratePerSecond} req/s` : `At ${cpuLimitCores} CPU each`
  const sentence = renderPair(pairs[0])
  return [`${condition}: ${sentence.startsWith('No ') ? lowerFirstLetter(sentence) : sentence}`]
}
