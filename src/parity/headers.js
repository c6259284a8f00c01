import { listFeatures } from '../model/features.js'

/** Checks whether sidecars begin and pass on traces, and rewrite headers. @import { Rig } from './rig.js' */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
// A plane that makes ids of traces from one byte would repeat one among so many.
const TRACES = 300
// Each plane may sample a trace or not.
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/

/** A request without a trace gets one of its own; the trace of a request goes on, as another span. @param {Rig} rig */
export async function checkTrace(rig) {
  const made = []
  for (let i = 0; i < TRACES; i++) made.push((await sendThrough(rig, {})).got.traceparent)
  const { got } = await sendThrough(rig, { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' })
  return describeTraces({ made, passedOn: got.traceparent, tracestate: got.tracestate })
}

/** @param {{ made: (string | undefined)[], passedOn: string | undefined, tracestate: string | undefined }} options */
export function describeTraces({ made, passedOn, tracestate }) {
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
 * Headers are set and removed, of a request and of its answer, also of one that the sidecar gives itself.
 * @param {Rig} rig
 */
export async function checkRewrite(rig) {
  const { got, answered } = await sendThrough(rig, { 'x-mesh': 'another', 'x-internal': 'yes' })
  // The answer of one sidecar: the client's would set the header in any answer of the server's.
  const meshOf = async (/** @type {string} */ host) =>
    (await rig.send({ host }, { endpoint: rig.permissive })).headers['x-mesh']
  const isAuthorised = listFeatures(rig.measured.features).includes('authorization')
  const headers = {
    'x-mesh of the request': [got['x-mesh'], 'sidecar-bench'],
    'x-internal of the request': [got['x-internal'], undefined],
    'x-mesh of the answer': [answered['x-mesh'], 'sidecar-bench'],
    'x-debug of the answer': [answered['x-debug'], undefined],
    'x-mesh of a 503': [await meshOf('gone'), 'sidecar-bench'],
    ...(isAuthorised ? { 'x-mesh of a 403': [await meshOf('denied'), 'sidecar-bench'] } : {}),
  }
  return Object.entries(headers)
    .filter(([, [value, expected]]) => value !== expected)
    .map(([what, [value, expected]]) => `${what} ${value ?? 'none'}, expected ${expected ?? 'none'}`)
}

/**
 * @param {Rig} rig
 * @param {Record<string, string>} headers
 * @returns {Promise<{ got: Record<string, string | undefined>, answered: Record<string, unknown> }>} got: the headers that
 *   came to the upstream; answered: those that came back
 */
async function sendThrough({ send }, headers) {
  const { body, headers: answered } = await send({ host: 'echo', path: '/headers', headers })
  return { got: JSON.parse(body), answered }
}
