import { findNoise, renderReason } from '../answer/pair.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { renderPercent } from '../lib/units.js'
import { createGroupKey, listVariedAxes, renderAxes } from '../model/arms.js'
import { listArms, listComparisons } from '../model/results.js'

/**
 * Every comparison of a run as a sentence. Pure.
 * @import { Comparison, Result, Shows, Summary } from '../model/types.ts'
 */
/** @import { Block } from './section.js' */

const SECONDARY = 'Secondary, not adjusted for multiple comparisons'
/** The heading of the contrasts. */
export const CONTRASTS = 'Each plane against itself'

/**
 * Creates the blocks of the verdicts on planes, in groups of one link, CPU limit and load. The primary quantity comes
 * first.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Shows} shows
 * @returns {Block[]}
 */
export function createVerdictBlocks(result, shows) {
  return groupVerdicts(result, shows).flatMap(createGroupBlocks)
}

/**
 * Creates the blocks of one group.
 * @param {{ heading?: string, primary: string[], secondary: string[], noise?: string }} group its sentences
 * @returns {Block[]} without sentences, a block is empty
 */
export function createGroupBlocks({ heading = '', primary, secondary, noise = '' }) {
  return [
    .../** @type {Block[]} */ (heading ? [{ type: 'heading', text: heading }] : []),
    { type: 'sentences', tone: 'strong', lines: primary },
    { type: 'list', heading: SECONDARY, lines: secondary },
    { type: 'sentences', tone: 'muted', lines: noise ? [noise] : [] },
  ]
}

/**
 * Renders the verdicts over all sidecars, group by group, without contrasts.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Shows} shows
 * @returns {{ heading: string, primary: string[], secondary: string[], noise: string }[]} heading, noise: may be
 *   empty
 */
function groupVerdicts({ comparisons, arms }, shows) {
  const whole = comparisons.filter(c => c.service === null && c.contrast === null)
  const varied = listVariedAxes(arms)
  const groups = [...groupBy(whole, c => createGroupKey(c)).values()]
  // Without an axis across, every quantity is listed but those that an experiment must name.
  const isListed = (/** @type {string} */ quantity) =>
    shows.quantities.includes(quantity) || (shows.across === null && !findComparedWords(quantity)?.isOnRequest)
  return groups.map(group => {
    const pairs = group.filter(c => !c.isControl)
    const primary = pairs.filter(c => c.quantity === PRIMARY.name)
    const others = pairs.filter(c => c.quantity !== PRIMARY.name)
    const secondary = others.filter(c => isListed(c.quantity))
    return {
      heading: groups.length > 1 ? capitalise(renderAxes(group[0], varied)) : '',
      primary: primary.map(renderVerdict),
      secondary: renderSecondary(secondary, primary),
      noise: renderNoiseOfGroup(group.filter(c => c.isControl)),
    }
  })
}

/**
 * Renders the secondary comparisons. Those that lack a verdict for the same reason share a line.
 * @param {Comparison[]} comparisons
 * @param {Comparison[]} primary whose reasons were printed before
 * @returns {string[]} sentences
 */
function renderSecondary(comparisons, primary) {
  const createVerdictKey = (/** @type {Comparison} */ c) => JSON.stringify([c.a, c.b, c.verdict, c.reasons])
  const primaryKeys = new Set(primary.map(createVerdictKey))
  const groups = groupBy(comparisons, c => (hasVerdict(c) ? c : createVerdictKey(c)))
  return [...groups].flatMap(([key, group]) => {
    const isReasonKnown = primaryKeys.has(`${key}`)
    if (hasVerdict(group[0]) || (group.length === 1 && !isReasonKnown)) return group.map(renderVerdict)
    return [renderWithoutVerdict(group, isReasonKnown)]
  })
}

/**
 * Says whether a comparison has a verdict.
 * @param {Comparison} comparison
 */
const hasVerdict = ({ verdict }) => verdict !== 'invalid' && verdict !== 'indicative'

/**
 * Renders quantities of one pair that lack a verdict for the same reason.
 * @param {Comparison[]} group of one pair and reason
 * @param {boolean} isReasonKnown the reason was printed before
 * @returns {string} a sentence
 */
function renderWithoutVerdict(group, isReasonKnown) {
  const [{ a, b, verdict, reasons }] = group
  const names = group.map(({ quantity, ratio: { median } }) => {
    const label = findComparedWords(quantity)?.label
    return verdict === 'indicative' && median !== null ? `${label} ${median.toFixed(2)} : 1` : label
  })
  const because = renderReasons(reasons)
  const why = isReasonKnown ? ' for the same reason' : because
  return `${names.join(', ')} of ${a} and ${b}: ${verdict === 'invalid' ? 'no verdict' : 'no interval yet'}${why}`
}

/**
 * Renders the effect of each contrast's axis on each plane, in the headline quantities that the experiment shows.
 * @param {Pick<Summary, 'results' | 'shows'>} summary
 * @returns {string[]} sentences; []: it has no contrasts
 */
export function renderContrastVerdicts({ results, shows }) {
  const varied = listVariedAxes(listArms({ results }))
  const verdicts = listComparisons({ results })
    .filter(c => c.contrast !== null && c.service === null)
    .filter(c => findComparedWords(c.quantity)?.isHeadline && shows.quantities.includes(c.quantity))
  const renderOtherAxes = (/** @type {Comparison} */ c) => {
    const others = varied.filter(name => name !== c.contrast)
    return renderAxes(c, others)
  }
  const createVerdictKey = (/** @type {Comparison} */ c) =>
    JSON.stringify([c.quantity, c.b, renderOtherAxes(c), c.reasons])
  const groups = groupBy(verdicts, c => (c.verdict === 'indicative' ? createVerdictKey(c) : c))
  return [...groups.values()].map(group => {
    const conditions = renderOtherAxes(group[0])
    const sentence = group.length === 1 ? renderVerdict(group[0]) : renderIndicativeRatios(group)
    return `${sentence}${conditions ? ` (${conditions})` : ''}`
  })
}

/**
 * Renders several arms against one baseline, all without an interval for the same reason.
 * @param {Comparison[]} comparisons
 * @returns {string} a sentence
 */
function renderIndicativeRatios(comparisons) {
  const [{ quantity, b, reasons }] = comparisons
  const renderMedian = (/** @type {number | null} */ median) =>
    median === null ? 'unknown' : `${median.toFixed(2)} : 1`
  const ratios = comparisons.map(({ a, ratio }) => `${a} ${renderMedian(ratio.median)}`)
  const notes = renderReasons(reasons)
  return `${findComparedWords(quantity)?.label} against ${b}, no interval yet${notes}: ${ratios.join(', ')}`
}

/**
 * Renders `pipy uses 48 % less CPU per request than envoy [46, 50], 6 repeats`, or why there is no verdict, interval
 * or difference.
 * @param {Comparison} comparison
 * @returns {string} a sentence without its point
 */
export function renderVerdict(comparison) {
  const { a, b, quantity, service, ratio, verdict, reasons, gapLeast, load } = comparison
  const compared = findComparedWords(quantity)
  const { median, low, high, values } = ratio
  const rounds = values.filter(v => v !== null).length
  const place = service === null ? '' : ` at ${service}`
  const pair = `${compared?.label}${place} of ${a} and ${b}`
  const notes = renderReasons(reasons)
  if (verdict === 'invalid' || median === null) return `${pair}: no verdict${notes}`
  if (verdict === 'indicative') return `${pair}: ${median.toFixed(2)} : 1, no interval yet${notes}`

  const digits = gapLeast === undefined ? 0 : 1
  const computeGapPercent = (/** @type {number} */ r) => 100 * Math.abs(r - 1)
  if (verdict === 'no-difference-shown' || low === null || high === null) {
    const noise = findNoise(comparison)
    return `${pair}: no difference found at this noise (±${noise.toFixed(1)} %)${notes}`
  }
  const words = `${median < 1 ? compared?.less : compared?.more}`.replace(
    '%',
    `${computeGapPercent(median).toFixed(digits)} %`,
  )
  const ends = [computeGapPercent(low), computeGapPercent(high)].sort((x, y) => x - y).map(v => v.toFixed(digits))
  const unit = load.isInterleaved ? 'interleaved repeats' : 'repeats'
  return `${a} ${words}${place} than ${b} [${ends.join(', ')}], ${rounds} ${unit}${notes}`
}

/**
 * Renders the reasons of a comparison, to follow its sentence.
 * @param {Comparison['reasons']} reasons
 * @returns {string} begins with a colon; empty: it has none
 */
export function renderReasons(reasons) {
  return reasons.length > 0 ? `: ${reasons.map(renderReason).join('; ')}` : ''
}

/**
 * Renders the noise of the run: how much an arm differs from itself.
 * @param {Comparison[]} comparisons of A/A pairs, in one group
 * @returns {string} a sentence; empty: no A/A pair has a ratio
 */
function renderNoiseOfGroup(comparisons) {
  const parts = comparisons.flatMap(({ quantity, ratio: { median } }) => {
    return median === null ? [] : [`${findComparedWords(quantity)?.label} ${renderPercent(Math.abs(median - 1), 1)}`]
  })
  return parts.length > 0 ? `Noise (${comparisons[0].a} against itself, A/A): ${parts.join(', ')}.` : ''
}

/**
 * Finds the words with which a quantity is compared.
 * @param {string} quantity its name
 * @returns undefined: it is not compared
 */
const findComparedWords = quantity => QUANTITIES[quantity]?.compared
