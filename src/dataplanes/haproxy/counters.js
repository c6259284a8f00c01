/** The path of Prometheus' metrics at the administration port: the global ones and those of frontends. */
export const METRICS_PATH = '/metrics?scope=global&scope=frontend'

/**
 * Counts how often HAProxy reached its own limits: failed allocations of memory, internal errors of requests, and frontends that
 * reached their limit of connections (HAProxy's Management Guide, 9.1: pool_failed, eint, smax, slim).
 * @param {string} text lines of `name{labels} value`
 * @returns {number} failures, and one for each frontend that reached its limit; 0: no limit was reached, or the text has none of
 *   these metrics
 */
export function parseOverflows(text) {
  /** @type {Record<string, number>} */
  const values = {}
  for (const line of text.split('\n')) {
    const [, name, value] = /^haproxy_(\S{1,200}) (\d{1,15})$/.exec(line) ?? []
    if (name !== undefined) values[name] = Number(value)
  }
  const failures = Object.entries(values)
    .filter(([name]) => /^(process_pool_failures|frontend_internal_errors)_total/.test(name))
    .reduce((sum, [, value]) => sum + value, 0)
  const fullFrontends = Object.keys(values)
    .filter(name => name.startsWith('frontend_max_sessions'))
    .filter(name => {
      const limit = values[name.replace('max', 'limit')]
      return limit > 0 && values[name] >= limit
    })
  return failures + fullFrontends.length
}
