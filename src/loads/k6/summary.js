import { z } from 'zod'
import { loadResult } from '../../model/schemas/load-result.js'
import { assertResultShape, parseResultLine } from '../result-line.js'

/** @import { Distribution, LoadPoint, LoadResult } from '../../model/types.ts' */

const number = z.number().nullable()
const metric = z.record(z.string(), z.unknown())
const printed = z.object({
  metrics: z.record(z.string(), metric.nullable()),
  pieceMs: z.number().optional(),
  pieces: z.array(z.tuple([z.number(), number, number])).optional(),
  ownSeconds: z.number().positive().optional().describe('of the window, of an interleaved arm'),
})
const FAILURES_MOST = 5
// The start of failures to the loud pair, as bench/k6/open-loop.js writes it.
const LOUD = 'loud pair: '
const USED_STATISTICS = /^(?:count|avg|passes|matches|p\([\d.]+\))$/
// The distance of a quantile to the one just below it, as in bench/k6/common.js.
const BELOW_PERCENT = 1e-7
// k6 keeps times to a nanosecond: from two quantiles so near, a time is known to a ten-thousandth of a millisecond.
const DIGITS = 1e4

/**
 * Parses the result that the scripts of bench/k6 print when they end. k6 gives handleSummary a metric's numbers under `values`
 * (all 1.x), or beside its name and type (the machine-readable summary): both are read.
 * @param {string} log of k6
 * @param {number} [place] of the arm among interleaved ones
 * @returns {LoadResult | null} null: it printed no result, or none for an arm at this place
 * @throws {BenchError} with the line if the result is damaged
 */
export function parseResult(log, place = 0) {
  const lines = log.split('\n')
  const lineIndex = lines.flatMap((line, i) => (line.startsWith('{"metrics":') ? [i] : []))[place] ?? -1
  if (lineIndex < 0) return null
  return parseResultLine(lineIndex + 1, () => {
    const { ownSeconds, ...result } = parseSummaryLine(lines[lineIndex])
    const interleaved = ownSeconds && { interleaved: { seconds: ownSeconds, ...sumUserCounts(log, place) } }
    const errors = [...log.matchAll(/level=error msg="([^"]*)"/g)].map(match => match[1])
    const failures = errors.filter(error => !error.startsWith(LOUD)).slice(0, FAILURES_MOST)
    const loudFailures = errors.filter(error => error.startsWith(LOUD)).slice(0, FAILURES_MOST)
    const loud = result.loud && { ...result.loud, failures: loudFailures.map(error => error.slice(LOUD.length)) }
    return assertResultShape(loadResult, { ...result, ...interleaved, failures, ...(loud && { loud }) })
  })
}

/**
 * Parses a result without its failures, which are in other lines of the log.
 * @param {string} line JSON
 * @returns {Omit<LoadResult, 'failures' | 'loud'> & { loud?: ReturnType<typeof readLoudRequests>, ownSeconds?: number }}
 *   ownSeconds: seconds of the window in which an interleaved arm had the load; absent: the arm was not interleaved
 * @throws {SyntaxError} if the line is no JSON
 * @throws {Error} with the first fault if it has another shape
 */
function parseSummaryLine(line) {
  const { metrics, pieceMs = 0, pieces = [], ownSeconds } = assertResultShape(printed, JSON.parse(line))
  const readMetricValues = (/** @type {string} */ name) => readStatistics(metrics[name] ?? {})
  const readMetricCount = (/** @type {string} */ name) => readMetricValues(name).count ?? 0
  // http_req_failed is a rate whose "passes" are the failures; k6's machine-readable summary calls them matches.
  const { passes, matches } = readMetricValues('http_req_failed')
  // Only k6 sees a wrong status with the right body; such a failure counts as in the window. To k6, another body with
  // status 200 is no failure: only the scripts know of that one.
  const countedByBoth = readMetricCount('known_failures') - readMetricCount('corrupted')
  const countedByK6Only = Math.max(0, (passes ?? matches ?? 0) - countedByBoth)
  const failed = readMetricCount('window_failed') + countedByK6Only
  const distribution = computeDistribution(readResponseTimes(readMetricValues, 'window:yes'))
  return {
    verified: Math.max(0, (distribution?.count ?? 0) - failed),
    failed,
    corrupted: readMetricCount('corrupted'),
    verifiedInSecondHalf: readMetricCount('window_second_half'),
    coldUsers: readMetricCount('cold_users'),
    reportedUsers: metrics.lag || metrics.open_loop ? null : readMetricCount('reported_users'),
    dropped: readMetricCount('dropped_iterations'),
    lagP99Ms: computeLagP99Ms(readMetricValues('lag'), readMetricCount('dropped_iterations')),
    distribution,
    series: pieces.length > 0 ? createSeries(pieces, pieceMs / 1000) : null,
    ...readKindCounts(metrics, readMetricCount),
    ...(metrics.late_0 && readMetricValues('late_0').count > 0 && { waited: readServiceTimes(readMetricValues) }),
    ...(metrics.data_sent && metrics.data_received && { wire: readWireCounts(readMetricCount) }),
    ...(metrics.due && { due: readMetricCount('due') }),
    ...(metrics.loud_due && { loud: readLoudRequests(metrics, readMetricCount) }),
    ...(metrics.burst_due && { burst: readBurst({ readMetricValues, readMetricCount }) }),
    ownSeconds,
  }
}

/**
 * Reads the statistics of the response times of requests with a tag. A script that opens a connection for each request has
 * their times in a metric of its own, which then counts.
 * @param {(name: string) => Record<string, number>} readMetricValues reads the statistics of a metric; {} without it
 * @param {string} tag such as `window:yes`
 * @returns {Record<string, number>} milliseconds by statistic, and `count`; {}: no metric has the tag
 */
function readResponseTimes(readMetricValues, tag) {
  return {
    ...readMetricValues(`http_req_duration{${tag}}`),
    ...readMetricValues(`grpc_req_duration{${tag}}`),
    ...readMetricValues(`with_connection{${tag}}`),
  }
}

/**
 * Reads the number of requests of each kind.
 * @param {Record<string, unknown>} metrics
 * @param {(name: string) => number} readMetricCount reads the count of a metric; 0 without it
 * @returns {Pick<LoadResult, 'kinds'>} {}: the load has one kind
 */
function readKindCounts(metrics, readMetricCount) {
  const names = Object.keys(metrics).filter(name => /^kind_\d+$/.test(name))
  return names.length === 0 ? {} : { kinds: names.map((_, i) => readMetricCount(`kind_${i}`)) }
}

/**
 * Reads the numbers of requests to the loud pair, and to each other pair.
 * @param {Record<string, unknown>} metrics
 * @param {(name: string) => number} readMetricCount reads the count of a metric; 0 without it
 * @returns {{ due: number, verified: number, failed: number, quiet: number[] }} quiet: requests to each other pair; []: they
 *   were not counted
 */
function readLoudRequests(metrics, readMetricCount) {
  const quietNames = Object.keys(metrics).filter(name => /^quiet_\d+$/.test(name))
  return {
    due: readMetricCount('loud_due'),
    verified: readMetricCount('loud_verified'),
    failed: readMetricCount('loud_failed'),
    quiet: quietNames.map((_, i) => readMetricCount(`quiet_${i}`)),
  }
}

/**
 * Reads the bytes at the sockets of k6 in the whole trial, and its requests.
 * @param {(name: string) => number} readMetricCount reads the count of a metric; 0 without it
 * @returns {NonNullable<LoadResult['wire']>}
 */
function readWireCounts(readMetricCount) {
  return {
    sentBytes: readMetricCount('data_sent'),
    receivedBytes: readMetricCount('data_received'),
    requests: readMetricCount('http_reqs'),
  }
}

/**
 * Reads the service times that the application reported, and how much longer than these it waited.
 * @param {(name: string) => Record<string, number>} readMetricValues reads the statistics of a metric by name
 * @returns {NonNullable<LoadResult['waited']>}
 */
function readServiceTimes(readMetricValues) {
  const { count, avg: meanMs } = readMetricValues('waited_0')
  const { 'p(50)': lateP50Ms, 'p(99)': lateP99Ms } = readMetricValues('late_0')
  return { count, meanMs, lateP50Ms, lateP99Ms }
}

/**
 * Reads the requests of a burst.
 * @param {{ readMetricValues: (name: string) => Record<string, number>, readMetricCount: (name: string) => number }} metrics
 * @returns {NonNullable<LoadResult['burst']>} p99Ms: null if no request was answered, or k6 gave no 99th percentile
 */
function readBurst({ readMetricValues, readMetricCount }) {
  const times = readResponseTimes(readMetricValues, 'burst:yes')
  const failed = readMetricCount('window_failed{burst:yes}')
  const verified = Math.max(0, (times.count ?? 0) - failed)
  return { due: readMetricCount('burst_due'), verified, failed, p99Ms: times.count ? (times['p(99)'] ?? null) : null }
}

/**
 * Sums the verified requests of an arm over users, for each tenth of a second of the window (each second in logs of older
 * kits). Each user logs its counts when it ends, with commas between the tenths of an arm and semicolons between arms.
 * @param {string} log
 * @param {number} place of the arm
 * @returns {{ perTenth: number[] } | { perSecond: number[] }} perSecond: in logs of older kits, or if no user logged counts;
 *   []: no user logged counts of this arm
 */
function sumUserCounts(log, place) {
  /** @type {number[]} */
  const sums = []
  for (const [, counts] of log.matchAll(/msg="verified (?:by the tenth )?([\d,;]+)"/g)) {
    for (const [i, text] of counts.split(';')[place]?.split(',').entries() ?? [])
      sums[i] = (sums[i] ?? 0) + Number(text)
  }
  return log.includes('msg="verified by the tenth ') ? { perTenth: sums } : { perSecond: sums }
}

/**
 * Reads the statistics of a metric, in either form of k6. Those that the kit does not use, or that are null, are left out.
 * @param {z.infer<typeof metric>} fields of the metric, as k6 wrote them
 * @returns {Record<string, number>} by name; {}: it has none
 * @throws {Error} if `values` is no object, or one of them is not a number
 */
function readStatistics({ values, ...flatFields }) {
  const statistics = Object.entries(assertResultShape(metric, values ?? flatFields)).filter(
    ([name, value]) => USED_STATISTICS.test(name) && value !== null,
  )
  return assertResultShape(z.record(z.string(), z.number()), Object.fromEntries(statistics))
}

/**
 * Computes the 99th percentile of how late requests started. k6 does not number the requests that it drops, so after a drop all
 * seem late by as much: the least lateness is subtracted.
 * @param {Record<string, number>} lag statistics of the metric
 * @param {number} dropped how many requests k6 dropped
 * @returns {number | null} milliseconds; null: they were not timed
 */
function computeLagP99Ms(lag, dropped) {
  const p99 = lag['p(99)'] ?? null
  return p99 === null || dropped === 0 ? p99 : p99 - Math.max(0, lag['p(0)'] ?? 0)
}

/**
 * Creates a point for each piece of the window, from its start on.
 * @param {[number, number | null, number | null][]} pieces requests, p50 ms, p99 ms
 * @param {number} seconds of each piece
 * @returns {LoadPoint[]}
 */
function createSeries(pieces, seconds) {
  return pieces.map(([count, p50Ms, p99Ms], i) => ({ atSeconds: i * seconds, seconds, count, p50Ms, p99Ms }))
}

/**
 * Computes the distribution from the quantiles of a metric. A quantile just below another only corrects that one, and is left
 * out.
 * @param {Record<string, number>} values milliseconds by statistic, and `count`
 * @returns {Distribution | null} null: no request was counted
 */
function computeDistribution(values) {
  if (!values.count) return null
  const quantiles = Object.entries(values).flatMap(([name, ms]) => {
    const percent = /^p\(([\d.]+)\)$/.exec(name)?.[1]
    return percent === undefined ? [] : [/** @type {[number, number]} */ ([Number(percent), ms])]
  })
  const isJustBelow = (/** @type {number} */ low, /** @type {number} */ percent) =>
    Math.abs(percent - low - BELOW_PERCENT) < BELOW_PERCENT / 10
  const grid = quantiles
    .filter(([low]) => !quantiles.some(([percent]) => isJustBelow(low, percent)))
    .map(([percent, ms]) => {
      const belowMs = quantiles.find(([low]) => isJustBelow(low, percent))?.[1]
      const correctedMs = belowMs === undefined ? ms : computeQuantileMs({ percent, ms, belowMs, count: values.count })
      return /** @type {[number, number]} */ ([percent / 100, correctedMs])
    })
    .sort((a, b) => a[0] - b[0])
  return { count: values.count, meanMs: values.avg, grid }
}

/**
 * Computes a quantile by nearest rank, so that it is the time of one of the requests. k6 interpolates between the two nearest
 * ranks (TrendSink.P): if half of the requests take 1 ms and half 100, its p50 is a time that none took. The slope down to a
 * quantile just below gives the distance of the two ranks.
 * @param {{ percent: number, ms: number, belowMs: number, count: number }} quantile ms: as k6 interpolated it; belowMs: the
 *   quantile just below; count: of requests
 * @returns {number} milliseconds; `ms`: there is nothing to correct it by
 */
function computeQuantileMs({ percent, ms, belowMs, count }) {
  const fraction = percent / 100
  const rank = fraction * (count - 1)
  const rankShare = rank - Math.floor(rank)
  const step = (BELOW_PERCENT / 100) * (count - 1)
  // The quantile is at a rank itself, or the one just below it is past another rank.
  if (rankShare <= step || 1 - rankShare <= step) return ms
  const apartMs = Math.max(0, (ms - belowMs) / step)
  const lowerMs = ms - rankShare * apartMs
  const nearestMs = Math.ceil(fraction * count) - 1 === Math.floor(rank) ? lowerMs : lowerMs + apartMs
  return Math.round(nearestMs * DIGITS) / DIGITS
}
