import { computeNoisePercent, countRatios, renderReason } from '../answer/pair.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { renderPercent } from '../lib/units.js'
import { createGroupKey, listVariedAxes, renderAxes } from '../model/arms.js'
import { listArms, listComparisons } from '../model/results.js'

/**
 * Every comparison of a run as a sentence. Pure.
 * @import { Comparison, Result, Shows, Summary } from '../model/types.ts'
 * @import { Block } from './section.js'
 */

/**
 * The sentences on pairs of arms that differ only in their planes (`createGroupKey`).
 * @typedef {object} VerdictGroup
 * @property {string} heading empty if there is only one group
 * @property {string[]} primary
 * @property {string[]} secondary
 * @property {string} noise empty if no A/A pair has a ratio
 */

const SECONDARY = 'Secondary, not adjusted for multiple comparisons'
/** The heading of the contrasts. */
export const CONTRASTS = 'Each plane against itself'

/**
 * Creates the blocks of the verdicts on planes, in groups of arms that differ only in their planes (`createGroupKey`). The primary
 * quantity comes first.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Shows} shows
 * @returns {Block[]} [] without comparisons
 */
export function createVerdictBlocks(result, shows) {
  return renderVerdictGroups(result, shows).flatMap(createVerdictGroupBlocks)
}

/**
 * Creates the blocks of one group of verdicts.
 * @param {Pick<VerdictGroup, 'primary' | 'secondary'> & Partial<VerdictGroup>} group
 * @returns {Block[]} a heading only if the group has one; a block without lines for a part without sentences
 */
export function createVerdictGroupBlocks({ heading = '', primary, secondary, noise = '' }) {
  return [
    .../** @type {Block[]} */ (heading ? [{ type: 'heading', text: heading }] : []),
    { type: 'sentences', tone: 'strong', lines: primary },
    { type: 'list', heading: SECONDARY, lines: secondary },
    { type: 'sentences', tone: 'muted', lines: noise ? [noise] : [] },
  ]
}

/**
 * Renders the verdicts over all sidecars, group by group, without contrasts. Secondary quantities are those that the experiment
 * shows. If it has no axis across, they are all but those with `isOnRequest`.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Shows} shows
 * @returns {VerdictGroup[]} [] without comparisons
 */
function renderVerdictGroups({ comparisons, arms }, shows) {
  const overAll = comparisons.filter(c => c.service === null && c.contrast === null)
  const variedAxes = listVariedAxes(arms)
  const groups = [...groupBy(overAll, c => createGroupKey(c)).values()]
  const isListed = (/** @type {string} */ quantity) =>
    shows.quantities.includes(quantity) || (shows.across === null && !findComparedWords(quantity)?.isOnRequest)
  return groups.map(group => {
    const pairs = group.filter(c => !c.isControl)
    const primary = pairs.filter(c => c.quantity === PRIMARY.name)
    const secondary = pairs.filter(c => c.quantity !== PRIMARY.name && isListed(c.quantity))
    return {
      heading: groups.length > 1 ? capitalise(renderAxes(group[0], variedAxes)) : '',
      primary: primary.map(renderComparisonVerdict),
      secondary: renderSecondary(secondary, primary),
      noise: renderNoiseOfGroup(group.filter(c => c.isControl)),
    }
  })
}

/**
 * Renders the secondary comparisons. Those of a pair that lack a verdict for the same reason share a line.
 * @param {Comparison[]} comparisons
 * @param {Comparison[]} primary comparisons, whose reasons were printed before
 * @returns {string[]} sentences without their full stops
 */
function renderSecondary(comparisons, primary) {
  const createVerdictKey = (/** @type {Comparison} */ c) => JSON.stringify([c.a, c.b, c.verdict, c.reasons])
  const primaryKeys = new Set(primary.map(createVerdictKey))
  const groups = groupBy(comparisons, c => (isDecided(c) ? c : createVerdictKey(c)))
  return [...groups.values()].flatMap(group => {
    const isReasonKnown = primaryKeys.has(createVerdictKey(group[0]))
    if (isDecided(group[0]) || (group.length === 1 && !isReasonKnown)) return group.map(renderComparisonVerdict)
    return [renderWithoutVerdict(group, isReasonKnown)]
  })
}

/** Says whether a comparison has a verdict: `indicative` is none. @param {Comparison} comparison */
const isDecided = ({ verdict }) => verdict !== 'invalid' && verdict !== 'indicative'

/**
 * Renders quantities of one pair that lack a verdict for the same reason, each with its ratio if it is only indicative.
 * @param {Comparison[]} group of one pair and reason
 * @param {boolean} isReasonKnown the reason was printed before
 * @returns {string} a sentence without its full stop
 */
function renderWithoutVerdict(group, isReasonKnown) {
  const [{ a, b, verdict, reasons }] = group
  const quantities = group.map(({ quantity, ratio: { median } }) => {
    const label = findComparedWords(quantity)?.label
    return verdict === 'indicative' && median !== null ? `${label} ${median.toFixed(2)} : 1` : label
  })
  const why = isReasonKnown ? ' for the same reason' : renderReasons(reasons)
  return `${quantities.join(', ')} of ${a} and ${b}: ${verdict === 'invalid' ? 'no verdict' : 'no interval yet'}${why}`
}

/**
 * Renders the effect of each contrast's axis on each plane, in the headline quantities that the experiment shows. Arms
 * without an interval share a sentence for the same baseline and reason.
 * @param {Pick<Summary, 'results' | 'shows'>} summary
 * @returns {string[]} sentences without their full stops; [] if the run has no contrasts in these quantities
 */
export function renderContrastVerdicts({ results, shows }) {
  const variedAxes = listVariedAxes(listArms({ results }))
  const verdicts = listComparisons({ results })
    .filter(c => c.contrast !== null && c.service === null)
    .filter(c => findComparedWords(c.quantity)?.isHeadline && shows.quantities.includes(c.quantity))
  const renderOtherAxes = (/** @type {Comparison} */ c) => {
    const otherAxes = variedAxes.filter(name => name !== c.contrast)
    return renderAxes(c, otherAxes)
  }
  const createBaselineKey = (/** @type {Comparison} */ c) =>
    JSON.stringify([c.quantity, c.b, renderOtherAxes(c), c.reasons])
  const groups = groupBy(verdicts, c => (c.verdict === 'indicative' ? createBaselineKey(c) : c))
  return [...groups.values()].map(group => {
    const conditions = renderOtherAxes(group[0])
    const sentence = group.length === 1 ? renderComparisonVerdict(group[0]) : renderIndicativeRatios(group)
    return `${sentence}${conditions ? ` (${conditions})` : ''}`
  })
}

/**
 * Renders the ratios of several arms to one baseline, all without an interval for the same reason.
 * @param {Comparison[]} comparisons
 * @returns {string} a sentence without its full stop
 */
function renderIndicativeRatios(comparisons) {
  const [{ quantity, b, reasons }] = comparisons
  const ratios = comparisons.map(({ a, ratio: { median } }) => {
    return `${a} ${median === null ? 'unknown' : `${median.toFixed(2)} : 1`}`
  })
  const why = renderReasons(reasons)
  return `${findComparedWords(quantity)?.label} against ${b}, no interval yet${why}: ${ratios.join(', ')}`
}

/**
 * Renders `pipy uses 48 % less CPU per request than envoy [46, 50], 6 repeats`, or why there is no verdict, interval
 * or difference.
 * @param {Comparison} comparison
 * @returns {string} a sentence without its full stop
 */
export function renderComparisonVerdict(comparison) {
  const { a, b, quantity, service, ratio, verdict, reasons, gapLeast, load } = comparison
  const comparedWords = findComparedWords(quantity)
  const { median, low, high } = ratio
  const serviceText = service === null ? '' : ` at ${service}`
  const pair = `${comparedWords?.label}${serviceText} of ${a} and ${b}`
  const notes = renderReasons(reasons)
  if (verdict === 'invalid' || median === null) return `${pair}: no verdict${notes}`
  if (verdict === 'indicative') return `${pair}: ${median.toFixed(2)} : 1, no interval yet${notes}`
  if (verdict === 'no-difference-shown' || low === null || high === null) {
    const noise = computeNoisePercent(comparison)
    return `${pair}: no difference found at this noise (±${noise.toFixed(1)} %)${notes}`
  }
  const digits = gapLeast === undefined ? 0 : 1
  const computeGapPercent = (/** @type {number} */ end) => 100 * Math.abs(end - 1)
  const gap = `${computeGapPercent(median).toFixed(digits)} %`
  const predicate = `${median < 1 ? comparedWords?.less : comparedWords?.more}`.replace('%', gap)
  const ends = [computeGapPercent(low), computeGapPercent(high)].sort((x, y) => x - y)
  const interval = ends.map(end => end.toFixed(digits)).join(', ')
  const unit = load.isInterleaved ? 'interleaved repeats' : 'repeats'
  return `${a} ${predicate}${serviceText} than ${b} [${interval}], ${countRatios(comparison)} ${unit}${notes}`
}

/**
 * Renders the reasons of a comparison, to follow its sentence.
 * @param {Comparison['reasons']} reasons
 * @returns {string} begins with a colon; empty without reasons
 */
export function renderReasons(reasons) {
  return reasons.length > 0 ? `: ${reasons.map(renderReason).join('; ')}` : ''
}

/**
 * Renders the noise of a group: how much an arm differs from itself in each quantity.
 * @param {Comparison[]} comparisons of A/A pairs, in one group
 * @returns {string} a sentence; empty if no A/A pair has a ratio
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
 * @returns undefined if it is not compared, or not known
 */
const findComparedWords = quantity => QUANTITIES[quantity]?.compared
