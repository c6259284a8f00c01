/**
 * @import { Distribution, LoadResult } from '../../types.ts'
 */

/**
 * The result in the summary of the scripts of bench/k6. k6 gives handleSummary a metric's numbers under
 * `values` (all 1.x), or beside its name and type (the machine-readable summary): both are read.
 * @param {string} text JSON
 * @param {string} log what k6 printed
 * @returns {LoadResult}
 */
export function parseSummary(text, log) {
  const { metrics } = JSON.parse(text)
  const valuesOf = (/** @type {string} */ name) => metrics[name]?.values ?? metrics[name] ?? {}
  const countOf = (/** @type {string} */ name) => valuesOf(name).count ?? 0
  // http_req_failed is a rate whose "passes" are the failures; k6's machine-readable summary calls them matches.
  const { passes, matches } = valuesOf('http_req_failed')
  // A wrong status with the right length is seen by k6 only: wherever it was, it counts as in the window.
  const unseen = Math.max(0, (passes ?? matches ?? 0) - countOf('known_failures'))
  const failed = countOf('window_failed') + unseen
  const distribution = parseDistribution(valuesOf('http_req_duration{window:yes}'))
  return {
    verified: Math.max(0, (distribution?.count ?? 0) - failed),
    failed,
    corrupted: countOf('corrupted'),
    verifiedInSecondHalf: countOf('window_second_half'),
    coldUsers: countOf('cold_users'),
    reportedUsers: metrics.lag ? null : countOf('reported_users'),
    dropped: countOf('dropped_iterations'),
    lagP99Ms: valuesOf('lag')['p(99)'] ?? null,
    distribution,
    failures: [...log.matchAll(/level=error msg="([^"]*)"/g)].map(match => match[1]).slice(0, 5),
  }
}

/**
 * @param {Record<string, number>} values
 * @returns {Distribution | null}
 */
function parseDistribution(values) {
  if (!values.count) return null
  const grid = Object.entries(values)
    .flatMap(([name, ms]) => {
      const percent = /^p\(([\d.]+)\)$/.exec(name)?.[1]
      return percent === undefined ? [] : [/** @type {[number, number]} */ ([Number(percent) / 100, ms])]
    })
    .sort((a, b) => a[0] - b[0])
  return { count: values.count, meanMs: values.avg, grid }
}
