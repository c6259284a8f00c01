import { parseJson } from '../../lib/json.js'
import { listFeatures } from '../../model/features.js'

/**
 * The checks of the features `trace-headers` and `header-rewrite`.
 * @import { Rig } from '../rig.js'
 */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
// More than 256, so that a plane which draws only one byte of its trace ids must repeat one.
const TRACES = 300
// Either flag is right: a plane may sample a trace or not (W3C Trace Context, trace-flags).
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/
// The malformed headers of a plane are mostly alike: two of 300 show the fault.
const LISTED_MOST = 2

/**
 * Checks that a request without a trace gets one of its own, and that a request's trace continues with a new span and the same
 * tracestate.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkTraceHeaders(rig) {
  const created = []
  for (let i = 0; i < TRACES; i++) created.push((await sendForHeaders(rig, {})).requestHeaders.traceparent)
  const { requestHeaders } = await sendForHeaders(rig, {
    traceparent: `00-${TRACE}-${SPAN}-01`,
    tracestate: 'vendor=1',
  })
  const { traceparent: continued, tracestate } = requestHeaders
  return listTraceDifferences({ created, continued, tracestate })
}

/**
 * Lists how the trace headers that came to the upstream differ from what a sidecar must send; undefined stands for a missing
 * header. At most LISTED_MOST of those that the sidecar created are listed.
 * @param {object} traceparents
 * @param {(string | undefined)[]} traceparents.created one for each request without a trace
 * @param {string | undefined} traceparents.continued that of the request with the trace TRACE
 * @param {string | undefined} traceparents.tracestate of that request, which was sent with vendor=1
 * @returns {string[]} []: none differs
 */
export function listTraceDifferences({ created, continued, tracestate }) {
  const malformed = created.filter(header => !TRACEPARENT.test(header ?? ''))
  const traces = created.flatMap(header => TRACEPARENT.exec(header ?? '')?.[1] ?? [])
  const [, trace, span] = TRACEPARENT.exec(continued ?? '') ?? []
  return [
    ...malformed.slice(0, LISTED_MOST).map(header => `traceparent ${header ?? 'none'}, made of none`),
    ...(new Set(traces).size < traces.length ? ['two requests in one trace'] : []),
    ...(trace === TRACE && span !== SPAN ? [] : [`traceparent ${continued}, passed on of ${TRACE}`]),
    ...(tracestate === 'vendor=1' ? [] : [`tracestate ${tracestate}, passed on of vendor=1`]),
  ]
}

/**
 * Checks that headers are set and removed, in a request and in its answer, also in an answer that the sidecar itself gives: a 503
 * and, with the feature `authorization`, a 403.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} as `checkTraceHeaders`, with the same other errors
 */
export async function checkHeaderRewrite(rig) {
  const { requestHeaders, answerHeaders } = await sendForHeaders(rig, { 'x-mesh': 'another', 'x-internal': 'yes' })
  // Through the client's sidecar, that one would set the header in any answer: the permissive sidecar is called directly.
  const readMeshHeader = async (/** @type {string} */ host) =>
    (await rig.send({ host }, { endpoint: rig.permissive })).headers['x-mesh']
  const isAuthorised = listFeatures(rig.measured.features).includes('authorization')
  const headers = {
    'x-mesh of the request': [requestHeaders['x-mesh'], 'sidecar-bench'],
    'x-internal of the request': [requestHeaders['x-internal'], undefined],
    'x-mesh of the answer': [answerHeaders['x-mesh'], 'sidecar-bench'],
    'x-debug of the answer': [answerHeaders['x-debug'], undefined],
    'x-mesh of a 503': [await readMeshHeader('gone'), 'sidecar-bench'],
    ...(isAuthorised ? { 'x-mesh of a 403': [await readMeshHeader('denied'), 'sidecar-bench'] } : {}),
  }
  return Object.entries(headers)
    .filter(([, [value, expected]]) => value !== expected)
    .map(([header, [value, expected]]) => `${header} ${value ?? 'none'}, expected ${expected ?? 'none'}`)
}

/**
 * Sends a request with headers through both sidecars to the upstream's `/headers`, which answers with those that it received.
 * @param {Rig} rig
 * @param {Record<string, string>} headers
 * @returns {Promise<{ requestHeaders: Record<string, string | undefined>, answerHeaders: Record<string, unknown> }>}
 *   requestHeaders: as they arrived at the upstream, {}: the answer is no JSON, as a sidecar answered itself; answerHeaders: as they
 *   came back
 * @throws {BenchError} as `checkTraceHeaders`, with the same other errors
 */
async function sendForHeaders({ send }, headers) {
  const { body, headers: answerHeaders } = await send({ host: 'echo', path: '/headers', headers })
  return { requestHeaders: parseJson(body) ?? {}, answerHeaders }
}
