import { isInTime } from '../lib/wait.js'
import { renderRouteName } from '../model/routes.js'

/** Checks whether sidecars count requests and their durations by route. */
/** @import { DataPlane } from '../model/types.ts' */
/** @import { Rig } from './rig.js' */

const REQUESTS = 20
// Envoy brings its histograms up to date every 5 s.
const SCRAPE_SECONDS = 30
const HOST = 'canary'
const HEADERS = { 'x-canary': 'yes' }
/** A route of the corpus that no other check calls while this one counts. */
const ROUTE = renderRouteName('inbound', { host: HOST, pathPrefix: '/', headers: HEADERS })

/** @typedef {NonNullable<DataPlane['metrics']>} Names */
/** @typedef {{ labels: string, value: number }} Sample */

/**
 * Checks that the counter and the histogram of a route grow by the requests that are sent to it, within 30 s.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none; a plane that names no metrics has one difference
 * @throws if a request has no answer; the signal's reason when it aborts
 */
export async function checkMetrics({ send, sidecars, plane: { metrics }, signal }) {
  const server = sidecars.processes.find(({ spec }) => spec.service === 'server')
  if (!metrics || !server) return ['the plane names no metrics']
  const scrape = async () => readRoute((await server.readAdmin(metrics.path)) ?? '', metrics, ROUTE)
  const before = await scrape()
  for (let i = 0; i < REQUESTS; i++) await send({ host: HOST, headers: HEADERS })
  let after = before
  const isCounted = async () => {
    after = await scrape()
    return after.requests - before.requests >= REQUESTS && after.durations >= after.requests
  }
  // Requests that are not counted are a difference, not an error.
  await isInTime(isCounted, { deadlineSeconds: SCRAPE_SECONDS, intervalMs: 250, signal })
  return listCountDifferences(before, after)
}

/**
 * Lists how counts differ from one for each request. Durations are compared with all requests of the route.
 * @param {ReturnType<typeof readRoute>} before the requests
 * @param {ReturnType<typeof readRoute>} after the requests
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
 * @param {Names} names
 * @param {string} route as renderRouteName() renders it
 * @returns {{ requests: number, durations: number, isCumulative: boolean }} 0 if there are no samples; durations: the count of
 *   the histogram; isCumulative: no bucket has fewer than the one before it
 */
export function readRoute(text, { requests, durations }, route) {
  const listRouteSamples = (/** @type {string} */ name) =>
    readSamples(text, name).filter(({ labels }) => labels.includes(route))
  const sum = (/** @type {Sample[]} */ list) => list.reduce((total, { value }) => total + value, 0)
  const buckets = listRouteSamples(`${durations}_bucket`).map(({ value }) => value)
  return {
    requests: sum(listRouteSamples(requests)),
    durations: sum(listRouteSamples(`${durations}_count`)),
    isCumulative: buckets.every((value, i) => i === 0 || value >= buckets[i - 1]),
  }
}

/**
 * Parses the samples of a metric from Prometheus' text format.
 * @param {string} text
 * @param {string} name of the metric
 * @returns {Sample[]} []: none
 */
function readSamples(text, name) {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`))
    .map(line => {
      const end = line.lastIndexOf('}')
      return { labels: line.slice(name.length, end), value: Number(line.slice(end + 1)) }
    })
}
