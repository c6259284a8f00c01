import Table from 'cli-table3'

/**
 * @import { Quantity, Summary, SummaryArm } from '../types.ts'
 */

const MIB = 1024 * 1024

/**
 * The terminal's table: a row per plane, cap and link, a line in it per sidecar; what could not be
 * measured stands above and below.
 * @param {Summary} summary
 */
export function renderTable(summary) {
  const links = [...new Set(summary.arms.map(arm => arm.link))]
  const table = new Table({
    head: COLUMNS.map(([name]) => name),
    colAligns: COLUMNS.map(([, align]) => align),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    chars: { ...NO_LINES, middle: ' ' },
  })
  for (const link of links) {
    if (links.length > 1) table.push([{ content: `link ${link}`, colSpan: COLUMNS.length }])
    for (const arm of summary.arms.filter(a => a.link === link)) table.push(renderArm(arm))
  }
  const missing = summary.notMeasured.map(({ plane, reason }) => `Not measured: ${plane}: ${reason}`)
  const title = `${summary.run.experiment}, link ${links.join(' and ')}, ${summary.arms[0].load.windowSeconds} s windows`
  const rows = table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
  return [...missing, title, '', ...rows, '', ...renderNotes(summary), ...missing].join('\n')
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

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map(name => [name, '']),
)

/** @param {SummaryArm} arm */
function renderArm(arm) {
  const times = arm.responseTimeMs ?? arm.latencyMs
  const lines = (/** @type {(s: SummaryArm['sidecars'][0]) => string} */ line) =>
    arm.sidecars.map(line).join('\n') || '-'
  return [
    arm.variant ? `${arm.plane}=${arm.variant.split('/').at(-1)}` : arm.plane,
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
  ]
}

/** @param {SummaryArm} arm */
function boundOf({ boundBy, trials }) {
  const spoiled = [
    trials.failed > 0 ? `${trials.failed} failed` : '',
    trials.invalid > 0 ? `${trials.invalid} invalid` : '',
  ].filter(Boolean)
  return [boundBy ?? 'nothing measured', ...spoiled].join('\n')
}

/** @param {Summary} summary */
function renderNotes({ arms }) {
  const [{ load }] = arms
  const rounds = Math.max(...arms.map(a => a.throughputPerSecond.values.filter(v => v !== null).length))
  const notes = [
    `Response time at saturation (${[...new Set(arms.map(a => a.load.users))].join(' or ')} users): in a closed loop it follows from req/s, and is no latency.`,
    `Medians of up to ${rounds} rounds${rounds >= 6 ? ', [95 % interval]' : ': too few for an interval'}; ${load.payloadBytes} bytes posted and echoed; µs/req is CPU time per verified request, first of all sidecars, then of each.`,
  ]
  if (arms.some(a => a.link === 'ratings'))
    notes.push('The link ratings carries no mTLS: the client speaks plaintext to the only sidecar.')
  if (arms.some(a => a.boundBy !== 'sidecar' && a.plane !== 'none')) {
    notes.push('Where the sidecar did not bind, req/s is throughput and not its capacity.')
  }
  return notes
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
