/**
 * Parses lines of access logs: the default text and JSON of Envoy and Istio, and the combined format of nginx. Drops queries,
 * values of headers and addresses, which may name persons. Pure.
 */

/**
 * A request of a log; null: the log does not have that.
 * @typedef {object} LoggedRequest
 * @property {string} method
 * @property {string} path without query and fragment
 * @property {number | null} atMs epoch milliseconds
 * @property {number | null} requestBytes of the body
 * @property {number | null} requestHeaderBytes
 * @property {number | null} responseBytes of the body
 * @property {number | null} serviceMs from the request until the application answered
 */

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
// Envoy: [time] "METHOD path protocol" status flags, in Istio details and a quoted reason, bytes received, bytes sent, duration,
// upstream time.
const ENVOY =
  /^\[([^\]]+)\] "([A-Z]+) (\S+) [^"]*" (\d{3}|0) (?:\S+) (?:\S+ \S+ "(?:[^"\\]|\\.)*" )?(\d+) (\d+) (\d+|-) (\d+|-)(?: |$)/
// nginx: address - user [time] "METHOD path protocol" status bytes
const COMBINED =
  /^\S+ \S+ .*?\[(\d{2})\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] "([A-Z]+) (\S+)[^"]*" \d{3} (\d+|-)(?: |$)/

/**
 * Parses a line of a log.
 * @param {string} line
 * @returns {LoggedRequest | null} null: it has no known format, or its target no path, such as that of CONNECT
 */
export function parseLogLine(line) {
  return line.startsWith('{') ? parseJsonLine(line) : (parseEnvoyLine(line) ?? parseCombinedLine(line))
}

/**
 * Parses a line of the default text format of Envoy or Istio.
 * @param {string} line
 * @returns {LoggedRequest | null} null: another format, or a target without a path
 */
function parseEnvoyLine(line) {
  const [, time, method, target, , received, sent, , upstream] = ENVOY.exec(line) ?? []
  if (time === undefined) return null
  return createLoggedRequest({ method, target, time, received, sent, upstream })
}

/**
 * Parses a line of nginx's combined format, which has no request bytes and no service time.
 * @param {string} line
 * @returns {LoggedRequest | null} null: another format or an unknown month, or a target without a path
 */
function parseCombinedLine(line) {
  const [, day, month, year, clock, offsetHours, offsetMinutes, method, target, sent] = COMBINED.exec(line) ?? []
  if (day === undefined || !MONTHS.includes(month)) return null
  const date = `${year}-${`${MONTHS.indexOf(month) + 1}`.padStart(2, '0')}-${day}`
  return createLoggedRequest({ method, target, time: `${date}T${clock}${offsetHours}:${offsetMinutes}`, sent })
}

/**
 * Parses a JSON line with the keys of Istio, or those of Envoy's examples.
 * @param {string} line that begins with a brace
 * @returns {LoggedRequest | null} null: it is no JSON, has no method or path, or a target without a path
 */
function parseJsonLine(line) {
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
  return createLoggedRequest({ method, target, time, received, sent, upstream })
}

/**
 * Creates a request from the fields of a line. A time or number that is missing or damaged becomes null.
 * @param {object} fields
 * @param {string} fields.method
 * @param {string} fields.target the path with its query, or a whole URL
 * @param {string} [fields.time] when it came
 * @param {string | number} [fields.received] bytes of its body
 * @param {string | number} [fields.sent] bytes of its answer
 * @param {string | number} [fields.upstream] milliseconds until the application answered
 * @returns {LoggedRequest | null} null: the target has no path, such as that of CONNECT
 */
function createLoggedRequest({ method, target, time, received, sent, upstream }) {
  const path = findPath(target)
  if (path === null) return null
  const atMs = Date.parse(`${time}`)
  return {
    method,
    path,
    atMs: Number.isNaN(atMs) ? null : atMs,
    requestBytes: parseAmount(received),
    requestHeaderBytes: null,
    responseBytes: parseAmount(sent),
    serviceMs: parseAmount(upstream),
  }
}

/**
 * Finds the path of a request target (RFC 9112, 3.2), without query and fragment.
 * @param {string} target
 * @returns {string | null} `/` for a URL without a path; null: it has none, such as `*` or `host:443`
 */
export function findPath(target) {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  if (path === '') return /^https?:/i.test(target) || target.startsWith('?') ? '/' : null
  return path.startsWith('/') ? path : null
}

/**
 * Parses a number of bytes or milliseconds.
 * @param {unknown} value of a field
 * @returns {number | null} null: it is missing, empty, `-`, negative or no number
 */
function parseAmount(value) {
  if (value === undefined || value === null || value === '' || value === '-') return null
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? number : null
}
