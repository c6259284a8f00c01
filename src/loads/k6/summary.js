/**
 * @import { Distribution, LoadResult } from '../../types.ts'
 */

/**
 * The result in the summary of bench/k6/closed-loop.js. k6 gives handleSummary a metric's numbers under
 * `values` (all 1.x), or beside its name and type (the machine-readable summary): both are read.
 * @param {string} text JSON
 * @param {string} log what k6 printed
 * @returns {LoadResult}
 */
export function parseSummary(text, log) {
  const { metrics } = JSON.parse(text)
  const valuesOf = (/** @type {string} */ name) => metrics[name]?.values ?? metrics[name] ?? {}
  const countOf = (/** @type {string} */ name) => valuesOf(name).count ?? 0
  return {
    verified: countOf('window_verified'),
    failed: countOf('window_failed'),
    corrupted: countOf('corrupted'),
    verifiedInSecondHalf: countOf('window_verified_second_half'),
    coldUsers: countOf('cold_users'),
    distribution: parseDistribution(valuesOf('window_verified')),
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
