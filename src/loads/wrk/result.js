import { z } from 'zod'
import { BenchError } from '../../lib/errors.js'
import { assertResultShape, parseResultLine } from '../result-line.js'

/** @import { Distribution, LoadResult } from '../../model/types.ts' */

const count = z.int().min(0)
const phases = z.array(count).length(5).describe('warm-up, two halves of the window, tail, and after it')
const report = z.object({
  right: phases,
  failed: phases,
  corrupted: count,
  users: count,
  warmUsers: count,
  restedUsers: count.describe('users that came to their end'),
  sumMicros: z.number().min(0),
  messages: z.array(z.string()),
  classes: z.array(z.tuple([z.number().positive(), count])).describe('response times: microseconds, how many'),
  waited: z
    .object({ count, sumMs: z.number(), late: z.array(z.tuple([z.number(), count])) })
    .optional()
    .describe('service times that the application reported; late: [milliseconds of delay, how many]'),
  arm: count.optional().describe('place of the interleaved arm whose users the thread had; absent: there is one arm'),
  ownMs: z
    .number()
    .positive()
    .optional()
    .describe('milliseconds of the window in which an interleaved arm had the load'),
  perSecond: z.array(count).optional().describe('of older kits'),
  perTenth: z
    .array(count)
    .optional()
    .describe('interleaved: correct answers by the tenth of a second of the window in which their requests started'),
})
/** @typedef {z.infer<typeof report>} ThreadReport the counts of a thread */

/**
 * Parses the result that bench/wrk/closed-loop.lua prints when wrk ends, a line for each thread.
 * @param {string} log of wrk
 * @param {number} [place] of the arm among interleaved ones
 * @returns {LoadResult | null} null: it printed no result, or none for an arm at this place
 * @throws {BenchError} if a line is damaged, or the number of lines is not that of the threads; as `sumServiceTimes`
 */
export function parseResult(log, place = 0) {
  const reports = log.split('\n').flatMap((line, i) => {
    if (!line.startsWith('{"right":')) return []
    return [parseResultLine(i + 1, () => assertResultShape(report, JSON.parse(line)))]
  })
  if (reports.length === 0) return null
  const [, started] = /^ {2}(\d+) threads and /m.exec(log) ?? []
  if (Number(started) !== reports.length)
    throw new BenchError(
      `the result of the load is damaged: ${reports.length} of ${started ?? 'an unknown number of'} threads are in it`,
    )
  const threads = reports.filter(({ arm = 0 }) => arm === place)
  if (threads.length === 0) return null
  const [{ ownMs, perTenth, perSecond }] = threads
  const sum = (/** @type {(thread: ThreadReport) => number} */ measure) =>
    threads.reduce((total, thread) => total + measure(thread), 0)
  const firstHalf = sum(t => t.right[1])
  const secondHalf = sum(t => t.right[2])
  return {
    verified: firstHalf + secondHalf,
    failed: sum(t => t.failed[1] + t.failed[2]),
    corrupted: sum(t => t.corrupted),
    verifiedInSecondHalf: secondHalf,
    coldUsers: sum(t => Math.max(0, t.users - t.warmUsers)),
    reportedUsers: sum(t => t.restedUsers),
    dropped: 0,
    lagP99Ms: null,
    distribution: computeDistribution({ classes: threads.flatMap(t => t.classes), sumMicros: sum(t => t.sumMicros) }),
    series: null,
    failures: [...new Set(threads.flatMap(t => t.messages))].slice(0, 5),
    ...sumServiceTimes(threads),
    ...(ownMs && {
      interleaved: { seconds: ownMs / 1000, ...(perTenth && { perTenth }), ...(perSecond && { perSecond }) },
    }),
  }
}

/**
 * Sums the service times that the application reported, and computes the p50 and p99 of how much longer it waited.
 * @param {ThreadReport[]} threads
 * @returns {Pick<LoadResult, 'waited'>} {}: it reported none
 * @throws {BenchError} if it reported times without delays
 */
function sumServiceTimes(threads) {
  const reported = threads.flatMap(({ waited }) => waited ?? [])
  const count = reported.reduce((sum, waited) => sum + waited.count, 0)
  if (count === 0) return {}
  const delays = reported.flatMap(waited => waited.late).toSorted((a, b) => a[0] - b[0])
  if (delays.length === 0)
    throw new BenchError('the result of the load is damaged: it has service times, and no delays')
  const findDelayMs = (/** @type {number} */ quantile) => {
    // A quantile is the value at the nearest rank.
    let ranksLeft = Math.ceil(quantile * count)
    for (const [ms, requests] of delays) {
      ranksLeft -= requests
      if (ranksLeft <= 0) return ms
    }
    return delays[delays.length - 1][0]
  }
  const meanMs = reported.reduce((sum, { sumMs }) => sum + sumMs, 0) / count
  return { waited: { count, meanMs, lateP50Ms: findDelayMs(0.5), lateP99Ms: findDelayMs(0.99) } }
}

// The scripts of k6 report the same quantiles: by 0.01, from 0.99 by 0.001, from 0.999 by 0.0001.
const QUANTILES = [
  ...Array.from({ length: 99 }, (_, i) => i / 100),
  ...Array.from({ length: 9 }, (_, i) => (990 + i) / 1000),
  ...Array.from({ length: 10 }, (_, i) => (9990 + i) / 10000),
]

/**
 * Computes the distribution of response times, at QUANTILES.
 * @param {Pick<ThreadReport, 'classes' | 'sumMicros'>} times of all threads
 * @returns {Distribution | null} null: there was no request
 */
function computeDistribution({ classes, sumMicros }) {
  const count = classes.reduce((sum, [, requests]) => sum + requests, 0)
  if (count === 0) return null
  const sorted = classes.toSorted((a, b) => a[0] - b[0])
  let index = 0
  let requestsUpTo = sorted[0][1]
  const grid = QUANTILES.map(quantile => {
    // A quantile is the value at the nearest rank.
    while (requestsUpTo < Math.ceil(quantile * count)) requestsUpTo += sorted[++index][1]
    return /** @type {[number, number]} */ ([quantile, sorted[index][0] / 1000])
  })
  return { count, meanMs: sumMicros / count / 1000, grid }
}
