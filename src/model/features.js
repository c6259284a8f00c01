import { z } from 'zod'
import { BenchError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'

/** The features of a sidecar beyond routing and mTLS, which the axis `features` switches. Pure. */
/** @import { Conditions, DataPlane, FeatureName, Features } from './types.ts' */

export const LEAN = 'lean'
export const ALL = 'all'

/** The settings of each feature, the same for every plane, in the order in which a request passes them. @type {Required<Features>} */
export const FEATURES = {
  // The fields of OSM's JSON access log that proxies other than Envoy can write, too.
  'access-log': {
    fields: [
      ...['start_time', 'method', 'path', 'protocol', 'authority', 'response_code', 'bytes_received', 'bytes_sent'],
      ...['duration', 'time_to_first_byte', 'upstream_cluster', 'upstream_host'],
      ...['x_forwarded_for', 'user_agent', 'request_id'],
    ],
  },
  // The first filter: answers that refuse a request on a route get the route's headers, too.
  'header-rewrite': {
    request: { set: { 'x-mesh': 'sidecar-bench' }, remove: ['x-internal'] },
    response: { set: { 'x-mesh': 'sidecar-bench' }, remove: ['x-debug'] },
  },
  authorization: {},
  // No load reaches this limit: the cost of counting is measured, and no refusals.
  'rate-limit': { perSecond: 1_000_000 },
  // Envoy's own buckets, up to the first above the timeout of a request.
  metrics: { bucketsMs: [0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] },
  'trace-headers': {},
  // No load has as many requests under way: here, too, the cost of counting is measured.
  'circuit-breaker': { maxRequests: 1_000_000 },
  // Envoy's own budget.
  'retry-budget': { share: 0.2, minConcurrent: 3 },
  // Envoy's own numbers but for the share: its default, a tenth, is less than one of the few endpoints here.
  'outlier-ejection': { consecutiveFailures: 5, baseSeconds: 30, maxShare: 0.5 },
}

/** The work of each feature for a request. @type {Record<FeatureName, string>} */
export const FEATURE_DEFINITIONS = {
  'access-log': 'Writes a line of JSON on stdout.',
  'header-rewrite': 'Sets one header and removes another, of the request and of its answer.',
  authorization:
    'Answers 403 if the route lists identities and the peer is not among them. A route without a list accepts every peer.',
  'rate-limit': 'Takes a token of the route; answers 429 if there is none.',
  metrics: 'Adds to a counter and to a histogram of durations, by route.',
  'trace-headers': 'Passes `traceparent` on as another span, or makes it.',
  'circuit-breaker': 'Answers 503 if the cluster has too many requests under way.',
  'retry-budget': 'Tries a failed request again only while few others to the cluster are retried.',
  'outlier-ejection': 'Sends no request to an endpoint that has failed 5 times in a row.',
}

export const FEATURE_NAMES = /** @type {FeatureName[]} */ (Object.keys(FEATURES))

/**
 * Parses a value of the axis.
 * @param {string} text lean, all, or names joined by +
 * @returns names: as written, but FEATURE_NAMES for all, and [] for lean; unknown: the first that this kit does not know;
 *   undefined: it knows all
 */
function parseFeatureNames(text) {
  const sets = new Map([
    [LEAN, []],
    [ALL, FEATURE_NAMES],
  ])
  const names = sets.get(text) ?? text.split('+')
  return { names, unknown: names.find(name => !Object.hasOwn(FEATURES, name)) }
}

/**
 * The schema of a value of the axis: lean, all, or names joined by +. It puts the names in one order, and writes all of them as
 * `all`: a set that was written in two ways would be two arms.
 */
export const featureSet = z.string().transform((text, context) => {
  if (text === LEAN || text === ALL) return text
  const { names, unknown } = parseFeatureNames(text)
  const refuse = (/** @type {string} */ message) => {
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }
  if (unknown === LEAN || unknown === ALL)
    return refuse(`"${text}": ${unknown} is a whole set, and is joined with nothing`)
  if (unknown !== undefined)
    return refuse(`unknown feature "${unknown}"${renderSuggestion(unknown, [LEAN, ALL, ...FEATURE_NAMES])}`)
  if (new Set(names).size < names.length) return refuse(`"${text}" names a feature twice`)
  return names.length === FEATURE_NAMES.length ? ALL : FEATURE_NAMES.filter(name => names.includes(name)).join('+')
})

/**
 * Puts a value of the axis in this kit's order, as records of older kits have another.
 * @param {string} text
 * @returns {string} `text` itself: featureSet refuses it, as of a kit with other features
 */
export function orderFeatures(text) {
  return featureSet.safeParse(text).data ?? text
}

/**
 * Lists the features in a value of the axis.
 * @param {string} [features] absent: lean, and so none
 * @returns in the order of FEATURES; []: the arm is lean
 * @throws {BenchError} for a name that this kit does not know: the arm would be lean under a wrong label
 */
export function listFeatures(features = LEAN) {
  const { names, unknown } = parseFeatureNames(features)
  if (unknown !== undefined)
    throw new BenchError(`read the features "${features}": this kit has no "${unknown}"; a later one may have it`)
  return FEATURE_NAMES.filter(name => names.includes(name))
}

/** The schema of the features of a plan or a record: it refuses names that this kit does not know. */
export const recordedFeatures = z.string().refine(text => parseFeatureNames(text).unknown === undefined, {
  error: ({ input }) => `this kit does not know each feature of "${input}"; a later one may`,
})

/**
 * Creates the features of a model from a value of the axis.
 * @param {string} [features] absent: lean
 * @returns {Features} {}: it is lean
 * @throws {BenchError} for a name that this kit does not know
 */
export function createFeatures(features) {
  const entries = listFeatures(features).map(name => [name, FEATURES[name]])
  return /** @type {Features} */ (Object.fromEntries(entries))
}

/**
 * Finds the reason why a plane cannot have the features of an arm. A plane without `features` can have none.
 * @param {Pick<DataPlane, 'features'>} plane
 * @param {Pick<Conditions, 'features' | 'tls'>} conditions
 * @returns {string | null} a sentence; null: it can have them
 * @throws {BenchError} for a feature that this kit does not know
 */
export function findUnsupportedFeatures({ features = [] }, conditions) {
  const names = listFeatures(conditions.features)
  if (names.includes('authorization') && conditions.tls === 'plaintext')
    return 'authorization is by the identity of a certificate, and plaintext has none'
  const lacking = names.filter(name => !features.includes(name))
  return lacking.length === 0 ? null : `the kit gives it no ${lacking.join(', ')}`
}
