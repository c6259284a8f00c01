import { listFeatures } from '../model/features.js'
import { checkAccessLog } from './access-log.js'
import { checkRewrite, checkTrace } from './headers.js'
import { checkEjection } from './outliers.js'
import { checkAuthorization, checkBreaker, checkRateLimit, checkRetryBudget } from './refusals.js'
import { checkMetrics } from './route-metrics.js'

/** Checks whether the sidecars of a plane do the work of their features, beyond routing and mTLS. */
/** @import { FeatureName } from '../model/types.ts' */
/** @import { ProbedRow } from './beside/probe.js' */
/** @import { Rig } from './rig.js' */

/** Each check lists what differs. @type {Record<FeatureName, (rig: Rig) => Promise<string[]>>} */
const CHECKS = {
  'access-log': checkAccessLog,
  authorization: checkAuthorization,
  'rate-limit': checkRateLimit,
  metrics: checkMetrics,
  'trace-headers': checkTrace,
  'header-rewrite': checkRewrite,
  'circuit-breaker': checkBreaker,
  'retry-budget': checkRetryBudget,
  'outlier-ejection': checkEjection,
}

/**
 * Runs the checks of all features of a rig at the same time.
 * @param {Rig} rig
 * @returns {Promise<ProbedRow[]>} one row; []: the sidecars have no features
 * @throws the error of the first check that fails
 */
export async function probeFeatures(rig) {
  const names = listFeatures(rig.measured.features)
  if (names.length === 0) return []
  // Checks run at the same time, as some wait for seconds; each has a path or a host of its own.
  const results = await Promise.all(names.map(name => CHECKS[name](rig)))
  const differences = names.flatMap((name, i) => results[i].map(difference => `${name}: ${difference}`))
  const expected = names.join(', ')
  const summary = differences.length === 0 ? expected : `${differences.length} differences of ${expected}`
  return [{ name: 'parity-features', found: summary, expected, differences }]
}
