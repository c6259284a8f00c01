import { GAP_LEAST } from '../analysis/compare.js'
import { MEASURES } from '../judge/measures.js'
import { describeAxes, findVaried, groupOf } from '../model/axes.js'

/**
 * Comparisons as sentences: what they have shown, and no more. Pure.
 * @import { Comparison, Summary } from '../model/types.ts'
 */

export const SECONDARY = 'Secondary, unadjusted'
export const CONTRASTS = 'Each plane against itself'
const CONTRASTED = [MEASURES[0].name, 'p99', 'startSeconds', 'rss']

/**
 * The verdicts on planes, in groups of one link, cap and load: the primary quantity first, the others apart, since they
 * are not adjusted for being many.
 * @param {Pick<Summary, 'arms' | 'comparisons' | 'shows'>} summary
 * @returns {{ heading: string, primary: string[], secondary: string[], noise: string }[]} heading: empty where there is
 *   one group
 */
export function tellVerdicts({ comparisons, arms, shows }) {
  const whole = comparisons.filter(c => c.service === null && c.contrast === null)
  const varied = findVaried(arms)
  const keys = [...new Set(whole.map(c => groupOf(c)))]
  const isShown = (/** @type {string} */ quantity) =>
    shows.quantities.includes(quantity) || (shows.across === null && quantity !== 'startSeconds')
  return keys.map(key => {
    const group = whole.filter(c => groupOf(c) === key)
    const pairs = group.filter(c => !c.isControl)
    const [primary, others] = [true, false].map(is => pairs.filter(c => (c.quantity === MEASURES[0].name) === is))
    return {
      heading: keys.length > 1 ? capitalise(describeAxes(group[0], varied)) : '',
      primary: primary.map(renderVerdict),
      secondary: others.filter(c => isShown(c.quantity)).map(renderVerdict),
      noise: renderNoise(group.filter(c => c.isControl)),
    }
  })
}

/**
 * What an axis changes, plane by plane.
 * @param {Pick<Summary, 'arms' | 'comparisons' | 'shows'>} summary
 * @returns {string[]}
 */
export function tellContrasts({ comparisons, arms, shows }) {
  const varied = findVaried(arms)
  return comparisons
    .filter(c => c.contrast !== null && c.service === null)
    .filter(c => CONTRASTED.includes(c.quantity) && shows.quantities.includes(c.quantity))
    .map(c => {
      const others = varied.filter(name => name !== c.contrast)
      const where = describeAxes(c, others)
      return `${renderVerdict(c)}${where ? ` (${where})` : ''}`
    })
}

/**
 * @param {Comparison} comparison
 * @returns {string} `pipy uses 48 % less CPU per request than envoy [46, 50], 6 rounds`
 */
export function renderVerdict({ a, b, quantity, service, ratio, aaSpread, verdict, reasons }) {
  const measure = MEASURES.find(m => m.name === quantity) ?? MEASURES[0]
  const { median, low, high, values } = ratio
  const rounds = values.filter(v => v !== null).length
  const whose = service === null ? '' : ` at ${service}`
  const pair = `${measure.label}${whose} of ${a} and ${b}`
  const notes = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  if (verdict === 'invalid' || median === null) return `${pair}: invalid${notes}`
  if (verdict === 'indicative') return `${pair}: ${median.toFixed(2)} : 1, indicative only${notes}`

  const gap = (/** @type {number} */ r) => 100 * Math.abs(r - 1)
  if (verdict === 'no-difference-shown' || low === null || high === null) {
    // The smallest gap that would have been called one.
    const width = low !== null && high !== null && low <= 1 && high >= 1 ? Math.max(gap(low), gap(high)) : 0
    const noise = Math.max(100 * GAP_LEAST, 100 * (aaSpread ?? 0), width)
    return `${pair}: no difference shown at this noise (±${noise.toFixed(1)} %)${notes}`
  }
  const words = (median < 1 ? measure.less : measure.more).replace('%', `${gap(median).toFixed(0)} %`)
  const ends = [gap(low), gap(high)].sort((x, y) => x - y).map(v => v.toFixed(0))
  return `${a} ${words}${whose} than ${b} [${ends.join(', ')}], ${rounds} rounds${notes}`
}

/**
 * The noise of the run: an arm against itself.
 * @param {Comparison[]} comparisons of A/A pairs, in one group
 */
export function renderNoise(comparisons) {
  const parts = comparisons.flatMap(({ quantity, ratio: { median } }) => {
    const label = MEASURES.find(m => m.name === quantity)?.label
    return median === null ? [] : [`${(100 * Math.abs(median - 1)).toFixed(1)} % in ${label}`]
  })
  return parts.length > 0 ? `A/A: ${comparisons[0].a} differed from itself by ${parts.join(', ')}.` : ''
}

/** @param {string} words */
function capitalise(words) {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
