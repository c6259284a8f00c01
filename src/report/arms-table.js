import { nameOf } from '../model/arms.js'
import { AXES, findVaried } from '../model/axes.js'
import { mib, percent } from '../model/quantities.js'

/**
 * A row per plane, cap and link, with a line in it per sidecar. Pure.
 * @import { Quantity, Summary, SummaryArm } from '../model/types.ts'
 * @import { Table } from './text-table.js'
 */

/**
 * @param {Pick<Summary, 'arms'>} summary
 * @returns {Table}
 */
export function tabulateArms(summary) {
  const links = linksOf(summary)
  const isOpen = summary.arms[0].load.kind === 'open'
  const varied = findVaried(summary.arms).filter(name => name !== 'link' && name !== 'capCores')
  const columns = [
    ...COLUMNS.slice(0, 2),
    ...varied.map(name => /** @type {[string, 'right']} */ ([AXES[name].label, 'right'])),
    ...COLUMNS.slice(2),
    ...(isOpen ? ADDED_COLUMNS : []),
  ]
  /** @type {Table['rows']} */
  const rows = []
  for (const link of links) {
    if (links.length > 1) rows.push([{ content: `link ${link}`, colSpan: columns.length }])
    for (const arm of summary.arms.filter(a => a.link === link && a.repeatOf === null))
      rows.push(tabulateArm(arm, varied, isOpen))
  }
  return { caption: 'Every plane, cap and load', columns, rows }
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
 * @param {import('../model/types.ts').AxisName[]} varied
 * @param {boolean} isOpen
 */
function tabulateArm(arm, varied, isOpen) {
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

/** @param {Pick<Summary, 'arms'>} summary */
export function linksOf({ arms }) {
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
