import { parseJson } from '../../lib/json.js'
import { pollInTime } from '../../lib/wait.js'
import { FEATURES, listFeatures } from '../../model/features.js'

/** The check of the feature `access-log`: which lines sidecars write. */
/** @import { Rig } from '../rig.js' */

const LOG_SECONDS = 20
const BODY = 'b'.repeat(1000)
// A quote, a backslash and a tab: JSON must escape them, and a header may hold them.
const USER_AGENT = 'parity "\\\t"'
const UTC_MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const IPV4_ENDPOINT = /^\d+(\.\d+){3}:\d+$/

/**
 * Checks that a request has one line at each sidecar on its way, with all fields and their values, and that a retried request and
 * (with the feature `authorization`) a refused one have one line, too.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts; what reading a log throws
 */
export async function checkAccessLog(rig) {
  const path = '/logged?x=1'
  await rig.send({
    host: 'echo',
    path,
    method: 'POST',
    body: BODY,
    headers: { 'user-agent': USER_AGENT, 'x-request-id': 'request-1', 'x-forwarded-for': '192.0.2.1' },
  })
  const sharedFields = {
    method: 'POST',
    path,
    authority: 'echo',
    response_code: 200,
    bytes_received: BODY.length,
    bytes_sent: BODY.length,
    user_agent: USER_AGENT,
    request_id: 'request-1',
    x_forwarded_for: '192.0.2.1',
  }
  const protocol = rig.measured.protocol === 'http/2' ? 'HTTP/2' : 'HTTP/1.1'
  const [clientLines, serverLines] = await Promise.all([
    readLogLines(rig, { service: 'client', path }),
    readLogLines(rig, { service: 'server', path }),
  ])
  return [
    ...listLogDifferences(clientLines, { ...sharedFields, protocol: 'HTTP/1.1', upstream_cluster: 'server' }),
    ...listLogDifferences(serverLines, { ...sharedFields, protocol, upstream_cluster: 'a' }),
    ...(await checkRetriedRequest(rig)),
    ...(await checkRefusedRequest(rig)),
  ]
}

/**
 * Checks that a request that the sidecar retries has one line.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {Error} as `checkAccessLog`
 */
async function checkRetriedRequest(rig) {
  const path = '/retried'
  // The cluster `half` is round-robin, and one of its two endpoints refuses connections: one of two requests is retried.
  for (let i = 0; i < 2; i++) await rig.send({ host: 'half', path })
  const lines = await readLogLines(rig, { service: 'server', path, least: 2 })
  const codes = lines.map(line => line.response_code).join(', ')
  return codes === '200, 200'
    ? []
    : [`${codes || 'no line'} of two requests, one of them tried again, expected 200, 200`]
}

/**
 * Checks that a request that the feature `authorization` refuses has a line, too, without an upstream.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none, or the sidecars do not have the feature
 * @throws {Error} as `checkAccessLog`
 */
async function checkRefusedRequest(rig) {
  if (!listFeatures(rig.measured.features).includes('authorization')) return []
  const path = '/refused'
  await rig.send({ host: 'denied', path })
  const lines = await readLogLines(rig, { service: 'server', path })
  const upstreams = lines.map(line => `${line.response_code} from ${line.upstream_host}`).join(', ')
  return upstreams === '403 from null' ? [] : [`${upstreams || 'no line'} of a refused request, expected 403 from null`]
}

/**
 * Reads the JSON lines of a sidecar's log whose `path` is the given one, as soon as there are `least` of them, or else after
 * LOG_SECONDS.
 * @param {Rig} rig
 * @param {{ service: string, path: string, least?: number }} options least: 1 by default
 * @returns {Promise<Record<string, unknown>[]>} fewer than `least`: no others came in time; []: none came, or the service has no
 *   process
 * @throws what reading the log throws; the reason of the rig's signal when it aborts
 */
async function readLogLines({ sidecars, signal }, { service, path, least = 1 }) {
  const sidecar = sidecars.processes.find(({ spec }) => spec.service === service)
  /** @type {Record<string, unknown>[]} */
  let lines = []
  const hasLines = async () => {
    const log = (await sidecar?.readLog()) ?? ''
    // Lines that are no JSON, or of other paths, are no part of the check.
    lines = log
      .split('\n')
      .map(parseJson)
      .filter(line => line?.path === path)
    return lines.length >= least
  }
  // A line that does not come is a difference, not an error.
  await pollInTime(hasLines, { deadlineSeconds: LOG_SECONDS, intervalMs: 100, signal })
  return lines
}

/**
 * Lists how the log lines of a request differ from a single line with all fields, and no others. A field without an expected
 * value must still have the right form if it is a time, a duration or the address of an upstream.
 * @param {Record<string, unknown>[]} lines
 * @param {Record<string, unknown>} expected values by field; if `upstream_cluster` is `server`, the lines are those of the
 *   client's sidecar
 * @returns {string[]} []: they do not differ; with more lines than one, or none, only their number is listed
 */
export function listLogDifferences(lines, expected) {
  const place = `at ${expected.upstream_cluster === 'server' ? 'client' : 'server'}`
  if (lines.length !== 1) return [`${lines.length} lines for one request ${place}`]
  const [line] = lines
  const { fields } = FEATURES['access-log']
  const missingFields = fields.filter(field => !(field in line))
  const unknownFields = Object.keys(line).filter(field => !fields.includes(field))
  const wrongFields = Object.entries(expected).filter(([field, value]) => line[field] !== value)
  const wrongDurations = ['duration', 'time_to_first_byte'].filter(field => !isWholeNumber(line[field]))
  return [
    ...missingFields.map(field => `no ${field} ${place}`),
    ...unknownFields.map(field => `${field} beyond the fields ${place}`),
    ...wrongFields.map(
      ([field, value]) => `${field} ${JSON.stringify(line[field])} ${place}, expected ${JSON.stringify(value)}`,
    ),
    ...wrongDurations.map(field => `${field} ${JSON.stringify(line[field])} ${place}`),
    ...(UTC_MILLISECONDS.test(`${line.start_time}`) ? [] : [`start_time ${line.start_time} ${place}`]),
    ...(IPV4_ENDPOINT.test(`${line.upstream_host}`) ? [] : [`upstream_host ${line.upstream_host} ${place}`]),
  ]
}

/** @param {unknown} value */
function isWholeNumber(value) {
  return Number.isInteger(value) && Number(value) >= 0
}
