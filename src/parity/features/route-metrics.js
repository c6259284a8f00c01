import { pollInTime } from '../../lib/wait.js'
import { renderRouteName } from '../../model/routes.js'

/** The check of the feature `metrics`: sidecars count requests and their durations by route. */
/** @import { DataPlane } from '../../model/types.ts' */
/** @import { Rig } from '../rig.js' */

const REQUESTS = 20
// By default, Envoy brings its histograms up to date every 5 s.
const SCRAPE_SECONDS = 30
const HOST = 'canary'
const HEADERS = { 'x-canary': 'yes' }
/** A route of the corpus that no other check calls while this one counts. */
const ROUTE = renderRouteName('inbound', { host: HOST, pathPrefix: '/', headers: HEADERS })

/** @typedef {NonNullable<DataPlane['metrics']>} MetricNames */
/** @typedef {{ labels: string, value: number }} Sample */

/**
 * @typedef {object} RouteMetrics
 * @property {number} requests
 * @property {number} durations the count of the histogram
 * @property {boolean} isCumulative no bucket of the histogram has fewer than the one before it
 */

/**
 * Checks that the counter and the histogram of a route grow by the requests that are sent to it, within SCRAPE_SECONDS.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences, one if the plane names no metrics or the server has no sidecar; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts; what reading the metrics
 *   throws
 */
export async function checkRouteMetrics({ send, sidecars, plane: { metrics }, signal }) {
  const server = sidecars.processes.find(({ spec }) => spec.service === 'server')
  if (!metrics || !server) return ['the plane names no metrics']
  const scrape = async () => parseRouteMetrics((await server.readAdmin(metrics.path)) ?? '', metrics, ROUTE)
  const before = await scrape()
  for (let i = 0; i < REQUESTS; i++) await send({ host: HOST, headers: HEADERS })
  let after = before
  const isCounted = async () => {
    after = await scrape()
    return after.requests - before.requests >= REQUESTS && after.durations >= after.requests
  }
  // Requests that are not counted are a difference, not an error.
  await pollInTime(isCounted, { deadlineSeconds: SCRAPE_SECONDS, intervalMs: 250, signal })
  return listCountDifferences(before, after)
}

/**
 * Lists how metrics differ from what they must be after REQUESTS: so many more requests, a duration for each request of the route,
 * and a cumulative histogram.
 * @param {RouteMetrics} before
 * @param {RouteMetrics} after
 * @returns {string[]} []: they do not differ
 */
function listCountDifferences(before, after) {
  const counted = after.requests - before.requests
  return [
    ...(counted === REQUESTS ? [] : [`${counted} of ${REQUESTS} requests counted`]),
    ...(after.durations === after.requests ? [] : [`${after.durations} durations of ${after.requests} requests`]),
    ...(after.isCumulative ? [] : ['a bucket of the histogram has fewer than the one before']),
  ]
}

/**
 * Parses the metrics of a route, summed over all samples whose labels contain its name.
 * @param {string} text in Prometheus' text format
 * @param {MetricNames} names
 * @param {string} route as renderRouteName() renders it
 * @returns {RouteMetrics} without samples: 0 requests and durations, cumulative; NaN: a value is no number
 */
export function parseRouteMetrics(text, { requests, durations }, route) {
  const listRouteSamples = (/** @type {string} */ name) =>
    parseSamples(text, name).filter(({ labels }) => labels.includes(route))
  const sum = (/** @type {Sample[]} */ samples) => samples.reduce((total, { value }) => total + value, 0)
  const buckets = listRouteSamples(`${durations}_bucket`).map(({ value }) => value)
  return {
    requests: sum(listRouteSamples(requests)),
    durations: sum(listRouteSamples(`${durations}_count`)),
    isCumulative: buckets.every((value, i) => i === 0 || value >= buckets[i - 1]),
  }
}

/**
 * Parses the samples of a metric from Prometheus' text format; lines without labels are left out.
 * @param {string} text
 * @param {string} name of the metric
 * @returns {Sample[]} labels: with their opening brace; value: NaN if it is no number, or a time follows it; []: none
 */
function parseSamples(text, name) {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`))
    .map(line => {
      const end = line.lastIndexOf('}')
      return { labels: line.slice(name.length, end), value: Number(line.slice(end + 1)) }
    })
}
