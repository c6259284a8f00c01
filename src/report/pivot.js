import { QUANTITIES } from '../judge/quantities.js'
import { formatValue, quantityOf } from '../judge/quantity.js'
import { renderTextTable } from '../lib/text-table.js'
import { nameOf } from '../model/arms.js'
import { AXES, BASELINE_AXES, describeAxes, findVaried, isAlike } from '../model/axes.js'
import { left, right } from './columns.js'
import { listBoundOf } from './rollouts.js'

/**
 * Tables of an experiment about one axis: its values as columns, a row per quantity and plane. Pure.
 * @import { AxisName, Summary, SummaryArm } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 */

// This quantity is shown for each sidecar beside its sum.
const OF_EACH = 'cpuCores'
const SIDECARS_MOST = 3
const NOTHING = { median: null, low: null, high: null }

/** Renders the tables as lines for the terminal. @param {Pick<Summary, 'arms' | 'shows'>} summary */
export function renderPivots(summary) {
  return tabulatePivots(summary).map(table => [
    ...(table.caption ? [`${table.caption}:`] : []),
    ...renderTextTable(table),
  ])
}

/** Makes a table for each set of other axes. @param {Pick<Summary, 'arms' | 'shows'>} summary @returns {Table[]} */
export function tabulatePivots({ arms, shows }) {
  const own = arms.filter(arm => arm.repeatOf === null)
  const across = shows.across
  // Arms without sidecars lack some axes, which make no tables of their own.
  const varied = findVaried(own).filter(name => name !== across)
  const shared = varied.filter(name => BASELINE_AXES.includes(name))
  const withSidecars = own.filter(arm => arm.sidecars.length > 0)
  const keys = [...new Set((withSidecars.length > 0 ? withSidecars : own).map(arm => describeAxes(arm, varied)))]
  return keys.map(key => {
    const group = own.filter(arm => describeAxes(arm, varied) === key)
    const [first] = group
    const baselines = own.filter(arm => !arm.hasSidecars && !group.includes(arm) && isAlike(arm, first, shared))
    return { caption: key, ...tabulatePivot([...baselines, ...group], across, shows.quantities) }
  })
}

/** @param {SummaryArm[]} arms @param {AxisName | null} across null: one column @param {string[]} quantities */
function tabulatePivot(arms, across, quantities) {
  const valueAt = (/** @type {SummaryArm} */ arm) => (across === null ? null : AXES[across].of(arm))
  const values = [
    ...new Set(arms.filter(a => a.sidecars.length > 0 || arms.every(b => b.sidecars.length === 0)).map(valueAt)),
  ]
  const columns = [...left(across === null ? '' : AXES[across].label), ...right(...values.map(v => `${v ?? ''}`))]
  /** @type {Table['rows']} */
  const rows = []
  const planes = [...new Set(arms.map(nameOf))]
  // The one value of an arm without sidecars stands in every column, because an axis of sidecars does not change it.
  const find = (/** @type {string} */ plane, /** @type {unknown} */ value) => {
    const own = arms.filter(arm => nameOf(arm) === plane)
    return own.find(arm => valueAt(arm) === value) ?? (own.length === 1 && !own[0].hasSidecars ? own[0] : undefined)
  }
  for (const name of quantities) {
    const row = QUANTITIES[name]
    const show = (/** @type {number} */ value) => formatValue(row, value)
    for (const plane of planes) {
      const services = name === OF_EACH ? listServices(arms.filter(arm => nameOf(arm) === plane)) : []
      for (const service of services.length > 1 ? [null, ...services] : [null]) {
        const cells = values.map(value => {
          const arm = find(plane, value)
          const { median, low, high } = arm ? quantityOf(arm, name, service) : NOTHING
          if (median === null) return '-'
          return low === null || high === null ? show(median) : `${show(median)}\n[${show(low)}, ${show(high)}]`
        })
        if (cells.some(cell => cell !== '-'))
          rows.push([`${row.label}, ${plane}${service ? `: ${service}` : ''}`, ...cells])
      }
    }
  }
  for (const plane of planes) rows.push([`bound by, ${plane}`, ...values.map(value => boundOf(find(plane, value)))])
  return { columns, rows }
}

/** @param {SummaryArm | undefined} arm */
function boundOf(arm) {
  if (!arm) return 'not measured'
  const { completed, failed } = arm.trials
  if (completed === 0 && failed > 0) return 'failed'
  const phases = listBoundOf(arm)
  if (phases !== null && phases.length > 0) return `control: ${phases.join(', ')}`
  return arm.boundBy ?? (arm.load.kind === 'idle' ? 'idle' : '-')
}

/** Lists the sidecars without copies; none where they are too many to show. @param {SummaryArm[]} arms */
function listServices(arms) {
  const originals = arms.flatMap(arm => arm.sidecars.filter(s => s.copyOf === null))
  const names = [...new Set(originals.map(s => s.service))]
  return names.length <= SIDECARS_MOST ? names : []
}
