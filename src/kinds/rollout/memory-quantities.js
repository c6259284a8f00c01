import { listSidecars, sumValues } from '../../judge/record/measures.js'
import { createRowFactory } from '../../judge/record/quantity-row.js'
import { MIB } from '../../lib/units.js'
import { listByRole } from '../../model/process-records.js'

/** Quantities of the memory that sidecars and control plane take for services which a change adds and another removes. Pure. */
/** @import { QuantityRow } from '../../judge/record/quantity-row.js' */

const group = 'rollout'
export const createKilobytesRow = createRowFactory({ group, unit: 'kB', scale: 1000, digits: 1, use: 'memory' })
export const createMebibytesRow = createRowFactory({ group, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })
export const createShareRow = createRowFactory({ group, unit: '%', scale: 0.01, digits: 0, use: 'memory' })

/** @type {QuantityRow[]} */
export const SERVICES_MEMORY_ROWS = [
  {
    ...createMebibytesRow('sidecarTold', 'a sidecar with them, anon MiB', 'sidecarToldBytes'),
    definition: 'Anonymous memory of all sidecars two seconds after a change told them of services, over their number.',
    measure({ record: { rollout } }) {
      const bytes = rollout?.withdrawal?.sidecarBytes.told ?? null
      return rollout && bytes !== null ? bytes / rollout.sidecars : null
    },
  },
  {
    ...createKilobytesRow('toldPerService', 'kB a service told of', 'toldPerServiceBytes'),
    definition:
      'Anonymous memory of a sidecar when a change has told it of services, minus that before, over the number of services.',
    measure: createWithdrawalMeasure(
      ({ before, told }, { sidecars, services }) => (told - before) / sidecars / services,
    ),
  },
  {
    ...createShareRow('keptOfServices', 'kept when they are gone', 'keptOfServicesFraction'),
    definition:
      'The part of the memory for services that sidecars still have at the end of the window, when the services were taken away.',
    measure: createWithdrawalMeasure(({ before, told, after }) => (after - before) / (told - before)),
  },
  {
    ...createShareRow('toldAgain', 'when told again', 'toldAgainFraction'),
    definition:
      'The memory for services when sidecars are told of them again, after they were taken away, as a share of that of the first time.',
    measure: createWithdrawalMeasure(({ before, told, toldAgain }) => (toldAgain - before) / (told - before)),
  },
  {
    ...createKilobytesRow('controlPerService', 'control kB a service', 'controlPerServiceBytes'),
    definition:
      'Anonymous memory of the control plane when all sidecars know of the services, minus that before, over the number of services and of sidecars.',
    measure: createWithdrawalMeasure(
      ({ before, told }, { sidecars, services }) => (told - before) / sidecars / services,
      'control',
    ),
  },
  {
    ...createShareRow('controlKept', 'control: kept when gone', 'controlKeptFraction'),
    definition:
      'The part of the memory for services that the control plane still has at the end of the window, when the services were taken away.',
    measure: createWithdrawalMeasure(({ before, told, after }) => (after - before) / (told - before), 'control'),
  },
]

/**
 * Creates a measure of anonymous memory: before the services were added, with them, with them a second time, and
 * without them at the end of the window.
 * @param {(bytes: Record<'before' | 'told' | 'toldAgain' | 'after', number>, counts: { sidecars: number, services:
 *   number }) => number} compute computes the value from bytes
 * @param {'sidecars' | 'control'} [holder] of the memory; by default the sidecars
 * @returns {QuantityRow['measure']} it gives null without a withdrawal, if one of the four was not read, or if memory
 *   did not grow with the services
 */
function createWithdrawalMeasure(compute, holder = 'sidecars') {
  return ({ record }) => {
    const { withdrawal, sidecars = 0 } = record.rollout ?? {}
    if (!withdrawal) return null
    const isControl = holder === 'control'
    const processes = isControl ? listByRole(record.processes, 'control') : listSidecars(record)
    const after = sumValues(processes, p => p.memory.anonBytes)
    const { before, told, toldAgain } = isControl ? withdrawal.controlBytes : withdrawal.sidecarBytes
    const hasGrown = before !== null && told !== null && told > before
    if (!hasGrown || toldAgain === null || after === null) return null
    const services = record.trial.arm.conditions.configuredServices
    return compute({ before, told, toldAgain, after }, { sidecars, services })
  }
}
