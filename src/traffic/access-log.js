/**
 * Lines of access logs: the default text and JSON of Envoy and Istio, and the combined format of nginx. Queries, values of
 * headers and addresses are left behind here. Pure.
 */

/**
 * A request that a log tells of.
 * @typedef {object} LoggedRequest
 * @property {string} method
 * @property {string} path without its query
 * @property {number | null} atMs epoch milliseconds
 * @property {number | null} requestBytes of the body; null: the log does not tell
 * @property {number | null} requestHeaderBytes
 * @property {number | null} responseBytes of the body
 * @property {number | null} serviceMs until the application answered
 */

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
// Envoy: [time] "METHOD path protocol" status flags, in Istio details and a quoted reason, bytes received, bytes sent, duration, upstream time.
const ENVOY =
  /^\[([^\]]+)\] "([A-Z]+) (\S+) [^"]*" (\d{3}|0) (?:\S+) (?:\S+ \S+ "(?:[^"\\]|\\.)*" )?(\d+) (\d+) (\d+|-) (\d+|-)(?: |$)/
// nginx: address - user [time] "METHOD path protocol" status bytes
const COMBINED =
  /^\S+ \S+ .*?\[(\d{2})\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] "([A-Z]+) (\S+)[^"]*" \d{3} (\d+|-)(?: |$)/

/** Reads a line of a log. @param {string} line @returns {LoggedRequest | null} null: it is of no known form */
export function parseLogLine(line) {
  return line.startsWith('{') ? parseJson(line) : (parseEnvoy(line) ?? parseCombined(line))
}

/** @param {string} line */
function parseEnvoy(line) {
  const [, time, method, target, , received, sent, , upstream] = ENVOY.exec(line) ?? []
  if (time === undefined) return null
  return createRequest({ method, target, time, received, sent, upstream })
}

/** @param {string} line */
function parseCombined(line) {
  const [, day, month, year, clock, hours, minutes, method, target, sent] = COMBINED.exec(line) ?? []
  if (day === undefined || !MONTHS.includes(month)) return null
  const date = `${year}-${`${MONTHS.indexOf(month) + 1}`.padStart(2, '0')}-${day}`
  return createRequest({ method, target, time: `${date}T${clock}${hours}:${minutes}`, sent })
}

/** Reads a JSON line with the keys of Istio, or those of Envoy's own examples. @param {string} line */
function parseJson(line) {
  /** @type {Record<string, any>} */
  let entry
  try {
    entry = JSON.parse(line)
  } catch {
    return null
  }
  const { method, path: target = entry['x-envoy-original-path'], start_time: time } = entry
  if (typeof method !== 'string' || typeof target !== 'string') return null
  const { bytes_received: received, bytes_sent: sent, upstream_service_time: upstream } = entry
  return createRequest({ method, target, time, received, sent, upstream })
}

/**
 * @param {{ method: string, target: string, time?: string, received?: string | number, sent?: string | number,
 *   upstream?: string | number }} fields target: the path with its query, or a whole URL
 * @returns {LoggedRequest | null}
 */
function createRequest({ method, target, time, received, sent, upstream }) {
  const path = findPath(target)
  if (path === null) return null
  const atMs = Date.parse(`${time}`)
  return {
    method,
    path,
    atMs: Number.isNaN(atMs) ? null : atMs,
    requestBytes: readNumber(received),
    requestHeaderBytes: null,
    responseBytes: readNumber(sent),
    serviceMs: readNumber(upstream),
  }
}

/** Finds the path of a target, without query and fragment. @param {string} target @returns {string | null} */
export function findPath(target) {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  if (path === '') return /^https?:/i.test(target) || target.startsWith('?') ? '/' : null
  return path.startsWith('/') ? path : null
}

/** @param {unknown} value @returns {number | null} */
function readNumber(value) {
  if (value === undefined || value === null || value === '' || value === '-') return null
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? number : null
}
