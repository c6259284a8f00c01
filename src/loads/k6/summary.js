/**
 * @import { Distribution, LoadPoint, LoadResult } from '../../model/types.ts'
 */

const ROUNDING = 1e-12

/**
 * The result that the scripts of bench/k6 print when they end. k6 gives handleSummary a metric's numbers under
 * `values` (all 1.x), or beside its name and type (the machine-readable summary): both are read.
 * @param {string} log what k6 printed
 * @returns {LoadResult | null} null: it printed no result
 */
export function parseResult(log) {
  const line = log.split('\n').findLast(l => l.startsWith('{"metrics":'))
  if (line === undefined) return null
  const { metrics, pieceMs, pieces = [] } = JSON.parse(line)
  const valuesOf = (/** @type {string} */ name) => metrics[name]?.values ?? metrics[name] ?? {}
  const countOf = (/** @type {string} */ name) => valuesOf(name).count ?? 0
  // http_req_failed is a rate whose "passes" are the failures; k6's machine-readable summary calls them matches.
  const { passes, matches } = valuesOf('http_req_failed')
  // A wrong status with the right length is seen by k6 only: wherever it was, it counts as in the window.
  const unseen = Math.max(0, (passes ?? matches ?? 0) - countOf('known_failures'))
  const failed = countOf('window_failed') + unseen
  const distribution = parseDistribution({
    ...valuesOf('http_req_duration{window:yes}'),
    ...valuesOf('with_connection{window:yes}'),
  })
  return {
    verified: Math.max(0, (distribution?.count ?? 0) - failed),
    failed,
    corrupted: countOf('corrupted'),
    verifiedInSecondHalf: countOf('window_second_half'),
    coldUsers: countOf('cold_users'),
    reportedUsers: metrics.lag || metrics.open_loop ? null : countOf('reported_users'),
    dropped: countOf('dropped_iterations'),
    lagP99Ms: findLag(valuesOf('lag'), countOf('dropped_iterations')),
    distribution,
    series: pieces.length > 0 ? parseSeries(pieces, pieceMs / 1000) : null,
    failures: [...log.matchAll(/level=error msg="([^"]*)"/g)].map(match => match[1]).slice(0, 5),
  }
}

/**
 * The 99th percentile of how late requests started. k6 does not number those that it drops, so that after a drop all seem
 * late by as much: that is taken off, as the least lateness.
 * @param {Record<string, number>} lag
 * @param {number} dropped
 * @returns {number | null} milliseconds
 */
function findLag(lag, dropped) {
  const p99 = lag['p(99)'] ?? null
  return p99 === null || dropped === 0 ? p99 : p99 - Math.max(0, lag['p(0)'] ?? 0)
}

/**
 * What several generators counted of one load: counts are added, distributions merged.
 * @param {LoadResult[]} results at least one
 * @returns {LoadResult}
 */
export function mergeResults(results) {
  if (results.length === 1) return results[0]
  const sum = (/** @type {(result: LoadResult) => number} */ of) => results.reduce((total, r) => total + of(r), 0)
  const known = (/** @type {(number | null)[]} */ values) => values.filter(value => value !== null)
  const users = known(results.map(r => r.reportedUsers))
  const lags = known(results.map(r => r.lagP99Ms))
  return {
    verified: sum(r => r.verified),
    failed: sum(r => r.failed),
    corrupted: sum(r => r.corrupted),
    verifiedInSecondHalf: sum(r => r.verifiedInSecondHalf),
    coldUsers: sum(r => r.coldUsers),
    reportedUsers: users.length > 0 ? users.reduce((total, n) => total + n) : null,
    dropped: sum(r => r.dropped),
    // A quantile of them all is at most that of the worst.
    lagP99Ms: lags.length > 0 ? Math.max(...lags) : null,
    distribution: mergeDistributions(results.flatMap(r => r.distribution ?? [])),
    // Each generator has a window of its own: pieces of several do not fall together.
    series: null,
    failures: results.flatMap(r => r.failures).slice(0, 5),
  }
}

/**
 * One distribution of several: the mixture of their distribution functions, each linear between the points of
 * its grid, weighted by its count; its quantiles are read off that, at the same points. Never a mean of quantiles.
 * @param {Distribution[]} distributions
 * @returns {Distribution | null}
 */
export function mergeDistributions(distributions) {
  if (distributions.length === 0) return null
  const count = distributions.reduce((total, d) => total + d.count, 0)
  const share = (/** @type {number} */ ms, /** @type {boolean} */ isInclusive) =>
    distributions.reduce((sum, d) => sum + (d.count / count) * shareUpTo(d, ms, isInclusive), 0)
  const points = [...new Set(distributions.flatMap(d => d.grid.map(([, ms]) => ms)))]
    .sort((a, b) => a - b)
    .map(ms => ({ ms, below: share(ms, false), upTo: share(ms, true) }))
  const grid = distributions[0].grid.map(([quantile]) => {
    const i = points.findIndex(({ upTo }) => upTo >= quantile - ROUNDING)
    const [before, at] = [points[i - 1], points.at(i) ?? points[0]]
    if (!before || quantile >= at.below) return /** @type {[number, number]} */ ([quantile, at.ms])
    const part = (quantile - before.upTo) / (at.below - before.upTo)
    return /** @type {[number, number]} */ ([quantile, before.ms + part * (at.ms - before.ms)])
  })
  return { count, meanMs: distributions.reduce((sum, d) => sum + (d.count / count) * d.meanMs, 0), grid }
}

/**
 * The share of a distribution below a time, or up to it: where quantiles are equal, it jumps.
 * @param {Distribution} distribution
 * @param {number} ms
 * @param {boolean} isInclusive
 */
function shareUpTo({ grid }, ms, isInclusive) {
  const above = grid.findIndex(([, at]) => (isInclusive ? at > ms : at >= ms))
  if (above < 0) return 1
  if (above === 0) return 0
  const [[q0, ms0], [q1, ms1]] = [grid[above - 1], grid[above]]
  return q0 + ((ms - ms0) / (ms1 - ms0)) * (q1 - q0)
}

/**
 * @param {[number, number | null, number | null][]} pieces requests, p50 ms, p99 ms
 * @param {number} seconds of each
 * @returns {LoadPoint[]}
 */
function parseSeries(pieces, seconds) {
  return pieces.map(([count, p50Ms, p99Ms], i) => ({ atSeconds: i * seconds, seconds, count, p50Ms, p99Ms }))
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
