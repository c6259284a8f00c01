import { createRandom } from '../lib/random.js'
import { HEADER_BYTES_LEAST, METHODS, WITHOUT_REQUEST_BODY } from '../model/requests.js'
import { BODY_BYTES_MOST, HEADER_BYTES_MOST, KINDS_MOST, SERVICE_TIME_MOST_MS } from '../model/traffic.js'

/** Turns the requests of a log into kinds of requests with weights, sizes and times. Pure. */
/**
 * @import { LoggedRequest } from './access-log.js'
 * @import { Traffic } from '../model/traffic.js'
 */

// The medians of a kind are those of a sample of at most so many requests.
const SAMPLE_MOST = 2000
// Requests beyond this many kinds count as `/other` of their method: a log may have a path for every request.
const NAMES_MOST = 10_000
const MINUTE_MS = 60_000
const PATH_CHARACTERS_MOST = 200
const OTHER = '/other'

/** @typedef {'requestBytes' | 'requestHeaderBytes' | 'responseBytes' | 'serviceMs'} TrafficField */
/** @typedef {{ method: string, path: string, count: number, sample: LoggedRequest[] }} CountedKind sample: of its requests */

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
  /** @type {Map<string, CountedKind>} */
  const kinds = new Map()
  /** @type {Map<number, number>} */
  const requestsByMinute = new Map()
  /** @type {Map<string, number>} */
  const unsupportedMethods = new Map()
  return {
    /**
     * Counts a request. A request with a method that no kind can have is only counted as left out.
     * @param {LoggedRequest} request
     */
    add(request) {
      const { method, atMs } = request
      if (!METHODS.some(name => name === method)) return addOne(unsupportedMethods, method)
      const kind = findOrAddKind(kinds, request)
      kind.count++
      addToSample(kind, request, random)
      if (atMs !== null) addOne(requestsByMinute, Math.floor(atMs / MINUTE_MS))
    },
    /**
     * Summarises the requests so far.
     * @param {string} name of the traffic
     * @returns traffic: with its rate if the log has times, and without kinds if no request was counted; count: of requests;
     *   paths: how many there are; unsupportedMethods: the methods that were left out, each with its number of requests;
     *   missingFields: a phrase for each size or time that no sampled request has
     */
    summarise(name) {
      const allKinds = [...kinds.values()]
      const mixKinds = mergeRareKinds(allKinds, random)
      return {
        traffic: /** @type {Traffic} */ ({
          name,
          ...computeRate(requestsByMinute),
          kinds: mixKinds.map(createMixKind),
        }),
        count: allKinds.reduce((sum, kind) => sum + kind.count, 0),
        paths: new Set(allKinds.map(({ path }) => path)).size,
        unsupportedMethods: [...unsupportedMethods],
        missingFields: listMissingFields(mixKinds),
      }
    },
  }
}

/**
 * Adds 1 to the count of a key, which is 0 if the key is new.
 * @template Key
 * @param {Map<Key, number>} counts
 * @param {Key} key
 */
function addOne(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/**
 * Finds the kind of a request by its method and general path, and adds it if it is new. With NAMES_MOST kinds, a new one is
 * `/other` of its method.
 * @param {Map<string, CountedKind>} kinds by method and path
 * @param {LoggedRequest} request
 * @returns {CountedKind}
 */
function findOrAddKind(kinds, { method, path }) {
  const generalPath = generalisePath(path)
  const isNamed = kinds.has(`${method} ${generalPath}`) || kinds.size < NAMES_MOST
  const kindPath = isNamed ? generalPath : OTHER
  const key = `${method} ${kindPath}`
  const kind = kinds.get(key) ?? { method, path: kindPath, count: 0, sample: [] }
  kinds.set(key, kind)
  return kind
}

/**
 * Adds a request to the uniform sample of its kind, of at most SAMPLE_MOST requests (reservoir sampling). In a full sample it
 * replaces another one, or is dropped.
 * @param {CountedKind} kind whose count includes the request
 * @param {LoggedRequest} request
 * @param {() => number} random returns a number in [0, 1)
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
 * things are one kind and no person is named. It cuts the path at PATH_CHARACTERS_MOST.
 * @param {string} path
 * @returns {string} `/` for an empty path
 */
export function generalisePath(path) {
  const parts = path.split('/').map(part => (isIdentifier(part) ? 'id' : part))
  return parts.join('/').slice(0, PATH_CHARACTERS_MOST) || '/'
}

/**
 * Says whether a part of a path may identify one thing or person.
 * @param {string} part
 * @returns {boolean} true in case of doubt; false: it is empty, or a plain word
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
 * Merges all but the most frequent kinds into one `/other` for each method, with a sample of their requests. If there are at most
 * KINDS_MOST, it merges none.
 * @param {CountedKind[]} kinds
 * @param {() => number} random returns a number in [0, 1)
 * @returns {CountedKind[]} at most KINDS_MOST, the most frequent first
 */
function mergeRareKinds(kinds, random) {
  const sortedKinds = kinds.toSorted((a, b) => b.count - a.count)
  if (sortedKinds.length <= KINDS_MOST) return sortedKinds
  // A kind `/other` of findOrAddKind is merged, however frequent it is.
  const named = sortedKinds.filter(kind => kind.path !== OTHER)
  const frequent = named.slice(0, KINDS_MOST - METHODS.length)
  /** @type {Map<string, CountedKind>} */
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
 * Creates a kind of a mix with the medians of its requests, clamped to the bounds of a mix.
 * @param {CountedKind} kind
 * @returns request, response: bytes of the bodies, 0 if the method has none, undefined: not known; requestHeaders: bytes, absent:
 *   below HEADER_BYTES_LEAST or not known; serviceTime: absent: 0 or not known
 */
function createMixKind({ method, path, count, sample }) {
  // Gives the lower median of the requests that have the field, clamped to `most`; undefined: none has it.
  const computeMedian = (/** @type {TrafficField} */ field, /** @type {number} */ most) => {
    const values = sample.flatMap(request => request[field] ?? []).sort((a, b) => a - b)
    return values.length === 0 ? undefined : Math.min(most, Math.round(values[Math.floor((values.length - 1) / 2)]))
  }
  const headers = computeMedian('requestHeaderBytes', HEADER_BYTES_MOST)
  const serviceMs = computeMedian('serviceMs', SERVICE_TIME_MOST_MS)
  return {
    weight: count,
    method,
    path,
    request: WITHOUT_REQUEST_BODY.includes(method) ? 0 : computeMedian('requestBytes', BODY_BYTES_MOST),
    ...(headers !== undefined && headers >= HEADER_BYTES_LEAST && { requestHeaders: headers }),
    response: method === 'HEAD' ? 0 : computeMedian('responseBytes', BODY_BYTES_MOST),
    ...(serviceMs !== undefined && serviceMs > 0 && { serviceTime: `${serviceMs}ms` }),
  }
}

/**
 * Computes the requests per second of the busiest minute, and the mean from the first minute to the last.
 * @param {Map<number, number>} requestsByMinute by minutes since the epoch
 * @returns {{ requestsPerSecond?: { mean: number, peak: number } }} to three digits; {}: no request has a time
 */
function computeRate(requestsByMinute) {
  if (requestsByMinute.size === 0) return {}
  let [first, last, peakRequests, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  for (const [minute, requests] of requestsByMinute) {
    first = Math.min(first, minute)
    last = Math.max(last, minute)
    peakRequests = Math.max(peakRequests, requests)
    count += requests
  }
  const computePerSecond = (/** @type {number} */ requests, /** @type {number} */ minutes) =>
    Number((requests / (60 * minutes)).toPrecision(3))
  return {
    requestsPerSecond: { mean: computePerSecond(count, last - first + 1), peak: computePerSecond(peakRequests, 1) },
  }
}

/**
 * Lists the sizes and times that no request of the samples has, each with the value that replaces it. A body that no method of
 * the log has is not missing.
 * @param {CountedKind[]} kinds
 * @returns {string[]} phrases; []: each is known of some request
 */
function listMissingFields(kinds) {
  const isMissing = (/** @type {TrafficField} */ field, /** @type {CountedKind[]} */ some) =>
    some.length > 0 && some.every(({ sample }) => sample.every(request => request[field] === null))
  const withRequestBody = kinds.filter(({ method }) => !WITHOUT_REQUEST_BODY.includes(method))
  const withAnswerBody = kinds.filter(({ method }) => method !== 'HEAD')
  const phrases = []
  if (isMissing('requestBytes', withRequestBody)) phrases.push('the size of request bodies (1 KiB is taken)')
  if (isMissing('requestHeaderBytes', kinds))
    phrases.push('the size of request headers (those of the generator are sent)')
  if (isMissing('responseBytes', withAnswerBody)) phrases.push('the size of answers (1 KiB is taken)')
  if (isMissing('serviceMs', kinds)) phrases.push('how long the application took (none is taken: add serviceTime)')
  return phrases
}
