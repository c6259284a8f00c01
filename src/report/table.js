import { isControl, nameOf } from '../arms.js'
import { AXES, describeAxes, findVaried, groupOf } from '../axes.js'
import { MEASURES } from '../measures.js'
import { mib, percent } from '../quantities.js'
import { renderCpuLines, renderSlopes } from './fits.js'
import { renderNext, renderNotes, renderThresholds } from './notes.js'
import { renderPivots } from './pivot.js'
import { renderSearches, renderSizes } from './searches.js'
import { createTable, trimLines } from './text-table.js'
import { renderNoise, renderVerdict } from './verdicts.js'

/**
 * @import { Quantity, Summary, SummaryArm } from '../types.ts'
 */

const CONTRASTED = [MEASURES[0].name, 'p99', 'startSeconds', 'rss']

/**
 * The terminal's report: what could not be measured, the verdicts, a row per plane, cap and link with a line in it
 * per sidecar (or a column per value of the axis that the experiment is about), parity, and what the numbers do not say.
 * @param {Summary} summary
 */
export function renderTable(summary) {
  const missing = summary.notMeasured.map(({ plane, reason }) => `Not measured: ${plane}: ${reason}`)
  const { arms, machine, run, shows } = summary
  const isSearch = summary.searches.length + summary.sizes.length > 0
  if (arms.length === 0) return [...missing, `${run.experiment}: nothing was measured`].join('\n')
  const [{ load, target }] = arms
  const where = target === 'local' ? '' : `, on ${target} (${machine.node})`
  const title = `${run.experiment}, link ${linksOf(summary).join(' and ')}, ${load.windowSeconds} s windows${where}`
  const isIdle = load.kind === 'idle'
  const parts = [
    missing,
    [title],
    renderAnswers(summary),
    renderContrasts(summary),
    renderSizes(summary),
    renderSearches(summary),
    ...(isSearch ? [] : shows.across || isIdle ? renderPivots(summary) : [trimLines(renderArms(summary))]),
    renderCpuLines(summary),
    renderSlopes(summary),
    isSearch ? [] : [...renderNotes(summary), ...renderThresholds(summary)],
    summary.parity.length > 0 ? ['Equal work, tried before load:', ...trimLines(renderParity(summary))] : [],
    [...(isSearch || isIdle ? [] : renderNext(summary)), ...missing],
  ]
  return parts
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

/**
 * The verdicts: the primary quantity first, the others under a heading that says that they are not adjusted for
 * being many; under a heading of their own where there is more than one link, cap or load.
 * @param {Summary} summary
 */
function renderAnswers({ comparisons, arms, shows }) {
  const whole = comparisons.filter(c => c.service === null && c.contrast === null)
  const varied = findVaried(arms)
  const keys = [...new Set(whole.map(c => groupOf(c)))]
  return keys.flatMap(key => {
    const group = whole.filter(c => groupOf(c) === key)
    const pairs = group.filter(c => !isControl(c))
    const heading = keys.length > 1 ? [`${capitalise(describeAxes(group[0], varied))}:`] : []
    const primary = pairs.filter(c => c.quantity === MEASURES[0].name)
    const isShown = (/** @type {string} */ quantity) =>
      shows.quantities.includes(quantity) || (shows.across === null && quantity !== 'startSeconds')
    const secondary = pairs.filter(c => c.quantity !== MEASURES[0].name && isShown(c.quantity))
    return [
      ...heading,
      ...primary.map(renderVerdict),
      ...(secondary.length > 0 ? ['Secondary, unadjusted:', ...secondary.map(c => `  ${renderVerdict(c)}`)] : []),
      renderNoise(group.filter(isControl)),
    ].filter(Boolean)
  })
}

/**
 * What an axis changes, plane by plane.
 * @param {Summary} summary
 */
function renderContrasts({ comparisons, arms, shows }) {
  const shown = comparisons.filter(
    c =>
      c.contrast !== null &&
      c.service === null &&
      CONTRASTED.includes(c.quantity) &&
      shows.quantities.includes(c.quantity),
  )
  if (shown.length === 0) return []
  const varied = findVaried(arms)
  return [
    'Each plane against itself:',
    ...shown.map(c => {
      const others = describeAxes(
        c,
        varied.filter(name => name !== c.contrast),
      )
      return `  ${renderVerdict(c)}${others ? ` (${others})` : ''}`
    }),
  ]
}

/** @param {Summary} summary */
function renderArms(summary) {
  const links = linksOf(summary)
  const isOpen = summary.arms[0].load.kind === 'open'
  const varied = findVaried(summary.arms).filter(name => name !== 'link' && name !== 'capCores')
  const columns = [
    ...COLUMNS.slice(0, 2),
    ...varied.map(name => /** @type {[string, 'right']} */ ([AXES[name].label, 'right'])),
    ...COLUMNS.slice(2),
    ...(isOpen ? ADDED_COLUMNS : []),
  ]
  const table = createTable(columns)
  for (const link of links) {
    if (links.length > 1) table.push([{ content: `link ${link}`, colSpan: columns.length }])
    for (const arm of summary.arms.filter(a => a.link === link && a.repeatOf === null))
      table.push(renderArm(arm, varied, isOpen))
  }
  return table.toString()
}

/**
 * What was found of each plane; what differs is listed below.
 * @param {Summary} summary
 */
function renderParity({ parity }) {
  const planes = [...new Set(parity.map(row => row.plane))]
  const table = createTable([['', 'left'], ...planes.map(plane => /** @type {[string, 'left']} */ ([plane, 'left']))])
  for (const name of new Set(parity.map(row => row.name))) {
    const found = planes.map(plane => [
      ...new Set(parity.filter(r => r.name === name && r.plane === plane).map(r => r.found)),
    ])
    table.push([name.replace('parity-', ''), ...found.map(words => words.join('\n'))])
  }
  const differences = planes.flatMap(plane => [
    ...new Set(parity.filter(row => row.plane === plane).flatMap(row => row.differences.map(d => `  ${plane}: ${d}`))),
  ])
  return [table.toString(), ...differences].join('\n')
}

/** @type {[string, 'left' | 'right'][]} */
const COLUMNS = [
  ['plane', 'left'],
  ['cap', 'right'],
  ['req/s', 'right'],
  ['p50', 'right'],
  ['p90', 'right'],
  ['p95', 'right'],
  ['p99 ms', 'right'],
  ['µs/req', 'right'],
  ['sidecar', 'left'],
  ['CPU cores', 'right'],
  ['of cap', 'right'],
  ['µs/req', 'right'],
  ['throttled', 'right'],
  ['anon', 'right'],
  ['RSS MiB', 'right'],
  ['bound by', 'left'],
]

/** @type {[string, 'left' | 'right'][]} */
const ADDED_COLUMNS = [
  ['added p50', 'right'],
  ['p99 ms', 'right'],
]

/**
 * @param {SummaryArm} arm
 * @param {import('../types.ts').AxisName[]} varied
 * @param {boolean} isOpen
 */
function renderArm(arm, varied, isOpen) {
  const times = arm.responseTimeMs ?? arm.latencyMs
  const lines = (/** @type {(s: SummaryArm['sidecars'][0]) => string} */ line) =>
    arm.sidecars.map(line).join('\n') || '-'
  return [
    nameOf(arm),
    arm.capCores === null ? '-' : `${arm.capCores}`,
    ...varied.map(name => `${AXES[name].of(arm) ?? '-'}`),
    withInterval(arm.throughputPerSecond, v => v.toFixed(0)),
    ...['p50', 'p90', 'p95', 'p99'].map(name => show(times?.[/** @type {'p50'} */ (name)], v => v.toFixed(1))),
    withInterval(arm.cpuPerRequestMicros, v => v.toFixed(0)),
    lines(s => s.service),
    lines(s => show(s.cpuCores, v => v.toFixed(3))),
    lines(s => show(s.cpuOfCap, percent)),
    lines(s => show(s.cpuPerRequestMicros, v => v.toFixed(1))),
    lines(s => show(s.throttledFraction, percent)),
    lines(s => show(s.memory.anonBytes, mib)),
    lines(s => show(s.memory.rssBytes, mib)),
    boundOf(arm),
    ...(isOpen ? [arm.addedLatencyMs?.p50, arm.addedLatencyMs?.p99].map(added => show(added, v => v.toFixed(2))) : []),
  ]
}

/** @param {SummaryArm} arm */
function boundOf({ boundBy, trials }) {
  return [
    boundBy ?? 'nothing measured',
    ...(trials.failed > 0 ? [`${trials.failed} failed`] : []),
    ...(trials.invalid > 0 ? [`${trials.invalid} invalid`] : []),
  ].join('\n')
}

/** @param {Summary} summary */
function linksOf({ arms }) {
  return [...new Set(arms.map(arm => arm.link))]
}

/**
 * @param {Quantity | undefined} quantity
 * @param {(value: number) => string} format
 */
function show(quantity, format) {
  return quantity?.median === null || quantity === undefined ? '-' : format(quantity.median)
}

/**
 * @param {Quantity} quantity
 * @param {(value: number) => string} format
 */
function withInterval(quantity, format) {
  const { low, high } = quantity
  return `${show(quantity, format)}${low === null || high === null ? '' : `\n[${format(low)}, ${format(high)}]`}`
}

/** @param {string} words */
function capitalise(words) {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
