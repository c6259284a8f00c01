import { parseJson } from '../lib/json.js'
import { isInTime } from '../lib/wait.js'
import { FEATURES, listFeatures } from '../model/features.js'

/** Checks whether sidecars write the lines of the feature `access-log`. Each check lists the differences in words. */
/** @import { Rig } from './rig.js' */

const LOG_SECONDS = 20
const BODY = 'b'.repeat(1000)
// A quote, a backslash and a tab: JSON must escape them, and a header may hold them.
const USER_AGENT = 'parity "\\\t"'

/**
 * Checks that a request has one line at each sidecar on its way, with all the fields and their values, and so have one that is
 * retried and one that is refused.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
export async function checkAccessLog(rig) {
  const path = '/logged?x=1'
  const ask = {
    host: 'echo',
    path,
    method: 'POST',
    body: BODY,
    headers: { 'user-agent': USER_AGENT, 'x-request-id': 'request-1', 'x-forwarded-for': '192.0.2.1' },
  }
  await rig.send(ask)
  const same = {
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
  const logged = await Promise.all([
    readLines(rig, { service: 'client', path }),
    readLines(rig, { service: 'server', path }),
  ])
  const expected = [
    { ...same, protocol: 'HTTP/1.1', upstream_cluster: 'server' },
    { ...same, protocol, upstream_cluster: 'a' },
  ]
  return [
    ...logged.flatMap((lines, i) => listLogDifferences(lines, expected[i])),
    ...(await checkRetriedRequest(rig)),
    ...(await checkRefusedRequest(rig)),
  ]
}

/** Checks that a request that the sidecar retries has one line. @param {Rig} rig */
async function checkRetriedRequest(rig) {
  const path = '/retried'
  // The endpoints of `half` have turns, and one refuses: one of two requests is tried again.
  for (let i = 0; i < 2; i++) await rig.send({ host: 'half', path })
  const lines = await readLines(rig, { service: 'server', path, least: 2 })
  const codes = lines.map(line => line.response_code).join(', ')
  return codes === '200, 200'
    ? []
    : [`${codes || 'no line'} of two requests, one of them tried again, expected 200, 200`]
}

/**
 * Checks that a request which the feature `authorization` refuses has a line, too, without an upstream.
 * @param {Rig} rig
 */
async function checkRefusedRequest(rig) {
  if (!listFeatures(rig.measured.features).includes('authorization')) return []
  const path = '/refused'
  await rig.send({ host: 'denied', path })
  const lines = await readLines(rig, { service: 'server', path })
  const upstreams = lines.map(line => `${line.response_code} from ${line.upstream_host}`).join(', ')
  return upstreams === '403 from null' ? [] : [`${upstreams || 'no line'} of a refused request, expected 403 from null`]
}

/**
 * Reads the lines of a sidecar's log about a path, as soon as there are at least so many, or after 20 s those that are there.
 * @param {Rig} rig
 * @param {{ service: string, path: string, least?: number }} wanted
 * @returns {Promise<Record<string, unknown>[]>}
 */
async function readLines({ sidecars, signal }, { service, path, least = 1 }) {
  const process = sidecars.processes.find(({ spec }) => spec.service === service)
  /** @type {Record<string, unknown>[]} */
  let lines = []
  const isThere = async () => {
    const log = (await process?.readLog()) ?? ''
    // Lines that are no JSON, or of other paths, are no part of the check.
    lines = log
      .split('\n')
      .map(parseJson)
      .filter(line => line?.path === path)
    return lines.length >= least
  }
  // A line that does not come is a difference, not an error.
  await isInTime(isThere, { deadlineSeconds: LOG_SECONDS, intervalMs: 100, signal })
  return lines
}

/**
 * Lists the differences of a request's log lines from one line with all fields, and no others. Fields whose value is not expected
 * are held to their form, if they are a time, a duration or an upstream's address.
 * @param {Record<string, unknown>[]} lines
 * @param {Record<string, unknown>} expected the fields whose value is known; the `upstream_cluster` server is that of the client's
 *   sidecar
 * @returns {string[]} []: none
 */
export function listLogDifferences(lines, expected) {
  const at = `at ${expected.upstream_cluster === 'server' ? 'client' : 'server'}`
  if (lines.length !== 1) return [`${lines.length} lines for one request ${at}`]
  const [line] = lines
  const { fields } = FEATURES['access-log']
  const missing = fields.filter(field => !(field in line))
  const more = Object.keys(line).filter(field => !fields.includes(field))
  const isCount = (/** @type {unknown} */ value) => Number.isInteger(value) && Number(value) >= 0
  const wrong = Object.entries(expected).filter(([field, value]) => line[field] !== value)
  return [
    ...missing.map(field => `no ${field} ${at}`),
    ...more.map(field => `${field} beyond the fields ${at}`),
    ...wrong.map(
      ([field, value]) => `${field} ${JSON.stringify(line[field])} ${at}, expected ${JSON.stringify(value)}`,
    ),
    ...['duration', 'time_to_first_byte']
      .filter(field => !isCount(line[field]))
      .map(field => `${field} ${JSON.stringify(line[field])} ${at}`),
    ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(`${line.start_time}`)
      ? []
      : [`start_time ${line.start_time} ${at}`]),
    ...(/^\d+(\.\d+){3}:\d+$/.test(`${line.upstream_host}`) ? [] : [`upstream_host ${line.upstream_host} ${at}`]),
  ]
}
