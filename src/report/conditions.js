import { lowerFirstLetter } from '../lib/letters.js'
import { renderCommand } from '../lib/render-command.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'
import { findResult } from '../model/results.js'
import { DEFAULT_GENERATOR, findGenerator } from '../model/tools.js'

/** Sentences on how far a ratio carries. Pure. @import { Summary } from '../model/types.ts' */
/** @typedef {NonNullable<Summary['carries']>[number]} Band */

/**
 * Renders the range of each pair's ratio over several conditions, its only condition, or that measurements contradict
 * each other.
 * @param {Pick<Summary, 'carries' | 'tools' | 'results'>} summary
 * @returns {string[]} sentences; []: no interleaved ratio has an interval, or an older kit computed none
 */
export function renderRatioConditions({ carries = [], ...summary }) {
  // Method version 4 pinned all interleaved arms, and recorded that for the run, not for each load.
  const hasCpus = findResult(summary, 'cost')?.cpus != null
  const isPinned = hasCpus && carries.every(({ measured }) => measured.every(m => !m.load.placement))
  const pin = (/** @type {Band} */ { measured, ...band }) => ({
    ...band,
    measured: measured.map(({ load, ...rest }) => ({
      ...rest,
      load: isPinned && load.isInterleaved ? { ...load, placement: /** @type {const} */ ('apart') } : load,
    })),
  })
  return carries.map(pin).flatMap(band => {
    const interleaved = band.measured.filter(({ load }) => load.isInterleaved)
    return [
      ...(band.isContradicted ? [renderContradiction(band)] : []),
      ...(interleaved.length > 1 ? [renderBand(band, interleaved)] : []),
      ...(interleaved.length === 1 && !band.isContradicted ? [renderOneCondition(band, summary)] : []),
    ]
  })
}

/**
 * Renders that the intervals of two measurements exclude each other, with both.
 * @param {Band} band
 * @returns {string}
 */
function renderContradiction({ a, b, measured }) {
  const parts = measured.map(
    ({ load, cpuLimitCores, ratio, low, high }) =>
      `${ratio.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] ${load.isInterleaved ? 'interleaved' : 'alone'} (${renderBandLoad({ load, cpuLimitCores })})`,
  )
  return `CPU per request of ${a} over ${b} is ${parts.join(' and ')}: the intervals exclude each other, so the gap depends on load and limit. Quote each with its condition.`
}

/**
 * Renders the range of the ratio over several conditions.
 * @param {Band} band
 * @param {Band['measured']} interleaved its interleaved measurements
 * @returns {string}
 */
function renderBand({ a, b, link, conditions }, interleaved) {
  const medians = interleaved.map(({ ratio }) => ratio)
  const arms = interleaved.map(({ load, cpuLimitCores }) => ({ link, conditions, load, cpuLimitCores }))
  const varied = listVariedAxes(arms)
  const where = interleaved.map((_, i) => renderAxes(arms[i], varied)).join('; ')
  return `${a} against ${b}: ${renderGapRange(Math.min(...medians), Math.max(...medians))} CPU per request over the ${interleaved.length} conditions of this run (${where}).`
}

/**
 * Renders the only condition under which the ratio was measured.
 * @param {Band} band
 * @param {Pick<Summary, 'tools'>} summary
 * @returns {string}
 */
function renderOneCondition({ a, b, measured }, { tools }) {
  const condition = /** @type {Band['measured'][number]} */ (measured.find(({ load }) => load.isInterleaved))
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  return `How much less or more ${a} uses than ${b} was measured at ${lowerFirstLetter(renderBandLoad(condition))}, driven by ${generator}, on this machine. Other loads and placements move it: ${renderCommand('bench', 'conditions')} measures by how much.`
}

/**
 * Renders a range of ratios as a gap: `42 to 57 % less`.
 * @param {number} low ratio
 * @param {number} high ratio
 * @returns {string}
 */
function renderGapRange(low, high) {
  const computePercentApart = (/** @type {number} */ ratio) => 100 * (ratio - 1)
  const render = (/** @type {number} */ ratio) => `${Math.abs(computePercentApart(ratio)).toFixed(0)} %`
  if (low <= 1 && high > 1) return `from ${render(low)} less to ${render(high)} more`
  const [least, most] = low < 1 ? [high, low] : [low, high]
  return `${Math.abs(computePercentApart(least)).toFixed(0)} to ${render(most)} ${low < 1 ? 'less' : 'more'}`
}

/**
 * Renders the load and CPU limit of a measurement: `32 users, a limit of 1 CPU, unpinned`.
 * @param {Pick<Band['measured'][number], 'load' | 'cpuLimitCores'>} condition
 * @returns {string}
 */
function renderBandLoad({ load, cpuLimitCores }) {
  const amount = load.kind === 'open' ? `${load.ratePerSecond} requests/s` : `${load.users} users`
  const limit =
    cpuLimitCores === null ? 'no CPU limit' : `a limit of ${cpuLimitCores} CPU${cpuLimitCores === 1 ? '' : 's'}`
  const placement = !load.isInterleaved
    ? ''
    : load.placement === 'apart'
      ? ', the generator on CPUs of its own'
      : ', unpinned'
  return `${amount}, ${limit}${placement}`
}
