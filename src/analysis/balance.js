import { summariseValues } from '../lib/stats.js'
import { BALANCE_QUANTITIES } from '../model/balance.js'
import { SCHEMA_VERSION } from '../model/versions.js'

/** Assignments of many seeds as a summary. Pure. */
/** @import { BalanceManifest, BalanceRow, BalanceSummary, BalanceTrial } from '../model/types.ts' */

/** @param {{ manifest: BalanceManifest, trials: BalanceTrial[] }} run @returns {BalanceSummary} */
export function summariseBalance({ manifest: { run, question, form }, trials }) {
  const rows = form.sizes.flatMap(sizes =>
    form.algorithms.map(algorithm => {
      const own = trials.filter(trial => trial.algorithm === algorithm && trial.sizes === sizes)
      const quantities = Object.entries(BALANCE_QUANTITIES).map(([name, { of }]) => [
        name,
        summariseValues(own.map(of)),
      ])
      return { algorithm, sizes, quantities: /** @type {BalanceRow['quantities']} */ (Object.fromEntries(quantities)) }
    }),
  )
  return { schemaVersion: SCHEMA_VERSION, kind: 'balance', run, question, form, rows }
}
