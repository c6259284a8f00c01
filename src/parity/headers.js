import { listFeatures } from '../model/features.js'

/**
 * Checks whether sidecars begin and pass on traces, and rewrite headers.
 * @import { Rig } from './rig.js'
 */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
// More than 256, so that a plane which draws only one byte of its trace ids must repeat one.
const TRACES = 300
// Either flag is right: a plane may sample a trace or not (W3C Trace Context, trace-flags).
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/

/**
 * Checks that a request without a trace gets one of its own, and that a request's trace continues with a new span.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
export async function checkTrace(rig) {
  const made = []
  for (let i = 0; i < TRACES; i++) made.push((await sendHeaders(rig, {})).got.traceparent)
  const { got } = await sendHeaders(rig, { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' })
  return listTraceDifferences({ made, passedOn: got.traceparent, tracestate: got.tracestate })
}

/**
 * Lists the differences of the trace headers that came to the upstream; undefined stands for a missing header. Of those that
 * were created wrongly it lists at most two.
 * @param {object} options
 * @param {(string | undefined)[]} options.made the traceparent of each request without one
 * @param {string | undefined} options.passedOn the traceparent of the request with the trace TRACE
 * @param {string | undefined} options.tracestate of that request, which has the state vendor=1
 * @returns {string[]} []: none differs
 */
export function listTraceDifferences({ made, passedOn, tracestate }) {
  const traces = made.map(header => TRACEPARENT.exec(header ?? '')?.[1])
  const [, trace, span] = TRACEPARENT.exec(passedOn ?? '') ?? []
  return [
    ...made
      .filter((_, i) => !traces[i])
      .slice(0, 2)
      .map(header => `traceparent ${header ?? 'none'}, made of none`),
    ...(new Set(traces.filter(Boolean)).size < traces.filter(Boolean).length ? ['two requests in one trace'] : []),
    ...(trace === TRACE && span !== SPAN ? [] : [`traceparent ${passedOn}, passed on of ${TRACE}`]),
    ...(tracestate === 'vendor=1' ? [] : [`tracestate ${tracestate}, passed on of vendor=1`]),
  ]
}

/**
 * Checks that headers are set and removed, in a request and in its answer, also in an answer that the sidecar itself gives.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
export async function checkRewrite(rig) {
  const { got, answered } = await sendHeaders(rig, { 'x-mesh': 'another', 'x-internal': 'yes' })
  // The permissive sidecar is asked directly: through the client's, that one would set the header in any answer.
  const readMeshHeader = async (/** @type {string} */ host) =>
    (await rig.send({ host }, { endpoint: rig.permissive })).headers['x-mesh']
  const isAuthorised = listFeatures(rig.measured.features).includes('authorization')
  const headers = {
    'x-mesh of the request': [got['x-mesh'], 'sidecar-bench'],
    'x-internal of the request': [got['x-internal'], undefined],
    'x-mesh of the answer': [answered['x-mesh'], 'sidecar-bench'],
    'x-debug of the answer': [answered['x-debug'], undefined],
    'x-mesh of a 503': [await readMeshHeader('gone'), 'sidecar-bench'],
    ...(isAuthorised ? { 'x-mesh of a 403': [await readMeshHeader('denied'), 'sidecar-bench'] } : {}),
  }
  return Object.entries(headers)
    .filter(([, [value, expected]]) => value !== expected)
    .map(([what, [value, expected]]) => `${what} ${value ?? 'none'}, expected ${expected ?? 'none'}`)
}

/**
 * Sends a request with headers through both sidecars to the upstream's `/headers`, which answers with those that it got.
 * @param {Rig} rig
 * @param {Record<string, string>} headers
 * @returns {Promise<{ got: Record<string, string | undefined>, answered: Record<string, unknown> }>} got: the headers that
 *   arrived at the upstream; answered: those of the answer
 */
async function sendHeaders({ send }, headers) {
  const { body, headers: answered } = await send({ host: 'echo', path: '/headers', headers })
  return { got: JSON.parse(body), answered }
}
