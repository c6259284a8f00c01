import { summariseValues } from '../lib/stats.js'
import { valueOfRound } from './measures.js'
import { QUANTITIES } from './quantities.js'

/** Functions of any quantity of the table. Pure. @import { QuantityRow, Seen } from './quantities.js' */
/** @import { Load, Quantity, SummaryArm, TrialRecord } from '../model/types.ts' */

/** Lists the quantities in which arms are compared. @param {Load['kind'][]} [kinds] absent: under any load */
export function listCompared(kinds) {
  return Object.values(QUANTITIES).flatMap(({ compared, ...row }) =>
    compared?.kinds.some(kind => kinds?.includes(kind) ?? true) ? [{ ...row, compared }] : [],
  )
}

/** @param {Pick<QuantityRow, 'use' | 'useOfClosed'>} row @param {Pick<Load, 'kind'>} load */
export function useOf({ use, useOfClosed = use }, { kind }) {
  return kind === 'closed' ? useOfClosed : use
}

/**
 * The value of a round, from the first good trial of an arm.
 * @param {QuantityRow} row @param {TrialRecord[]} trials @param {Omit<Seen, 'record'>} [beside]
 */
export function measureRound(row, trials, beside = {}) {
  if (trials.length === 0) return null
  const use = useOf(row, trials[0].trial.arm.load)
  return valueOfRound(trials, use, record => row.measure({ record, ...beside }))
}

/**
 * A quantity of an arm, or of one service's sidecar, in a summary; no values where there are none.
 * @param {SummaryArm} arm @param {string} name @param {string | null} [service] @returns {Quantity}
 */
export function quantityOf(arm, name, service = null) {
  const row = QUANTITIES[name]
  /** @type {any} */
  const whole = service === null ? arm : arm.sidecars.find(sidecar => sidecar.service === service)
  const group = groupOf(row, arm.load)
  const members = group === undefined ? whole : group === null ? null : whole?.[group]
  return members?.[row.key ?? row.header] ?? summariseValues([])
}

/** Nests quantities like summary.json. @param {Record<string, Quantity>} quantities @param {Pick<Load, 'kind'>} load */
export function nestQuantities(quantities, load) {
  /** @type {Record<string, any>} */
  const nested = {}
  for (const row of Object.values(QUANTITIES)) {
    const quantity = quantities[row.header]
    const group = groupOf(row, load)
    if (quantity === undefined || group === null) continue
    if (row.isSparse && quantity.values.every(value => value === null)) continue
    if (group === undefined) nested[row.header] = quantity
    else nested[group] = { ...nested[group], [row.key ?? row.header]: quantity }
  }
  return nested
}

/** Finds the object that holds a quantity in a summary; null: not under such a load; undefined: at the top. @param {QuantityRow} row @param {Pick<Load, 'kind'>} load */
function groupOf({ group }, { kind }) {
  return typeof group === 'object' ? (group[kind] ?? null) : group
}

/** Formats a value, with no unit but `%`. @param {Pick<QuantityRow, 'unit' | 'scale' | 'digits'>} row @param {number} value */
export function formatValue({ unit, scale = 1, digits }, value) {
  return `${(value / scale).toFixed(digits)}${unit === '%' ? ' %' : ''}`
}
