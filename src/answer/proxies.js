import { findQuantity, formatValue, PRIMARY, QUANTITIES, SHOWN_BY_DEFAULT } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { createGroupKey, listVariedAxes, renderArmName, renderAxes } from '../model/arms.js'
import { renderChange, renderRatio } from './pair.js'
import { dropEmptyRowsAndColumns } from './picture.js'

/**
 * Pictures of the quantities of proxies. If arms differ in nothing else, each proxy has a row; if an experiment varies axes,
 * each point of the axes has a row, and each proxy a column. Pure.
 * @import { AxisName, Comparison, Summary, SummaryArm } from '../model/types.ts'
 * @import { Cell, Column, Picture } from './picture.js'
 */

/** Headings of columns that are not the label of their quantity. @type {Record<string, string>} */
const HEADINGS = { cpuPerRequest: 'CPU per request', rss: 'memory', cpuCores: 'CPU' }
/** Units that stand behind each value; all others stay in the heading. */
const VALUE_UNITS = ['µs', 'MiB', 'ms', '%', 's']
/** More columns do not fit beside each other on a terminal of 100 columns. */
const COLUMNS_MOST = 6
/** Quantiles that are not drawn of a closed loop: there they follow from its rate, and are no latencies. */
const QUANTILE_NAMES = ['p50', 'p90', 'p95', 'p99', 'p999']

/**
 * The arms to draw, and what to draw of them.
 * @typedef {object} ProxyOptions
 * @property {SummaryArm[]} arms
 * @property {Comparison[]} comparisons []: no ratios and changes are drawn
 * @property {string[]} quantities names, in the order of the columns
 * @property {string} [primary] whose ratios are drawn, too; by default CPU per request
 * @property {ArmColumn[]} [columns] further ones, if each proxy has a row
 */
/**
 * A column of a picture in which each arm has a row.
 * @typedef {{ column: Column, drawCell: (arm: SummaryArm) => Cell | null }} ArmColumn
 */
/**
 * A column of a picture in which each point of the axes has a row.
 * @typedef {{ column: Column, drawCell: (point: SummaryArm[]) => Cell | null }} PointColumn point: its arms, one for each proxy
 */

/**
 * Draws the quantities of proxies: a row for each proxy, or for each point of the axes that vary. A/A arms, arms without a
 * completed trial, and quantities that mean nothing under the load are left out.
 * @param {ProxyOptions} options
 * @returns {Picture[]} one picture; []: no arm has a value
 */
export function drawProxies({ arms: allArms, comparisons, quantities, primary = PRIMARY.name, columns = [] }) {
  const arms = allArms.filter(arm => arm.repeatOf === null && arm.trials.completed > 0)
  const names = quantities.filter(name => arms.some(arm => isInformative(arm, name)))
  const pairs = comparisons.filter(c => c.quantity === primary && c.service === null && !c.isControl)
  const picture = hasAxisPoints(arms)
    ? drawPointRows({ arms, pairs, primary, names, varied: listVariedAxes(arms) })
    : drawProxyRows(arms, pairs, { names, primary, furtherColumns: columns })
  return picture.rows.length === 0 || picture.columns.length === 0 ? [] : [picture]
}

/**
 * Says whether arms differ in more than their proxies: an axis varies, and a proxy has several arms. An axis in which each proxy
 * has one value does not count: `none` has no workers, and Linkerd's proxy has one.
 * @param {SummaryArm[]} arms without A/A arms
 * @returns {boolean}
 */
export function hasAxisPoints(arms) {
  return listVariedAxes(arms).length > 0 && new Set(arms.map(renderArmName)).size < arms.length
}

/**
 * Says whether an arm has a value of a quantity, and the value means something under its load.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 */
function isInformative(arm, name) {
  if (arm.load.kind === 'closed' && QUANTILE_NAMES.includes(name)) return false
  // The rate in a proxy's own turns does not show its throughput.
  if (arm.load.kind === 'interleaved' && name === 'throughput') return false
  return findQuantity(arm, name).median !== null
}

/**
 * Draws a row for each proxy; the first quantity is drawn as bars. If at least two others were compared with the first proxy that
 * has sidecars, a column of their ratios to it follows the primary quantity. Columns and rows without a value are left out.
 * @param {SummaryArm[]} arms
 * @param {Comparison[]} pairs of the primary quantity
 * @param {{ names: string[], primary: string, furtherColumns: ArmColumn[] }} options names: of quantities; furtherColumns: after
 *   those of the quantities
 * @returns {Picture}
 */
function drawProxyRows(arms, pairs, { names, primary, furtherColumns }) {
  const first = arms.find(arm => arm.hasSidecars)
  const against = pairs.filter(c => c.contrast === null && first && c.a === renderArmName(first))
  const isMany = against.length > 1
  const drawArmRatio = (/** @type {SummaryArm} */ arm) => {
    const comparison = against.find(({ b }) => b === renderArmName(arm))
    if (arm === first) return { text: '1' }
    return comparison ? renderRatio(comparison) : null
  }
  const sumNote = renderSidecarsOfSum(arms.filter(arm => arm.hasSidecars))
  /** @type {ArmColumn[]} */
  const columns = names.flatMap((name, i) => [
    {
      column: {
        heading: `${renderQuantityHeading(name)}${name === 'rss' ? sumNote : ''}`,
        ...(i === 0 && { isBar: /** @type {const} */ (true) }),
      },
      drawCell: arm => drawQuantityCell(arm, name),
    },
    ...(name === primary && isMany ? [{ column: { heading: `against ${against[0].a}` }, drawCell: drawArmRatio }] : []),
  ])
  const allColumns = [...columns, ...furtherColumns]
  return dropEmptyRowsAndColumns({
    isOfProxies: true,
    columns: allColumns.map(({ column }) => column),
    rows: arms.map(arm => ({
      label: renderArmName(arm),
      ...(!arm.hasSidecars && { isBaseline: /** @type {const} */ (true) }),
      cells: allColumns.map(({ drawCell }) => drawCell(arm)),
    })),
  })
}

/**
 * Renders of how many sidecars a value is the sum.
 * @param {SummaryArm[]} arms
 * @returns {string} ` of both` or ` of all 3`; empty: of one, or their number differs or is not known
 */
function renderSidecarsOfSum(arms) {
  const counts = new Set(arms.map(({ sidecars }) => sidecars.length))
  const [count] = counts
  if (counts.size !== 1 || count < 2) return ''
  return count === 2 ? ' of both' : ` of all ${count}`
}

/**
 * Draws a row for each point of the axes that vary, with a column for each quantity and proxy. Two proxies with sidecars get a
 * column with their ratio, too. Quantities beyond COLUMNS_MOST columns are left out, but for the first; so are columns and rows
 * without a value. Arms without sidecars have points of their own only if no arm has sidecars.
 * @param {object} options
 * @param {SummaryArm[]} options.arms
 * @param {Comparison[]} options.pairs of the primary quantity, whose columns show them
 * @param {string} options.primary the name of that quantity
 * @param {string[]} options.names of quantities
 * @param {AxisName[]} options.varied the axes that vary
 * @returns {Picture}
 */
function drawPointRows({ arms, pairs, primary, names, varied }) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const points = [...groupBy(withSidecars.length > 0 ? withSidecars : arms, arm => renderAxes(arm, varied)).values()]
  const proxies = [...new Set(arms.map(renderArmName))]
  const compared = [...new Set(withSidecars.map(renderArmName))]
  const ratioColumns = compared.length === 2 ? [createRatioColumn(compared, pairs)] : []
  const quantitiesMost = Math.max(1, Math.floor((COLUMNS_MOST - ratioColumns.length) / proxies.length))
  const columns = names.slice(0, quantitiesMost).flatMap(name => {
    const isPrimary = name === primary
    const contrasts = isPrimary ? pairs : []
    const proxyColumns = proxies.map(proxy => createProxyColumn(name, { proxy, arms, contrasts }))
    return isPrimary ? [...proxyColumns, ...ratioColumns] : proxyColumns
  })
  return dropEmptyRowsAndColumns({
    columns: columns.map(({ column }) => column),
    rows: points.map(point => ({
      label: renderAxes(point[0], varied),
      cells: columns.map(({ drawCell }) => drawCell(point)),
    })),
  })
}

/**
 * Creates the column of one proxy in a quantity, with its change against the first value of a contrast.
 * @param {string} name of the quantity
 * @param {{ proxy: string, arms: SummaryArm[], contrasts: Comparison[] }} options arms: of all points and proxies; contrasts: []: the
 *   column has no changes
 * @returns {PointColumn} a cell is null if the proxy was not measured at the point, or the quantity has no value there that means
 *   something
 */
function createProxyColumn(name, { proxy, arms, contrasts }) {
  const ofProxy = arms.filter(arm => renderArmName(arm) === proxy)
  // An arm without sidecars has no value on an axis of sidecars: the only one of its name stands at each point.
  const sharedArm = ofProxy.length === 1 && !ofProxy[0].hasSidecars ? ofProxy[0] : null
  return {
    column: { group: renderQuantityHeading(name), heading: proxy },
    drawCell: point => {
      const arm = point.find(pointArm => renderArmName(pointArm) === proxy) ?? sharedArm
      const cell = arm && drawQuantityCell(arm, name)
      const change = arm && renderArmChange(arm, contrasts)
      return cell && change ? { ...cell, text: `${cell.text} ${change}` } : cell
    },
  }
}

/**
 * Creates the column of the ratio of two proxies, the second to the first.
 * @param {string[]} proxies two names
 * @param {Comparison[]} pairs of the primary quantity
 * @returns {PointColumn} a cell is null if there is no verdict on the proxies at the point
 */
function createRatioColumn([first, second], pairs) {
  const ofBoth = pairs.filter(({ contrast, a, b }) => contrast === null && a === first && b === second)
  return {
    column: { group: '', heading: `${second} / ${first}` },
    drawCell: point => {
      const comparison = ofBoth.find(pair => createGroupKey(pair) === createGroupKey(point[0]))
      return comparison ? renderRatio(comparison) : null
    },
  }
}

/**
 * Renders the change of an arm against the first value of a contrast, such as `+35 %`.
 * @param {SummaryArm} arm
 * @param {Comparison[]} pairs of the primary quantity
 * @returns {string} empty: the arm is in no contrast, has its first value, or there is no verdict on it
 */
function renderArmChange(arm, pairs) {
  const comparison = pairs.find(pair => {
    const { contrast, a } = pair
    if (contrast === null || a !== `${renderArmName(arm)} with ${renderAxes(arm, [contrast])}`) return false
    return createGroupKey(pair) === createGroupKey(arm)
  })
  return comparison ? renderChange(comparison) : ''
}

/**
 * Renders the heading of a quantity's column, without a unit that stands behind each value.
 * @param {string} name of a quantity
 * @returns {string}
 */
export function renderQuantityHeading(name) {
  const { label, unit } = QUANTITIES[name]
  if (HEADINGS[name]) return HEADINGS[name]
  return VALUE_UNITS.includes(unit) ? label.replace(new RegExp(`,? ${unit}(?= |$)`), '') : label
}

/**
 * Draws the median of a quantity as a cell, with its unit unless the heading has it. Resident memory from 10 MiB on is whole.
 * @param {SummaryArm} arm
 * @param {string} name of a quantity
 * @returns {Cell | null} value, low and high: in the unit of the text; null: the arm has no value, or none that means
 *   something under its load
 */
export function drawQuantityCell(arm, name) {
  if (!isInformative(arm, name)) return null
  const { median, low, high } = findQuantity(arm, name)
  const row = QUANTITIES[name]
  const { scale = 1 } = row
  const digits = name === 'rss' && Number(median) / scale >= 10 ? 0 : row.digits
  const unit = VALUE_UNITS.includes(row.unit) && row.unit !== '%' ? ` ${row.unit}` : ''
  const scaleToUnit = (/** @type {number | null} */ value) => (value === null ? null : value / scale)
  return {
    text: `${formatValue({ ...row, digits }, Number(median))}${unit}`,
    value: scaleToUnit(median),
    low: scaleToUnit(low),
    high: scaleToUnit(high),
  }
}

/**
 * Says whether an experiment chooses its quantities: others than the default ones, or the same in another order.
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {boolean} false also: it chooses none
 */
export function hasChosenQuantities({ shows: { quantities } }) {
  return quantities.length > 0 && quantities.join() !== SHOWN_BY_DEFAULT.join()
}

/**
 * Chooses the quantities to draw: those that the experiment names, else the defaults of the kind. The first of the defaults comes
 * first if the experiment names it.
 * @param {Pick<Summary, 'shows'>} summary
 * @param {string[]} defaults names of quantities
 * @returns {string[]} names of quantities
 */
export function chooseQuantities(summary, defaults) {
  if (!hasChosenQuantities(summary)) return defaults
  const { quantities } = summary.shows
  const [first] = defaults
  return quantities.includes(first) ? [first, ...quantities.filter(name => name !== first)] : quantities
}
