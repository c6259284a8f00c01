import { rowsOf } from '../../judge/measures.js'
import { MIB } from '../../lib/units.js'
import { hasHeld } from './numbers.js'

/** Quantities of a control plane that is given more sidecars step by step. Pure. */
/** @import { TrialRecord } from '../../model/types.ts' @import { QuantityRow } from '../../judge/quantities.js' */

const group = 'growth'
const mebibytes = rowsOf({ group, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })
const kilobytes = rowsOf({ group, unit: 'kB', scale: 1000, digits: 1, use: 'memory' })

/** @type {QuantityRow[]} */
export const GROWTH_ROWS = [
  {
    ...rowsOf({ group, unit: 'sidecars', digits: 0, use: 'memory' })('grownSidecars', 'sidecars that held'),
    definition:
      'The number of sidecars up to which every step held: each sidecar serves, and each client has seen every backend. Where nothing failed, it is the number asked for, and not a limit.',
    measure: of(({ sidecars }) => sidecars),
  },
  {
    ...rowsOf({ group, unit: 's', digits: 2, use: 'latency' })('grownStepSeconds', 'last step s'),
    definition:
      'The time of the last step that held: from the first of its sidecars made known to the control plane until all serve and each client has seen every backend.',
    measure: of(({ steps }) => steps.findLast(hasHeld)?.seconds ?? null),
  },
  {
    ...kilobytes('grownPerSidecar', 'control kB a sidecar', 'grownBytesPerSidecar'),
    definition:
      "In grow: the slope of the control plane's anonymous memory over the number of sidecars, by the steps that held.",
    measure: of(({ bytesPerSidecar }) => bytesPerSidecar),
  },
  {
    ...mebibytes('grownPeak', 'control MiB, peak', 'grownPeakBytes'),
    definition: 'The most anonymous memory of the control plane, read ten times a second.',
    measure: of(({ controlAnonBytes }) => controlAnonBytes.peak),
  },
  {
    ...rowsOf({ group, unit: 'cores', digits: 2, use: 'cpuPerRequest' })('grownPeakCores', 'control cores, peak'),
    definition: 'The most CPU of the control plane in any second.',
    measure: of(({ controlPeakCores }) => controlPeakCores),
  },
]

/** @param {(numbers: NonNullable<TrialRecord['growth']>) => number | null} find @returns {QuantityRow['measure']} */
function of(find) {
  return ({ record }) => (record.growth ? find(record.growth) : null)
}
