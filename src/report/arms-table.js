import { QUANTITIES } from '../judge/quantities.js'
import { formatValue, quantityOf } from '../judge/quantity.js'
import { splitByKind } from '../kinds/sections.js'
import { keepColumns, left, right } from '../lib/text-table.js'
import { isRedirected, nameOf } from '../model/arms.js'
import { AXES, findVaried } from '../model/axes.js'

/**
 * Makes tables of arms: a row per plane, cap and link, with a line in it per sidecar. Pure.
 * @import { AxisName, Summary, SummaryArm } from '../model/types.ts' @import { Table } from '../lib/text-table.js'
 */

const OF_ARM = ['throughput', 'p50', 'p90', 'p95', 'p99', 'cpuPerRequest']
const OF_SIDECAR = ['cpuCores', 'cpuOfCap', 'cpuPerRequest', 'throttled', 'anon', 'rss']
const ADDED = ['addedP50', 'addedP99']
const WITH_INTERVAL = ['throughput', 'cpuPerRequest']

/** Makes a table for each kind of trials. @param {Summary} summary @returns {Table[]} */
export function tabulateArms(summary) {
  return splitByKind(summary).map(({ summary: own, heading }) => ({
    caption: heading ?? 'Every plane, cap and load',
    ...tabulateKind(own),
  }))
}

/** @param {Summary} summary of one kind @returns {Omit<Table, 'caption'>} */
function tabulateKind(summary) {
  const links = linksOf(summary)
  const varied = findVaried(summary.arms).filter(name => name !== 'link' && name !== 'capCores')
  const added = summary.arms[0].load.kind === 'open' ? ADDED : []
  const columns = [
    ...left('plane'),
    ...right('cap', ...varied.map(name => AXES[name].label), ...OF_ARM.map(headerOf)),
    ...left('sidecar'),
    ...right(...OF_SIDECAR.map(headerOf)),
    ...left('bound by'),
    ...right(...added.map(headerOf)),
  ]
  /** @type {Table['rows']} */
  const rows = []
  for (const link of links) {
    if (links.length > 1) rows.push([{ content: `link ${link}`, colSpan: columns.length }])
    for (const arm of summary.arms.filter(a => a.link === link && a.repeatOf === null))
      rows.push(tabulateArm({ arm, varied, added }))
  }
  // A column in which no arm has anything is left out.
  const isShown = (/** @type {number} */ i) =>
    rows.some(row => row.length === columns.length && !/^[-\n]*$/.test(`${row[i]}`))
  return keepColumns({ columns, rows }, isShown)
}

/** @param {string} name of a quantity */
const headerOf = name => QUANTITIES[name].short ?? QUANTITIES[name].label

/** @param {{ arm: SummaryArm, varied: AxisName[], added: string[] }} options */
function tabulateArm({ arm, varied, added }) {
  const lines = (/** @type {(service: string) => string} */ line) =>
    arm.sidecars.map(({ service }) => line(service)).join('\n') || '-'
  return [
    nameOf(arm),
    arm.capCores === null ? '-' : `${arm.capCores}`,
    ...varied.map(name => `${AXES[name].of(arm) ?? '-'}`),
    ...OF_ARM.map(name => showWhole(arm, name)),
    lines(service => service),
    ...OF_SIDECAR.map(name => lines(service => show(arm, name, service))),
    boundOf(arm),
    ...added.map(name => showWhole(arm, name)),
  ]
}

/** @param {SummaryArm} arm */
function boundOf({ boundBy, trials }) {
  return [
    boundBy ?? (trials.completed > 0 ? '-' : 'nothing measured'),
    ...(trials.failed > 0 ? [`${trials.failed} failed`] : []),
    ...(trials.invalid > 0 ? [`${trials.invalid} invalid`] : []),
  ].join('\n')
}

/** Names the links, and says where connections were redirected. @param {Pick<Summary, 'arms'>} summary */
export function nameLinks({ arms }) {
  const redirected = arms.filter(({ conditions }) => isRedirected(conditions)).length
  const how =
    redirected === 0 ? '' : `, with${redirected < arms.length ? ' and without' : ''} redirection of connections`
  return `link ${linksOf({ arms }).join(' and ')}${how}`
}

/** @param {Pick<Summary, 'arms'>} summary */
function linksOf({ arms }) {
  return [...new Set(arms.map(arm => arm.link))]
}

/** @param {SummaryArm} arm @param {string} name of a quantity @param {string} [service] */
function show(arm, name, service) {
  const { median } = quantityOf(arm, name, service)
  const { digits, digitsOfOne = digits, ...row } = QUANTITIES[name]
  return median === null ? '-' : formatValue({ ...row, digits: service ? digitsOfOne : digits }, median)
}

/** @param {SummaryArm} arm @param {string} name of a quantity */
function showWhole(arm, name) {
  const { low, high } = quantityOf(arm, name)
  if (!WITH_INTERVAL.includes(name) || low === null || high === null) return show(arm, name)
  return `${show(arm, name)}\n[${[low, high].map(value => formatValue(QUANTITIES[name], value)).join(', ')}]`
}
