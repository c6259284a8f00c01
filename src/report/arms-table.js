import { findQuantity, formatValue, QUANTITIES } from '../judge/quantities.js'
import { findSections } from '../kinds/sections.js'
import { alignLeft, alignRight, keepColumns } from '../lib/text-table.js'
import { AXES, BASELINE_AXES, isAlike, isRedirected, listVariedAxes, renderArmName, renderAxes } from '../model/arms.js'

/**
 * Tables of arms: a row for each plane, CPU limit and link, with a line for each sidecar; or, if an experiment is about one axis,
 * a column for each of its values, and a row for each quantity and plane. Pure.
 * @import { AxisName, Result, Shows, SummaryArm } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 */

/** Columns that a terminal leaves out, so that the others fit in its 100 columns. */
export const WIDE_COLUMNS = ['p90', 'p95', 'CPU cores', 'throttled', 'anon']

const OF_ARM = ['throughput', 'p50', 'p90', 'p95', 'p99', 'cpuPerRequest']
const OF_SIDECAR = ['cpuCores', 'cpuOfCap', 'cpuPerRequest', 'throttled', 'anon', 'rss']
const ADDED = ['addedP50', 'addedP99']
const WITH_INTERVAL = ['throughput', 'cpuPerRequest']

/**
 * Tabulates arms, link by link, without A/A arms. Columns in which no arm has a value are left out.
 * @param {Pick<Result, 'arms'>} result
 * @returns {Table} `-`: no value
 */
export function tabulateArms({ arms }) {
  const links = listLinks(arms)
  const varied = listVariedAxes(arms).filter(name => name !== 'link' && name !== 'cpuLimitCores')
  const added = arms[0].load.kind === 'open' ? ADDED : []
  const columns = [
    ...alignLeft('plane'),
    ...alignRight('cap', ...varied.map(name => AXES[name].label), ...OF_ARM.map(renderHeader)),
    ...alignLeft('sidecar'),
    ...alignRight(...OF_SIDECAR.map(renderHeader)),
    ...alignLeft('bound by'),
    ...alignRight(...added.map(renderHeader)),
  ]
  /** @type {Table['rows']} */
  const rows = []
  for (const link of links) {
    if (links.length > 1) rows.push([{ content: `link ${link}`, colSpan: columns.length }])
    for (const arm of arms.filter(a => a.link === link && a.repeatOf === null))
      rows.push(tabulateArm({ arm, varied, added }))
  }
  // A column in which no arm has anything is left out.
  const hasValues = (/** @type {number} */ i) =>
    rows.some(row => row.length === columns.length && !/^[-\n]*$/.test(`${row[i]}`))
  return { caption: 'Every plane, cap and load', ...keepColumns({ columns, rows }, hasValues) }
}

/**
 * Renders the heading of a quantity's column.
 * @param {string} name of a quantity
 * @returns {string} its short label, else its label
 */
const renderHeader = name => QUANTITIES[name].short ?? QUANTITIES[name].label

/**
 * Creates the row of an arm. A quantity of sidecars has a line for each.
 * @param {{ arm: SummaryArm, varied: AxisName[], added: string[] }} options varied: the axes that have a column;
 *   added: the last quantities
 * @returns {string[]} cells
 */
function tabulateArm({ arm, varied, added }) {
  const renderServiceLines = (/** @type {(service: string) => string} */ line) =>
    arm.sidecars.map(({ service }) => line(service)).join('\n') || '-'
  return [
    renderArmName(arm),
    arm.cpuLimitCores === null ? '-' : `${arm.cpuLimitCores}`,
    ...varied.map(name => `${AXES[name].of(arm) ?? '-'}`),
    ...OF_ARM.map(name => renderWholeMedian(arm, name)),
    renderServiceLines(service => service),
    ...OF_SIDECAR.map(name => renderServiceLines(service => renderArmMedian(arm, name, service))),
    renderArmBound(arm),
    ...added.map(name => renderWholeMedian(arm, name)),
  ]
}

/**
 * Renders what bound an arm, and how many of its trials failed or are invalid.
 * @param {SummaryArm} arm
 * @returns {string} lines
 */
function renderArmBound({ boundBy, trials }) {
  return [
    boundBy ?? (trials.completed > 0 ? '-' : 'nothing measured'),
    ...(trials.failed > 0 ? [`${trials.failed} failed`] : []),
    ...(trials.invalid > 0 ? [`${trials.invalid} invalid`] : []),
  ].join('\n')
}

/**
 * Renders the names of the links, and whether connections were redirected: in all arms, or in some.
 * @param {SummaryArm[]} arms
 * @returns {string} `link gateway-ratings`
 */
export function renderLinks(arms) {
  const redirected = arms.filter(({ conditions }) => isRedirected(conditions)).length
  const redirection =
    redirected === 0 ? '' : `, with${redirected < arms.length ? ' and without' : ''} redirection of connections`
  return `link ${listLinks(arms).join(' and ')}${redirection}`
}

/**
 * Lists the links of arms, each once.
 * @param {SummaryArm[]} arms
 * @returns {string[]} in the order of the arms
 */
function listLinks(arms) {
  return [...new Set(arms.map(arm => arm.link))]
}

/**
 * Renders a median.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @param {string} [service] whose sidecar; absent: all sidecars together
 * @returns {string} `-`: no value
 */
function renderArmMedian(arm, name, service) {
  const { median } = findQuantity(arm, name, service)
  const { digits, digitsOfOne = digits, ...row } = QUANTITIES[name]
  return median === null ? '-' : formatValue({ ...row, digits: service ? digitsOfOne : digits }, median)
}

/**
 * Renders a median over all sidecars; for some quantities, with its interval.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @returns {string} `-`: no value
 */
function renderWholeMedian(arm, name) {
  const { low, high } = findQuantity(arm, name)
  if (!WITH_INTERVAL.includes(name) || low === null || high === null) return renderArmMedian(arm, name)
  return `${renderArmMedian(arm, name)}\n[${[low, high].map(value => formatValue(QUANTITIES[name], value)).join(', ')}]`
}

// A pivot also shows this for each sidecar, up to SIDECARS_MOST: the busiest one is what a CPU limit binds.
const QUANTITY_OF_SIDECARS = 'cpuCores'
const SIDECARS_MOST = 3
const NO_VALUE = { median: null, low: null, high: null }

/**
 * Creates a table for each combination of the axes other than `shows.across`, with its baselines.
 * @param {Pick<Result, 'arms'>} result
 * @param {Shows} shows
 * @returns {Table[]} captions: the combination
 */
export function tabulatePivots({ arms }, shows) {
  const measured = arms.filter(arm => arm.repeatOf === null)
  const { across } = shows
  // An axis that arms without sidecars lack makes no table of its own.
  const varied = listVariedAxes(measured).filter(name => name !== across)
  const shared = varied.filter(name => BASELINE_AXES.includes(name))
  const withSidecars = measured.filter(arm => arm.sidecars.length > 0)
  const keys = [...new Set((withSidecars.length > 0 ? withSidecars : measured).map(arm => renderAxes(arm, varied)))]
  return keys.map(key => {
    const group = measured.filter(arm => renderAxes(arm, varied) === key)
    const [first] = group
    const baselines = measured.filter(arm => !arm.hasSidecars && !group.includes(arm) && isAlike(arm, first, shared))
    return { caption: key, ...tabulatePivot([...baselines, ...group], shows) }
  })
}

/**
 * Creates a row for each quantity and plane that has a value, and a column for each value of the axis `across`, or
 * one if there is no such axis. The last rows say what bound the planes.
 * @param {SummaryArm[]} arms
 * @param {Shows} shows
 * @returns {Pick<Table, 'columns' | 'rows'>}
 */
function tabulatePivot(arms, { across, quantities }) {
  const findAcrossValue = (/** @type {SummaryArm} */ arm) => (across === null ? null : AXES[across].of(arm))
  const withSidecars = arms.filter(arm => arm.sidecars.length > 0)
  const values = [...new Set((withSidecars.length > 0 ? withSidecars : arms).map(findAcrossValue))]
  const columns = [
    ...alignLeft(across === null ? '' : AXES[across].label),
    ...alignRight(...values.map(value => `${value ?? ''}`)),
  ]
  const rows = []
  const planes = [...new Set(arms.map(renderArmName))]
  // An axis of sidecars does not change an arm without them: every column has its value.
  const findArm = (/** @type {string} */ plane, /** @type {unknown} */ value) => {
    const planeArms = arms.filter(arm => renderArmName(arm) === plane)
    return (
      planeArms.find(arm => findAcrossValue(arm) === value) ??
      (planeArms.length === 1 && !planeArms[0].hasSidecars ? planeArms[0] : undefined)
    )
  }
  for (const name of quantities) {
    const row = QUANTITIES[name]
    const formatQuantity = (/** @type {number} */ value) => formatValue(row, value)
    for (const plane of planes) {
      const services =
        name === QUANTITY_OF_SIDECARS ? listServices(arms.filter(arm => renderArmName(arm) === plane)) : []
      for (const service of services.length > 1 ? [null, ...services] : [null]) {
        const cells = values.map(value => {
          const arm = findArm(plane, value)
          const { median, low, high } = arm ? findQuantity(arm, name, service) : NO_VALUE
          if (median === null) return '-'
          return low === null || high === null
            ? formatQuantity(median)
            : `${formatQuantity(median)}\n[${formatQuantity(low)}, ${formatQuantity(high)}]`
        })
        if (cells.some(cell => cell !== '-'))
          rows.push([`${row.label}, ${plane}${service ? `: ${service}` : ''}`, ...cells])
      }
    }
  }
  for (const plane of planes) {
    const bound = values.map(value => renderCellBound(findArm(plane, value)))
    if (bound.some(cell => cell !== '-')) rows.push([`bound by, ${plane}`, ...bound])
  }
  return { columns, rows }
}

/**
 * Renders what bound an arm, or that it was not measured, failed or was idle.
 * @param {SummaryArm | undefined} arm undefined: the plane has none here
 * @returns {string} `-`: nothing bound it
 */
function renderCellBound(arm) {
  if (!arm) return 'not measured'
  const { completed, failed } = arm.trials
  if (completed === 0 && failed > 0) return 'failed'
  const boundBy = findSections(arm).boundOf?.(arm) ?? arm.boundBy
  return boundBy ?? (arm.load.kind === 'idle' ? 'idle' : '-')
}

/**
 * Lists the names of sidecars, without copies.
 * @param {SummaryArm[]} arms
 * @returns {string[]} []: there are more than SIDECARS_MOST
 */
function listServices(arms) {
  const originals = arms.flatMap(arm => arm.sidecars.filter(s => s.copyOf === null))
  const names = [...new Set(originals.map(s => s.service))]
  return names.length <= SIDECARS_MOST ? names : []
}
