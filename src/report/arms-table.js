import { findQuantity, formatValue, QUANTITIES } from '../judge/quantities.js'
import { findSections } from '../kinds/sections.js'
import { groupBy } from '../lib/group-by.js'
import { alignLeft, alignRight, keepColumns } from '../lib/text-table.js'
import {
  AXES,
  areAlikeOn,
  BASELINE_AXES,
  isRedirected,
  listVariedAxes,
  renderArmName,
  renderAxes,
} from '../model/arms.js'

/**
 * Tables of arms: a row for each plane, CPU limit and link, with a line for each sidecar; or, if an experiment is about one axis,
 * a column for each of its values, and a row for each quantity and plane. Pure.
 * @import { AxisName, Result, Shows, SummaryArm } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 */

/** Columns that a terminal leaves out, so that the others fit in its 100 columns. */
export const WIDE_COLUMNS = ['p90', 'p95', 'CPU cores', 'throttled', 'anon']

const ARM_QUANTITIES = ['throughput', 'p50', 'p90', 'p95', 'p99', 'cpuPerRequest']
const SIDECAR_QUANTITIES = ['cpuCores', 'cpuOfCap', 'cpuPerRequest', 'throttled', 'anon', 'rss']
const ADDED_QUANTITIES = ['addedP50', 'addedP99']
const INTERVAL_QUANTITIES = ['throughput', 'cpuPerRequest']

/**
 * Tabulates the arms of a result, link by link, without A/A arms. Columns in which no arm has a value are left out.
 * @param {Pick<Result, 'arms'>} result with at least one arm
 * @returns {Table} a cell without a value is `-`
 */
export function tabulateArms({ arms }) {
  const links = listLinks(arms)
  const variedAxes = listVariedAxes(arms).filter(name => name !== 'link' && name !== 'cpuLimitCores')
  const addedQuantities = arms[0].load.kind === 'open' ? ADDED_QUANTITIES : []
  const columns = [
    ...alignLeft('plane'),
    ...alignRight('cap', ...variedAxes.map(name => AXES[name].label), ...ARM_QUANTITIES.map(renderHeader)),
    ...alignLeft('sidecar'),
    ...alignRight(...SIDECAR_QUANTITIES.map(renderHeader)),
    ...alignLeft('bound by'),
    ...alignRight(...addedQuantities.map(renderHeader)),
  ]
  /** @type {Table['rows']} */
  const rows = []
  for (const link of links) {
    if (links.length > 1) rows.push([{ content: `link ${link}`, colSpan: columns.length }])
    const linkArms = arms.filter(arm => arm.link === link && arm.repeatOf === null)
    rows.push(...linkArms.map(arm => createArmRow({ arm, variedAxes, addedQuantities })))
  }
  const armRows = rows.filter(row => row.length === columns.length)
  const hasValue = (/** @type {number} */ column) => armRows.some(row => !/^[-\n]*$/.test(`${row[column]}`))
  return { caption: 'Every plane, cap and load', ...keepColumns({ columns, rows }, hasValue) }
}

/**
 * Renders the heading of a quantity's column: its short label, else its label.
 * @param {string} name of a quantity
 * @returns {string}
 */
const renderHeader = name => QUANTITIES[name].short ?? QUANTITIES[name].label

/**
 * Creates the row of an arm. A cell on sidecars has a line for each of them.
 * @param {{ arm: SummaryArm, variedAxes: AxisName[], addedQuantities: string[] }} options variedAxes: the axes that have a column;
 *   addedQuantities: those of the last columns, the latency that sidecars add
 * @returns {string[]} cells, `-` without a value
 */
function createArmRow({ arm, variedAxes, addedQuantities }) {
  const renderSidecarLines = (/** @type {(service: string) => string} */ renderLine) =>
    arm.sidecars.map(({ service }) => renderLine(service)).join('\n') || '-'
  return [
    renderArmName(arm),
    arm.cpuLimitCores === null ? '-' : `${arm.cpuLimitCores}`,
    ...variedAxes.map(name => `${AXES[name].readValue(arm) ?? '-'}`),
    ...ARM_QUANTITIES.map(name => renderArmMedianWithInterval(arm, name)),
    renderSidecarLines(service => service),
    ...SIDECAR_QUANTITIES.map(name => renderSidecarLines(service => renderArmMedian(arm, name, service))),
    renderOutcome(arm),
    ...addedQuantities.map(name => renderArmMedianWithInterval(arm, name)),
  ]
}

/**
 * Renders what bound an arm, then how many of its trials failed or are invalid, a line each.
 * @param {SummaryArm} arm
 * @returns {string} the first line is `-` if nothing bound it, `nothing measured` if no trial is completed
 */
function renderOutcome({ boundBy, trials }) {
  return [
    boundBy ?? (trials.completed > 0 ? '-' : 'nothing measured'),
    ...(trials.failed > 0 ? [`${trials.failed} failed`] : []),
    ...(trials.invalid > 0 ? [`${trials.invalid} invalid`] : []),
  ].join('\n')
}

/**
 * Renders the names of the links, and whether connections were redirected in all arms or in some.
 * @param {SummaryArm[]} arms
 * @returns {string} such as `link gateway-ratings, with redirection of connections`
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
 * Renders the median of a quantity of an arm, or of one service's sidecar.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @param {string} [service] absent: all sidecars together
 * @returns {string} `-` without a value
 */
function renderArmMedian(arm, name, service) {
  const { median } = findQuantity(arm, name, service)
  const { digits, digitsOfOne = digits, ...row } = QUANTITIES[name]
  return median === null ? '-' : formatValue({ ...row, digits: service ? digitsOfOne : digits }, median)
}

/**
 * Renders the median of a quantity over all sidecars; for INTERVAL_QUANTITIES with the interval below it, if it has one.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @returns {string} `-` without a value
 */
function renderArmMedianWithInterval(arm, name) {
  const { low, high } = findQuantity(arm, name)
  if (!INTERVAL_QUANTITIES.includes(name) || low === null || high === null) return renderArmMedian(arm, name)
  const ends = [low, high].map(value => formatValue(QUANTITIES[name], value))
  return `${renderArmMedian(arm, name)}\n[${ends.join(', ')}]`
}

// A pivot also has a row of this quantity for the sidecar of each service, if two to SIDECARS_MOST services have one: a CPU limit
// binds the busiest.
const QUANTITY_OF_SIDECARS = 'cpuCores'
const SIDECARS_MOST = 3

/**
 * A plane in a pivot.
 * @typedef {object} PivotPlane
 * @property {string} name
 * @property {string[]} services those that get a row each (`listServicesWithRows`)
 * @property {(SummaryArm | undefined)[]} columnArms the arm of each column; undefined: none was measured
 */

/**
 * Creates a table for each combination of values on the varied axes other than `shows.across`. Arms without sidecars are
 * baselines, and stand in the table of every combination that shares their load.
 * @param {Pick<Result, 'arms'>} result
 * @param {Shows} shows
 * @returns {Table[]} captions: the combination, empty if no other axis varies; []: there are no arms but A/A arms
 * @throws {BenchError} if an arm is of a kind that this version of the kit does not have
 */
export function tabulatePivots({ arms }, shows) {
  const armsWithoutRepeats = arms.filter(arm => arm.repeatOf === null)
  const variedAxes = listVariedAxes(armsWithoutRepeats).filter(name => name !== shows.across)
  const sharedAxes = variedAxes.filter(name => BASELINE_AXES.includes(name))
  // An axis that arms without sidecars lack makes no table of its own.
  const keys = [...new Set(chooseArmsOnAllAxes(armsWithoutRepeats).map(arm => renderAxes(arm, variedAxes)))]
  return keys.map(key => {
    const group = armsWithoutRepeats.filter(arm => renderAxes(arm, variedAxes) === key)
    const [first] = group
    const otherArms = armsWithoutRepeats.filter(arm => !group.includes(arm))
    const baselines = otherArms.filter(arm => !arm.hasSidecars && areAlikeOn(arm, first, sharedAxes))
    return { caption: key, ...tabulatePivot([...baselines, ...group], shows) }
  })
}

/** Chooses the arms that have values on every axis: those with sidecars, or all if none has any. @param {SummaryArm[]} arms */
function chooseArmsOnAllAxes(arms) {
  const withSidecars = arms.filter(arm => arm.sidecars.length > 0)
  return withSidecars.length > 0 ? withSidecars : arms
}

/**
 * Tabulates each quantity and plane that has a value, with a column for each value of the axis `across`, or one column
 * without such an axis. The last rows say what bound the planes.
 * @param {SummaryArm[]} arms
 * @param {Shows} shows
 * @returns {Pick<Table, 'columns' | 'rows'>}
 * @throws {BenchError} if an arm is of a kind that this version of the kit does not have
 */
function tabulatePivot(arms, { across, quantities }) {
  const readAcross = (/** @type {SummaryArm} */ arm) => (across === null ? null : AXES[across].readValue(arm))
  const values = [...new Set(chooseArmsOnAllAxes(arms).map(readAcross))]
  const planes = [...groupBy(arms, renderArmName)].map(([name, planeArms]) => {
    // An axis of sidecars does not change an arm without them: every column has its value.
    const baseline = planeArms.length === 1 && !planeArms[0].hasSidecars ? planeArms[0] : undefined
    const columnArms = values.map(value => planeArms.find(arm => readAcross(arm) === value) ?? baseline)
    return { name, services: listServicesWithRows(planeArms), columnArms }
  })
  return {
    columns: [
      ...alignLeft(across === null ? '' : AXES[across].label),
      ...alignRight(...values.map(value => `${value ?? ''}`)),
    ],
    rows: [
      ...quantities.flatMap(quantity => planes.flatMap(plane => createQuantityRows(plane, quantity))),
      ...planes.flatMap(createBoundRow),
    ],
  }
}

/**
 * Creates the row of a quantity of a plane; of QUANTITY_OF_SIDECARS also one for each of several services.
 * @param {PivotPlane} plane
 * @param {string} quantity
 * @returns {string[][]} without rows that have no value
 */
function createQuantityRows({ name, services, columnArms }, quantity) {
  const listedServices = quantity === QUANTITY_OF_SIDECARS && services.length > 1 ? services : []
  return [null, ...listedServices].flatMap(service => {
    const cells = columnArms.map(arm => renderPivotCell(arm, quantity, service))
    const label = `${QUANTITIES[quantity].label}, ${name}${service === null ? '' : `: ${service}`}`
    return cells.some(cell => cell !== '-') ? [[label, ...cells]] : []
  })
}

/**
 * Renders the median of a quantity, with the interval below it if it has one.
 * @param {SummaryArm | undefined} arm
 * @param {string} quantity
 * @param {string | null} service null: all sidecars together
 * @returns {string} `-` without an arm or a value
 */
function renderPivotCell(arm, quantity, service) {
  if (arm === undefined) return '-'
  const { median, low, high } = findQuantity(arm, quantity, service)
  if (median === null) return '-'
  const format = (/** @type {number} */ value) => formatValue(QUANTITIES[quantity], value)
  return low === null || high === null ? format(median) : `${format(median)}\n[${format(low)}, ${format(high)}]`
}

/**
 * Creates the row of what bound a plane in each column.
 * @param {PivotPlane} plane
 * @returns {string[][]} one row; [] if nothing did in any column
 * @throws {BenchError} if an arm is of a kind that this version of the kit does not have
 */
function createBoundRow({ name, columnArms }) {
  const cells = columnArms.map(renderBound)
  return cells.some(cell => cell !== '-') ? [[`bound by, ${name}`, ...cells]] : []
}

/**
 * Renders what bound an arm, or that it was `not measured`, `failed` (without a completed trial) or `idle`.
 * @param {SummaryArm | undefined} arm undefined: the plane has none in the column
 * @returns {string} `-` if nothing bound it
 * @throws {BenchError} if the arm is of a kind that this version of the kit does not have
 */
function renderBound(arm) {
  if (arm === undefined) return 'not measured'
  const { completed, failed } = arm.trials
  if (completed === 0 && failed > 0) return 'failed'
  const boundBy = findSections(arm).renderBound?.(arm) ?? arm.boundBy
  return boundBy ?? (arm.load.kind === 'idle' ? 'idle' : '-')
}

/**
 * Lists the services whose sidecars may get a row each, without copies of services.
 * @param {SummaryArm[]} arms
 * @returns {string[]} [] if no service has a sidecar, or more than SIDECARS_MOST have one
 */
function listServicesWithRows(arms) {
  const originals = arms.flatMap(arm => arm.sidecars.filter(sidecar => sidecar.copyOf === null))
  const services = [...new Set(originals.map(({ service }) => service))]
  return services.length <= SIDECARS_MOST ? services : []
}
