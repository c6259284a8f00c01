import { MIB } from '../../lib/units.js'
import { hasHeld } from './numbers.js'

/** Quantities of a control plane that is given more sidecars step by step. Pure. */
/** @import { TrialRecord } from '../../model/types.ts' */
/** @import { QuantityRow } from '../../judge/quantities.js' */

const OF_IT = { group: 'growth', isSparse: true }
const MEBIBYTES = /** @type {const} */ ({ ...OF_IT, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })

/** @type {QuantityRow[]} */
export const GROWTH_ROWS = [
  {
    ...{ name: 'grownSidecars', header: 'grownSidecars', label: 'sidecars that held', ...OF_IT },
    ...{ unit: 'sidecars', digits: 0, use: 'memory' },
    definition:
      'The number of sidecars up to which every step held: each sidecar serves, and each client has seen every backend. Where nothing failed, it is the number asked for, and not a limit.',
    measure: of(({ sidecars }) => sidecars),
  },
  {
    ...{ name: 'grownStepSeconds', header: 'grownStepSeconds', label: 'last step s', ...OF_IT },
    ...{ unit: 's', digits: 2, use: 'latency' },
    definition:
      'The time of the last step that held: from the first of its sidecars made known to the control plane until all serve and each client has seen every backend.',
    measure: of(({ steps }) => steps.findLast(hasHeld)?.seconds ?? null),
  },
  {
    ...{ name: 'grownPerSidecar', header: 'grownBytesPerSidecar', label: 'control kB a sidecar', ...MEBIBYTES },
    ...{ unit: 'kB', scale: 1000 },
    definition:
      "In grow: the slope of the control plane's anonymous memory over the number of sidecars, by the steps that held.",
    measure: of(({ bytesPerSidecar }) => bytesPerSidecar),
  },
  {
    ...{ name: 'grownPeak', header: 'grownPeakBytes', label: 'control MiB, peak', ...MEBIBYTES },
    definition: 'The most anonymous memory of the control plane, read ten times a second.',
    measure: of(({ controlAnonBytes }) => controlAnonBytes.peak),
  },
  {
    ...{ name: 'grownPeakCores', header: 'grownPeakCores', label: 'control cores, peak', ...OF_IT },
    ...{ unit: 'cores', digits: 2, use: 'cpuPerRequest' },
    definition: 'The most CPU of the control plane in any second.',
    measure: of(({ controlPeakCores }) => controlPeakCores),
  },
]

/** @param {(numbers: NonNullable<TrialRecord['growth']>) => number | null} find @returns {QuantityRow['measure']} */
function of(find) {
  return ({ record }) => (record.growth ? find(record.growth) : null)
}
