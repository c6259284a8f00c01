import Table from 'cli-table3'
import { groupOf, isControl, nameOf } from '../arms.js'
import { MEASURES } from '../measures.js'
import { renderNext, renderNotes, renderThresholds } from './notes.js'
import { renderNoise, renderVerdict } from './verdicts.js'

/**
 * @import { Quantity, Summary, SummaryArm } from '../types.ts'
 */

const MIB = 1024 * 1024

/**
 * The terminal's report: what could not be measured, the verdicts, a row per plane, cap and link with a line in it
 * per sidecar, parity, and what the numbers do not say.
 * @param {Summary} summary
 */
export function renderTable(summary) {
  const missing = summary.notMeasured.map(({ plane, reason }) => `Not measured: ${plane}: ${reason}`)
  const [{ load, target }] = summary.arms
  const where = target === 'local' ? '' : `, on ${target} (${summary.machine.node})`
  const title = `${summary.run.experiment}, link ${linksOf(summary).join(' and ')}, ${load.windowSeconds} s windows${where}`
  const parts = [
    missing,
    [title],
    renderAnswers(summary),
    trim(renderArms(summary)),
    [...renderNotes(summary), ...renderThresholds(summary)],
    summary.parity.length > 0 ? ['Equal work, tried before load:', ...trim(renderParity(summary))] : [],
    [...renderNext(summary), ...missing],
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
function renderAnswers({ comparisons }) {
  const whole = comparisons.filter(c => c.service === null)
  const keys = [...new Set(whole.map(groupOf))]
  return keys.flatMap(key => {
    const group = whole.filter(c => groupOf(c) === key)
    const pairs = group.filter(c => !isControl(c))
    const [{ link, capCores, load }] = group
    const rate = load.kind === 'open' ? `, ${load.ratePerSecond} requests/s` : ''
    const heading = keys.length > 1 ? [`${link}, ${capCores ?? 'no'} cap${rate}:`] : []
    const primary = pairs.filter(c => c.quantity === MEASURES[0].name)
    const secondary = pairs.filter(c => c.quantity !== MEASURES[0].name)
    return [
      ...heading,
      ...primary.map(renderVerdict),
      ...(secondary.length > 0 ? ['Secondary, unadjusted:', ...secondary.map(c => `  ${renderVerdict(c)}`)] : []),
      renderNoise(group.filter(isControl)),
    ].filter(Boolean)
  })
}

/** @param {Summary} summary */
function renderArms(summary) {
  const links = linksOf(summary)
  const isOpen = summary.arms[0].load.kind === 'open'
  const columns = [...COLUMNS, ...(isOpen ? ADDED_COLUMNS : [])]
  const table = createTable(columns)
  for (const link of links) {
    if (links.length > 1) table.push([{ content: `link ${link}`, colSpan: columns.length }])
    for (const arm of summary.arms.filter(a => a.link === link && a.repeatOf === null))
      table.push(renderArm(arm, isOpen))
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

/** @param {[string, 'left' | 'right'][]} columns */
function createTable(columns) {
  return new Table({
    head: columns.map(([name]) => name),
    colAligns: columns.map(([, align]) => align),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    chars: { ...NO_LINES, middle: ' ' },
  })
}

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map(name => [name, '']),
)

/**
 * @param {SummaryArm} arm
 * @param {boolean} isOpen
 */
function renderArm(arm, isOpen) {
  const times = arm.responseTimeMs ?? arm.latencyMs
  const lines = (/** @type {(s: SummaryArm['sidecars'][0]) => string} */ line) =>
    arm.sidecars.map(line).join('\n') || '-'
  return [
    nameOf(arm),
    arm.capCores === null ? '-' : `${arm.capCores}`,
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

/** @param {string} text */
function trim(text) {
  return text.split('\n').map(line => line.trimEnd())
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

/** @param {number} value */
function percent(value) {
  return `${(100 * value).toFixed(0)} %`
}

/** @param {number} bytes */
function mib(bytes) {
  return (bytes / MIB).toFixed(1)
}
