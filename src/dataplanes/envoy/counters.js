/** The path of the counters of reached limits at Envoy's administration port. */
export const OVERFLOW_PATH = '/stats?filter=overflow|overload_close'

/**
 * Counts requests and connections that Envoy refused because a circuit breaker or another limit was reached
 * (Envoy's documentation, "Cluster manager statistics": upstream_rq_pending_overflow, upstream_cx_overflow, ...).
 * @param {string} text lines of `name: value`
 * @returns {number} 0: no limit was reached, or the text has no counters
 */
export function parseOverflows(text) {
  return text
    .split('\n')
    .map(line => Number(/^\S+: (\d{1,15})$/.exec(line)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0)
}
