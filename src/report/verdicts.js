import { GAP_LEAST } from '../analysis/verdict.js'
import { formatValue as format, PRIMARY, QUANTITIES, quantityOf } from '../judge/quantities.js'
import { splitByKind } from '../kinds/sections.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { percent } from '../lib/units.js'
import { describeAxes, findVaried, groupOf, nameOf } from '../model/arms.js'
import { findDiffering } from '../parity/verdict/rows.js'

/** Comparisons as sentences, and the answer of a run in one. Pure. */
/** @import { Comparison, Summary, SummaryArm } from '../model/types.ts' */

export const SECONDARY = 'Secondary, not adjusted for multiple comparisons'
export const CONTRASTS = 'Each plane against itself'
const UNEQUAL = 'Unequal or untried work, so what it costs cannot be held against other planes'

/**
 * Tells the verdicts on planes, in groups of one link, cap and load, the primary quantity apart.
 * @param {Summary} summary
 * @returns {{ heading: string, primary: string[], secondary: string[], noise: string }[]} heading: empty for one group
 */
export function tellVerdicts(summary) {
  return splitByKind(summary).flatMap(({ summary: own, heading: name }) => {
    const groups = tellGroups(own)
    if (name === undefined) return groups
    return groups.map(group => ({ ...group, heading: [name, group.heading].filter(Boolean).join(': ') }))
  })
}

/** @param {Pick<Summary, 'arms' | 'comparisons' | 'shows'>} summary of one kind */
function tellGroups({ comparisons, arms, shows }) {
  const whole = comparisons.filter(c => c.service === null && c.contrast === null)
  const varied = findVaried(arms)
  const groups = [...groupBy(whole, c => groupOf(c)).values()]
  const isShown = (/** @type {string} */ quantity) =>
    shows.quantities.includes(quantity) || (shows.across === null && !comparedIn(quantity)?.isOnRequest)
  return groups.map(group => {
    const pairs = group.filter(c => !c.isControl)
    const [primary, others] = [true, false].map(is => pairs.filter(c => (c.quantity === PRIMARY.name) === is))
    const shown = others.filter(c => isShown(c.quantity))
    return {
      heading: groups.length > 1 ? capitalise(describeAxes(group[0], varied)) : '',
      primary: primary.map(renderVerdict),
      secondary: renderSecondary(shown, primary),
      noise: renderNoise(group.filter(c => c.isControl)),
    }
  })
}

/**
 * Renders quantities that show nothing for one reason in one line. @param {Comparison[]} comparisons
 * @param {Comparison[]} primary whose reason is not said again
 */
function renderSecondary(comparisons, primary) {
  const isOpen = (/** @type {Comparison} */ c) => c.verdict === 'invalid' || c.verdict === 'indicative'
  const keyOf = (/** @type {Comparison} */ c) => JSON.stringify([c.a, c.b, c.verdict, c.reasons])
  const said = new Set(primary.map(keyOf))
  const groups = groupBy(comparisons, c => (isOpen(c) ? keyOf(c) : c))
  return [...groups].flatMap(([key, own]) => {
    const [{ a, b, verdict, reasons }] = own
    if (!isOpen(own[0]) || (own.length === 1 && !said.has(`${key}`))) return own.map(renderVerdict)
    const names = own.map(({ quantity, ratio: { median } }) => {
      const label = comparedIn(quantity)?.label
      return verdict === 'indicative' && median !== null ? `${label} ${median.toFixed(2)} : 1` : label
    })
    const told = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
    const why = said.has(`${key}`) ? ' for the same reason' : told
    return [`${names.join(', ')} of ${a} and ${b}: ${verdict === 'invalid' ? 'invalid' : 'indicative only'}${why}`]
  })
}

/** Tells the effect of an axis on each plane. @param {Pick<Summary, 'arms' | 'comparisons' | 'shows'>} summary */
export function tellContrasts({ comparisons, arms, shows }) {
  const varied = findVaried(arms)
  const shown = comparisons
    .filter(c => c.contrast !== null && c.service === null)
    .filter(c => comparedIn(c.quantity)?.isHeadline && shows.quantities.includes(c.quantity))
  const whereOf = (/** @type {Comparison} */ c) => {
    const others = varied.filter(name => name !== c.contrast)
    return describeAxes(c, others)
  }
  const keyOf = (/** @type {Comparison} */ c) => JSON.stringify([c.quantity, c.b, whereOf(c), c.reasons])
  const groups = groupBy(shown, c => (c.verdict === 'indicative' ? keyOf(c) : c))
  return [...groups.values()].map(own => {
    const where = whereOf(own[0])
    return `${own.length === 1 ? renderVerdict(own[0]) : renderIndicative(own)}${where ? ` (${where})` : ''}`
  })
}

/** Renders several arms against the same, all indicative for one reason. @param {Comparison[]} comparisons */
function renderIndicative(comparisons) {
  const [{ quantity, b, reasons }] = comparisons
  const say = (/** @type {number | null} */ median) => (median === null ? 'unknown' : `${median.toFixed(2)} : 1`)
  const ratios = comparisons.map(({ a, ratio }) => `${a} ${say(ratio.median)}`)
  const notes = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  return `${comparedIn(quantity)?.label} against ${b}, indicative only${notes}: ${ratios.join(', ')}`
}

/** Renders `pipy uses 48 % less CPU per request than envoy [46, 50], 6 rounds`. @param {Comparison} comparison */
export function renderVerdict({ a, b, quantity, service, ratio, aaSpread, verdict, reasons, gapLeast, load }) {
  const compared = comparedIn(quantity)
  const { median, low, high, values } = ratio
  const rounds = values.filter(v => v !== null).length
  const whose = service === null ? '' : ` at ${service}`
  const pair = `${compared?.label}${whose} of ${a} and ${b}`
  const notes = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  if (verdict === 'invalid' || median === null) return `${pair}: invalid${notes}`
  if (verdict === 'indicative') return `${pair}: ${median.toFixed(2)} : 1, indicative only${notes}`

  const digits = gapLeast === undefined ? 0 : 1
  const gap = (/** @type {number} */ r) => 100 * Math.abs(r - 1)
  if (verdict === 'no-difference-shown' || low === null || high === null) {
    // The smallest gap that would have counted as a difference.
    const width = low !== null && high !== null && low <= 1 && high >= 1 ? Math.max(gap(low), gap(high)) : 0
    const noise = Math.max(100 * (gapLeast ?? GAP_LEAST), 100 * (aaSpread ?? 0), width)
    return `${pair}: no difference shown at this noise (±${noise.toFixed(1)} %)${notes}`
  }
  const words = `${median < 1 ? compared?.less : compared?.more}`.replace('%', `${gap(median).toFixed(digits)} %`)
  const ends = [gap(low), gap(high)].sort((x, y) => x - y).map(v => v.toFixed(digits))
  const unit = load.isBesideOthers ? 'deployments' : 'rounds'
  return `${a} ${words}${whose} than ${b} [${ends.join(', ')}], ${rounds} ${unit}${notes}`
}

/** Tells the noise of the run: an arm against itself. @param {Comparison[]} comparisons of A/A pairs, in one group */
function renderNoise(comparisons) {
  const parts = comparisons.flatMap(({ quantity, ratio: { median } }) => {
    return median === null ? [] : [`${comparedIn(quantity)?.label} ${percent(Math.abs(median - 1), 1)}`]
  })
  return parts.length > 0 ? `Noise (${comparisons[0].a} against itself, A/A): ${parts.join(', ')}.` : ''
}

/** @param {string} quantity */
const comparedIn = quantity => QUANTITIES[quantity]?.compared

/** Joins the answers of a run's kinds of trials. @param {Summary} summary @returns {string} */
export function answerOf(summary) {
  const parts = splitByKind(summary).map(part => {
    return { ...part, measured: part.summary.arms.filter(arm => arm.trials.completed > 0) }
  })
  const told = parts.flatMap(({ sections, summary: own, measured }) => {
    const cost = measured.length > 0 ? tellCost(own, measured) : []
    const isAlone = parts.every(part => part.sections === sections || part.measured.length === 0)
    return sections.answer({ summary: own, measured, cost, isAlone })
  })
  if (told.length === 0) return 'Nothing was measured.'
  const text = [...(findDiffering(summary).wrong.length > 0 ? [UNEQUAL] : []), ...told].join('; ')
  return /[.!]$/.test(text) ? text : `${text}.`
}

/** Tells verdicts on the primary quantity, or values. @param {Summary} summary @param {SummaryArm[]} measured */
function tellCost(summary, measured) {
  const primary = summary.comparisons.filter(
    c => c.quantity === PRIMARY.name && c.service === null && c.contrast === null && !c.isControl,
  )
  const verdicts = primary.length > 0 ? tellPrimary(summary, primary) : []
  return verdicts.length > 0 ? verdicts : [tellValues(measured)]
}

/** Pairs that the answer tells; of more, it tells those with the first plane. */
export const PAIRS_MOST = 3

/** Tells the verdicts of one group, or counts those of many. @param {Summary} summary @param {Comparison[]} primary */
function tellPrimary(summary, primary) {
  const groups = tellVerdicts(summary)
  if (groups.length === 1) {
    if (primary.length <= PAIRS_MOST) return groups[0].primary
    const ofFirst = primary.filter(({ a }) => a === primary[0].a)
    return [...ofFirst.map(renderVerdict), `the other ${primary.length - ofFirst.length} pairs stand below`]
  }
  return [...groupBy(primary, c => JSON.stringify([c.a, c.b])).values()].map(own => {
    const [{ a, b }] = own
    const counts = ['lower', 'higher', 'no-difference-shown', 'indicative', 'invalid'].flatMap(verdict => {
      const count = own.filter(c => c.verdict === verdict).length
      return count > 0 ? [`${verdict.replaceAll('-', ' ')} at ${count}`] : []
    })
    const ratios = own.flatMap(c => (c.verdict === 'invalid' ? [] : (c.ratio.median ?? []))).sort((x, y) => x - y)
    const range = ratios.length > 0 ? `; ${ratios[0].toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} : 1` : ''
    return `CPU per request of ${a} against ${b} at ${own.length} points: ${counts.join(', ')}${range}`
  })
}

/** @param {SummaryArm[]} arms that were measured */
function tellValues(arms) {
  const [{ load }] = arms
  const [name, unit] = load.kind === 'idle' ? ['cpuCores', 'cores when idle'] : ['cpuPerRequest', 'µs CPU per request']
  const values = arms.flatMap(arm => {
    const median = quantityOf(arm, name).median
    return median === null || arm.repeatOf !== null ? [] : [{ plane: nameOf(arm), median }]
  })
  const told = [...groupBy(values, v => v.plane)].map(([plane, own]) => {
    const medians = own.map(v => v.median)
    const [low, high] = [Math.min(...medians), Math.max(...medians)].map(value => format(QUANTITIES[name], value))
    return `${plane}: ${low === high ? low : `${low} to ${high}`} ${unit}`
  })
  return told.length > 0 ? told.join('; ') : 'No sidecar was measured'
}
