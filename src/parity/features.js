import { listFeatures } from '../model/features.js'
import { checkAccessLog } from './features/access-log.js'
import { checkHeaderRewrite, checkTraceHeaders } from './features/headers.js'
import { checkOutlierEjection } from './features/outlier-ejection.js'
import { checkAuthorization, checkCircuitBreaker, checkRateLimit, checkRetryBudget } from './features/refusals.js'
import { checkRouteMetrics } from './features/route-metrics.js'

/** The row `parity-features`: whether sidecars do the work of their features, beyond routing and mTLS. */
/** @import { FeatureName } from '../model/types.ts' */
/** @import { ProbedRow } from './beside/probe.js' */
/** @import { Rig } from './rig.js' */

/** Each check lists the differences; []: none. @type {Record<FeatureName, (rig: Rig) => Promise<string[]>>} */
const CHECKS = {
  'access-log': checkAccessLog,
  authorization: checkAuthorization,
  'rate-limit': checkRateLimit,
  metrics: checkRouteMetrics,
  'trace-headers': checkTraceHeaders,
  'header-rewrite': checkHeaderRewrite,
  'circuit-breaker': checkCircuitBreaker,
  'retry-budget': checkRetryBudget,
  'outlier-ejection': checkOutlierEjection,
}

/**
 * Runs the checks of all features of a rig at the same time.
 * @param {Rig} rig
 * @returns {Promise<ProbedRow[]>} one row; []: the sidecars have no features
 * @throws {BenchError} if this kit does not know a feature; the error of the first check that throws
 */
export async function probeFeatures(rig) {
  const names = listFeatures(rig.measured.features)
  if (names.length === 0) return []
  // Checks run at the same time, as some wait for seconds; none counts the requests of another.
  const results = await Promise.all(names.map(name => CHECKS[name](rig)))
  const differences = names.flatMap((name, i) => results[i].map(difference => `${name}: ${difference}`))
  const expected = names.join(', ')
  const summary = differences.length === 0 ? expected : `${differences.length} differences of ${expected}`
  return [{ name: 'parity-features', found: summary, expected, differences }]
}
