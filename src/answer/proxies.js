import { formatValue, PRIMARY, QUANTITIES, quantityOf, SHOWN_BY_DEFAULT } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { describeAxes, findVaried, groupOf, nameOf } from '../model/arms.js'
import { renderChange, renderRatio } from './pairs.js'
import { dropEmpty } from './picture.js'

/**
 * Pictures of what was measured of each proxy: a row for each where they differ in nothing else, and of an experiment
 * that varies an axis a row for each of its values. Pure.
 * @import { AxisName, Comparison, Summary, SummaryArm } from '../model/types.ts'
 * @import { Cell, Column, Picture } from './picture.js'
 */

/** Names that head a column; others have their label. @type {Record<string, string>} */
const HEADINGS = { cpuPerRequest: 'CPU per request', rss: 'memory', cpuCores: 'CPU' }
/** Units behind a value; others stand in the heading. */
const BEHIND = ['µs', 'MiB', 'ms', '%', 's']
/** Columns that stand beside each other in 100 columns of text. */
const COLUMNS_MOST = 6
/** Quantiles of a closed loop follow from its rate: no latencies. */
const TIMES = ['p50', 'p90', 'p95', 'p99', 'p999']

/**
 * Draws the quantities of proxies.
 * @param {{ arms: SummaryArm[], comparisons: Comparison[], quantities: string[], primary?: string,
 *   columns?: { column: Column, cellOf: (arm: SummaryArm) => Cell | null }[] }} options columns: further ones of a row for
 *   each proxy @returns {Picture[]}
 */
export function drawProxies({ arms: all, comparisons, quantities, primary = PRIMARY.name, columns = [] }) {
  const arms = all.filter(arm => arm.repeatOf === null && arm.trials.completed > 0)
  const names = quantities.filter(name => arms.some(arm => isInformative(arm, name)))
  const pairs = comparisons.filter(c => c.quantity === primary && c.service === null && !c.isControl)
  const varied = findVaried(arms)
  const picture = varied.length === 0 ? drawRows(arms, pairs, names, columns) : drawPoints(arms, pairs, names, varied)
  return picture.rows.length === 0 || picture.columns.length === 0 ? [] : [picture]
}

/** Says whether a quantity of an arm answers something. @param {SummaryArm} arm @param {string} name */
function isInformative(arm, name) {
  if (arm.load.kind === 'closed' && TIMES.includes(name)) return false
  // The rate of a proxy in its own turns says nothing of what it delivers.
  if (arm.load.kind === 'interleaved' && name === 'throughput') return false
  return quantityOf(arm, name).median !== null
}

/**
 * Draws a row for each proxy. @param {SummaryArm[]} arms @param {Comparison[]} pairs @param {string[]} names
 * @param {NonNullable<Parameters<typeof drawProxies>[0]['columns']>} further @returns {Picture}
 */
function drawRows(arms, pairs, names, further) {
  const first = arms.find(arm => arm.hasSidecars)
  const against = pairs.filter(c => c.contrast === null && first && c.a === nameOf(first))
  const isMany = against.length > 1
  const ratioOf = (/** @type {SummaryArm} */ arm) => {
    const comparison = against.find(({ b }) => b === nameOf(arm))
    if (arm === first) return { text: '1' }
    return comparison ? renderRatio(comparison) : null
  }
  /** @type {{ column: Column, cellOf: (arm: SummaryArm) => Cell | null }[]} */
  const columns = names.flatMap((name, i) => [
    {
      column: { heading: headingOf(name), ...(i === 0 && { isBar: /** @type {const} */ (true) }) },
      cellOf: arm => renderQuantity(arm, name),
    },
    ...(i === 0 && isMany ? [{ column: { heading: `against ${against[0].a}` }, cellOf: ratioOf }] : []),
  ])
  const whole = [...columns, ...further]
  return dropEmpty({
    isOfProxies: true,
    columns: whole.map(({ column }) => column),
    rows: arms.map(arm => ({
      label: nameOf(arm),
      ...(!arm.hasSidecars && { isBaseline: /** @type {const} */ (true) }),
      cells: whole.map(({ cellOf }) => cellOf(arm)),
    })),
  })
}

/**
 * Draws a row for each point of the axes that vary, with a column for each quantity and proxy.
 * @param {SummaryArm[]} arms @param {Comparison[]} pairs @param {string[]} names @param {AxisName[]} varied
 * @returns {Picture}
 */
function drawPoints(arms, pairs, names, varied) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const points = [...groupBy(withSidecars.length > 0 ? withSidecars : arms, arm => describeAxes(arm, varied)).values()]
  const proxies = [...new Set(arms.map(nameOf))]
  const [first, second] = [...new Set(withSidecars.map(nameOf))]
  const isPair = second !== undefined && new Set(withSidecars.map(nameOf)).size === 2
  const columns = names.slice(0, Math.max(1, Math.floor((COLUMNS_MOST - (isPair ? 1 : 0)) / proxies.length)))
  // Arms without sidecars do not differ in an axis of sidecars: each point has their value.
  const findArm = (/** @type {string} */ proxy, /** @type {SummaryArm[]} */ point) => {
    const ofProxy = arms.filter(arm => nameOf(arm) === proxy)
    return (
      point.find(arm => nameOf(arm) === proxy) ?? (ofProxy.length === 1 && !ofProxy[0].hasSidecars ? ofProxy[0] : null)
    )
  }
  const cells = columns.flatMap((name, i) => [
    ...proxies.map(proxy => ({
      column: { group: headingOf(name), heading: proxy },
      cellOf: (/** @type {SummaryArm[]} */ point) => {
        const arm = findArm(proxy, point)
        const cell = arm && renderQuantity(arm, name)
        const change = arm && i === 0 ? findChange(arm, pairs) : ''
        return cell && change ? { ...cell, text: `${cell.text} ${change}` } : cell
      },
    })),
    ...(i === 0 && isPair
      ? [
          {
            column: { group: '', heading: `${second} / ${first}` },
            cellOf: (/** @type {SummaryArm[]} */ point) => {
              const comparison = pairs.find(
                c => c.contrast === null && c.a === first && c.b === second && groupOf(c) === groupOf(point[0]),
              )
              return comparison ? renderRatio(comparison) : null
            },
          },
        ]
      : []),
  ])
  return dropEmpty({
    columns: cells.map(({ column }) => column),
    rows: points.map(point => ({
      label: describeAxes(point[0], varied),
      cells: cells.map(({ cellOf }) => cellOf(point)),
    })),
  })
}

/** Finds how far an arm is from the first of the contrast, in words. @param {SummaryArm} arm @param {Comparison[]} pairs */
function findChange(arm, pairs) {
  const comparison = pairs.find(
    ({ contrast, ...c }) =>
      contrast !== null &&
      c.a === `${nameOf(arm)} with ${describeAxes(arm, [contrast])}` &&
      groupOf(c) === groupOf(arm),
  )
  return comparison ? renderChange(comparison) : ''
}

/** @param {string} name of a quantity */
export function headingOf(name) {
  const { label, unit } = QUANTITIES[name]
  if (HEADINGS[name]) return HEADINGS[name]
  return BEHIND.includes(unit) ? label.replace(new RegExp(`,? ${unit}(?= |$)`), '') : label
}

/** Renders a value with its unit. @param {SummaryArm} arm @param {string} name of a quantity @returns {Cell | null} */
export function renderQuantity(arm, name) {
  if (!isInformative(arm, name)) return null
  const { median, low, high } = quantityOf(arm, name)
  const row = QUANTITIES[name]
  const { scale = 1 } = row
  const digits = name === 'rss' && Number(median) / scale >= 10 ? 0 : row.digits
  const unit = BEHIND.includes(row.unit) && row.unit !== '%' ? ` ${row.unit}` : ''
  const inUnit = (/** @type {number | null} */ value) => (value === null ? null : value / scale)
  return {
    text: `${formatValue({ ...row, digits }, Number(median))}${unit}`,
    value: inUnit(median),
    low: inUnit(low),
    high: inUnit(high),
  }
}

/** Says whether an experiment names the quantities that answer its question. @param {Pick<Summary, 'shows'>} summary */
export function choosesQuantities({ shows: { quantities } }) {
  return quantities.length > 0 && quantities.join() !== SHOWN_BY_DEFAULT.join()
}

/**
 * Picks the quantities that an experiment shows, the primary one first, or else the usual ones.
 * @param {Pick<Summary, 'shows'>} summary @param {string[]} usual
 */
export function chooseQuantities(summary, usual) {
  if (!choosesQuantities(summary)) return usual
  const { quantities } = summary.shows
  return quantities.includes(usual[0]) ? [usual[0], ...quantities.filter(name => name !== usual[0])] : quantities
}
