import { createRandom } from '../lib/random.js'
import { METHODS } from '../model/requests.js'
import { KINDS_MOST } from '../model/traffic.js'

/** Turns the requests of a log into kinds of requests with weights, sizes and times. Pure. */
/**
 * @import { LoggedRequest } from './access-log.js'
 * @import { Traffic } from '../model/traffic.js'
 */

// The most requests of a kind that are sampled for its medians.
const SAMPLE_MOST = 2000
// Requests beyond this many kinds count as `/other` of their method: a log may have a path for every request.
const NAMES_MOST = 10_000
const MINUTE_MS = 60_000
const PATH_BYTES_MOST = 200
const BODY_BYTES_MOST = 16 * 2 ** 20
const HEADER_BYTES_MOST = 8 * 2 ** 10
const SERVICE_TIME_MOST_MS = 10_000
const OTHER = '/other'

/** @typedef {'requestBytes' | 'requestHeaderBytes' | 'responseBytes' | 'serviceMs'} TrafficField */
/** @typedef {{ method: string, path: string, count: number, sample: LoggedRequest[] }} Counted */

/**
 * The mix of requests in an access log.
 * @typedef {ReturnType<ReturnType<typeof createMixCounter>['summarise']>} Mix
 */

/**
 * Creates a counter of the requests of a log of any length, in bounded memory. Its sampling is seeded: a log always gives the
 * same mix.
 * @returns add: counts a request; summarise: computes the mix so far
 */
export function createMixCounter() {
  const random = createRandom(1)
  /** @type {Map<string, Counted>} */
  const kinds = new Map()
  /** @type {Map<number, number>} */
  const minutes = new Map()
  /** @type {Map<string, number>} */
  const unsupportedMethods = new Map()
  return {
    /**
     * Counts a request. A request with a method that no kind can have is only counted as left out; beyond NAMES_MOST kinds, all
     * others are of one kind.
     * @param {LoggedRequest} request
     */
    add(request) {
      const { method, atMs } = request
      if (!METHODS.some(name => name === method)) {
        unsupportedMethods.set(method, (unsupportedMethods.get(method) ?? 0) + 1)
        return
      }
      const path = generalisePath(request.path)
      const name = `${method} ${path}`
      const isKnown = kinds.has(name) || kinds.size < NAMES_MOST
      const key = isKnown ? name : `${method} ${OTHER}`
      const kind = kinds.get(key) ?? { method, path: isKnown ? path : OTHER, count: 0, sample: [] }
      kinds.set(key, kind)
      kind.count++
      addToSample(kind, request, random)
      if (atMs === null) return
      const minute = Math.floor(atMs / MINUTE_MS)
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
    },
    /**
     * Summarises the requests so far.
     * @param {string} name of the traffic
     * @returns traffic: with its rate if the log has times; count: of requests; paths: how many there are; unsupportedMethods:
     *   the methods that were left out, each with its requests; missingFields: a sentence on each size or time that no request
     *   of the log has
     */
    summarise(name) {
      const counted = mergeRareKinds([...kinds.values()], random)
      return {
        traffic: /** @type {Traffic} */ ({
          name,
          ...computeRate(minutes),
          kinds: counted.map(createMixKind),
        }),
        count: [...kinds.values()].reduce((sum, kind) => sum + kind.count, 0),
        paths: new Set([...kinds.values()].map(({ path }) => path)).size,
        unsupportedMethods: [...unsupportedMethods],
        missingFields: listMissingFields(counted),
      }
    },
  }
}

/**
 * Adds a request to the uniform sample of its kind, of at most SAMPLE_MOST requests (reservoir sampling).
 * @param {Counted} kind
 * @param {LoggedRequest} request
 * @param {() => number} random returns a number from 0 to 1
 */
function addToSample(kind, request, random) {
  if (kind.sample.length < SAMPLE_MOST) kind.sample.push(request)
  else {
    const place = Math.floor(random() * kind.count)
    if (place < SAMPLE_MOST) kind.sample[place] = request
  }
}

/**
 * Replaces parts of a path that identify one thing, such as numbers, hashes and addresses, by `id`, so that requests for many
 * things are one kind and no person is named. It cuts the path at 200 characters.
 * @param {string} path
 * @returns {string}
 */
export function generalisePath(path) {
  const parts = path.split('/').map(part => (isIdentifier(part) ? 'id' : part))
  return parts.join('/').slice(0, PATH_BYTES_MOST) || '/'
}

/**
 * Says whether a part of a path may identify one thing or person.
 * @param {string} part
 * @returns {boolean} true in case of doubt
 */
function isIdentifier(part) {
  if (part === '') return false
  // A part with other characters may be a name: hide it.
  if (!/^[A-Za-z0-9._~-]+$/.test(part)) return true
  if (/^\d/.test(part) && !/^\d?[a-z]+$/i.test(part)) return true
  if (/^[0-9a-f-]{8,}$/i.test(part) && /\d/.test(part)) return true
  return part.length > 16 && /\d/.test(part)
}

/**
 * Merges all but the most frequent kinds into one `/other` for each method.
 * @param {Counted[]} kinds
 * @param {() => number} random
 * @returns {Counted[]} at most KINDS_MOST, the most frequent first
 */
function mergeRareKinds(kinds, random) {
  const sortedKinds = kinds.toSorted((a, b) => b.count - a.count)
  if (sortedKinds.length <= KINDS_MOST) return sortedKinds
  // Requests beyond the kinds that are counted belong to the rare ones.
  const named = sortedKinds.filter(kind => kind.path !== OTHER)
  const frequent = named.slice(0, KINDS_MOST - METHODS.length)
  /** @type {Map<string, Counted>} */
  const merged = new Map()
  for (const { method, count, sample } of sortedKinds.filter(kind => !frequent.includes(kind))) {
    const other = merged.get(method) ?? { method, path: OTHER, count: 0, sample: [] }
    merged.set(method, other)
    other.count += count
    for (const request of sample) addToSample(other, request, random)
  }
  return [...frequent, ...merged.values()].sort((a, b) => b.count - a.count)
}

/**
 * Creates a kind of a mix with the medians of its requests, clamped to what a mix may have. A size or time that none of them
 * has is left out.
 * @param {Counted} kind
 * @returns request, response: bytes of the bodies, undefined: not known; requestHeaders, serviceTime: absent: not known
 */
function createMixKind({ method, path, count, sample }) {
  // The lower median of the requests that have the field, at most the bound of a mix; undefined: none has it.
  const computeMedian = (/** @type {TrafficField} */ field, /** @type {number} */ most) => {
    const values = sample.flatMap(request => request[field] ?? []).sort((a, b) => a - b)
    return values.length === 0 ? undefined : Math.min(most, Math.round(values[Math.floor((values.length - 1) / 2)]))
  }
  const headers = computeMedian('requestHeaderBytes', HEADER_BYTES_MOST)
  const serviceMs = computeMedian('serviceMs', SERVICE_TIME_MOST_MS)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return {
    weight: count,
    method,
    path,
    request: hasBody ? computeMedian('requestBytes', BODY_BYTES_MOST) : 0,
    ...(headers !== undefined && headers >= 16 && { requestHeaders: headers }),
    response: method === 'HEAD' ? 0 : computeMedian('responseBytes', BODY_BYTES_MOST),
    ...(serviceMs !== undefined && serviceMs > 0 && { serviceTime: `${serviceMs}ms` }),
  }
}

/**
 * Computes the requests per second of the busiest minute, and the mean from the first minute to the last.
 * @param {Map<number, number>} minutes requests by minutes since the epoch
 * @returns {{ requestsPerSecond?: { mean: number, peak: number } }} {}: no request has a time
 */
function computeRate(minutes) {
  if (minutes.size === 0) return {}
  let [first, last, peakRequests, count] = [Number.POSITIVE_INFINITY, 0, 0, 0]
  for (const [minute, requests] of minutes) {
    first = Math.min(first, minute)
    last = Math.max(last, minute)
    peakRequests = Math.max(peakRequests, requests)
    count += requests
  }
  const computePerSecond = (/** @type {number} */ requests, /** @type {number} */ span) =>
    Number((requests / (60 * span)).toPrecision(3))
  return {
    requestsPerSecond: { mean: computePerSecond(count, last - first + 1), peak: computePerSecond(peakRequests, 1) },
  }
}

/**
 * Lists the sizes and times that no request of the samples has, each with the value that replaces it.
 * @param {Counted[]} kinds
 * @returns {string[]} []: each is known of some request
 */
function listMissingFields(kinds) {
  const isKnown = (/** @type {TrafficField} */ field, /** @type {(kind: Counted) => boolean} */ isOf) => {
    const kindsOfMethod = kinds.filter(isOf)
    return (
      kindsOfMethod.length === 0 || kindsOfMethod.some(({ sample }) => sample.some(request => request[field] !== null))
    )
  }
  return [
    ...(isKnown('requestBytes', ({ method }) => !['GET', 'HEAD'].includes(method))
      ? []
      : ['the size of request bodies (1 KiB is taken)']),
    ...(isKnown('requestHeaderBytes', () => true)
      ? []
      : ['the size of request headers (those of the generator are sent)']),
    ...(isKnown('responseBytes', ({ method }) => method !== 'HEAD') ? [] : ['the size of answers (1 KiB is taken)']),
    ...(isKnown('serviceMs', () => true) ? [] : ['how long the application took (none is taken: add serviceTime)']),
  ]
}
