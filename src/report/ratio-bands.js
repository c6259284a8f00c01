import { lowerFirstLetter } from '../lib/letters.js'
import { renderCommand } from '../lib/render-command.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'
import { findResult } from '../model/results.js'
import { DEFAULT_GENERATOR, findGenerator } from '../model/tools.js'

/** Sentences on how far a ratio carries beyond the load under which it was measured. Pure. @import { Summary } from '../model/types.ts' */
/** @typedef {NonNullable<Summary['carries']>[number]} Band */
/** @typedef {Band['measured'][number]} Measurement */

/**
 * Renders for each pair the range of its ratio over several conditions, or its only condition, and whether measurements contradict
 * each other.
 * @param {Pick<Summary, 'carries' | 'tools' | 'results'>} summary
 * @returns {string[]} sentences; [] if no interleaved ratio has an interval, or an older kit computed none
 */
export function renderRatioBands({ carries = [], ...summary }) {
  return restorePlacements(carries, summary).flatMap(band => {
    const interleaved = band.measured.filter(({ load }) => load.isInterleaved)
    return [
      ...(band.isContradicted ? [renderContradiction(band)] : []),
      ...(interleaved.length > 1 ? [renderBand(band, interleaved)] : []),
      ...(interleaved.length === 1 && !band.isContradicted ? [renderOneCondition(band, summary)] : []),
    ]
  })
}

/**
 * Adds that the generator has CPUs of its own to the interleaved loads of a run by method version 4, which pinned all of
 * them and recorded that for the run only.
 * @param {Band[]} bands
 * @param {Pick<Summary, 'results'>} summary
 * @returns {Band[]} the same bands if a load has a placement, or the run was not pinned
 */
function restorePlacements(bands, summary) {
  const isPinned = findResult(summary, 'cost')?.cpus != null
  const hasPlacement = bands.some(({ measured }) => measured.some(({ load }) => load.placement))
  if (!isPinned || hasPlacement) return bands
  const placement = /** @type {const} */ ('apart')
  return bands.map(band => ({
    ...band,
    measured: band.measured.map(measurement => {
      const { load } = measurement
      return load.isInterleaved ? { ...measurement, load: { ...load, placement } } : measurement
    }),
  }))
}

/**
 * Renders that the intervals of measurements exclude each other, with each of them.
 * @param {Band} band
 * @returns {string} two sentences
 */
function renderContradiction({ a, b, measured }) {
  const parts = measured.map(({ load, cpuLimitCores, ratio, low, high }) => {
    const interval = `${ratio.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`
    return `${interval} ${load.isInterleaved ? 'interleaved' : 'alone'} (${renderCondition({ load, cpuLimitCores })})`
  })
  return `CPU per request of ${a} over ${b} is ${parts.join(' and ')}: the intervals exclude each other, so the gap depends on load and limit. Quote each with its condition.`
}

/**
 * Renders the range of the ratio over several conditions.
 * @param {Band} band
 * @param {Measurement[]} interleaved its interleaved measurements
 * @returns {string} a sentence
 */
function renderBand({ a, b, link, conditions }, interleaved) {
  const medians = interleaved.map(({ ratio }) => ratio)
  const arms = interleaved.map(({ load, cpuLimitCores }) => ({ link, conditions, load, cpuLimitCores }))
  const variedAxes = listVariedAxes(arms)
  const range = renderGapRange(Math.min(...medians), Math.max(...medians))
  const conditionTexts = arms.map(arm => renderAxes(arm, variedAxes)).join('; ')
  return `${a} against ${b}: ${range} CPU per request over the ${interleaved.length} conditions of this run (${conditionTexts}).`
}

/**
 * Renders the only condition under which the ratio was measured, and the command that measures others.
 * @param {Band} band with one interleaved measurement
 * @param {Pick<Summary, 'tools'>} summary
 * @returns {string} two sentences
 */
function renderOneCondition({ a, b, measured }, { tools }) {
  const interleaved = /** @type {Measurement} */ (measured.find(({ load }) => load.isInterleaved))
  const condition = lowerFirstLetter(renderCondition(interleaved))
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  return `How much less or more ${a} uses than ${b} was measured at ${condition}, driven by ${generator}, on this machine. Other loads and placements move it: ${renderCommand('bench', 'conditions')} measures by how much.`
}

/**
 * Renders a range of ratios as a gap: `42 to 57 % less`, or `from 10 % less to 20 % more` on both sides of 1.
 * @param {number} low ratio
 * @param {number} high ratio
 * @returns {string}
 */
function renderGapRange(low, high) {
  const renderGap = (/** @type {number} */ ratio) => (100 * Math.abs(ratio - 1)).toFixed(0)
  if (low <= 1 && high > 1) return `from ${renderGap(low)} % less to ${renderGap(high)} % more`
  return low < 1 ? `${renderGap(high)} to ${renderGap(low)} % less` : `${renderGap(low)} to ${renderGap(high)} % more`
}

/**
 * Renders the load and CPU limit of a measurement, and of an interleaved one the placement: `32 users, a limit of 1 CPU, unpinned`.
 * @param {Pick<Measurement, 'load' | 'cpuLimitCores'>} measurement
 * @returns {string}
 */
function renderCondition({ load, cpuLimitCores }) {
  const rateOrUsers = load.kind === 'open' ? `${load.ratePerSecond} requests/s` : `${load.users} users`
  const limit =
    cpuLimitCores === null ? 'no CPU limit' : `a limit of ${cpuLimitCores} CPU${cpuLimitCores === 1 ? '' : 's'}`
  if (!load.isInterleaved) return `${rateOrUsers}, ${limit}`
  return `${rateOrUsers}, ${limit}, ${load.placement === 'apart' ? 'the generator on CPUs of its own' : 'unpinned'}`
}
