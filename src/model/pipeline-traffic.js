import { PORTS } from './sidecar-contract.js'

/** The requests that a pipeline takes and sends on. Pure. @import { Pipeline } from './pipeline.js' */

const UPSTREAM = /\{\{\s*upstream\.(port|address|url)\s*\}\}/

/** Says whether a pipeline needs a network namespace: its scripts fix a port. @param {Pick<Pipeline, 'document'>} pipeline */
export function hasFixedPorts({ document: { listen, upstream } }) {
  return listen.port !== undefined || upstream?.ports !== undefined
}

/** Says whether requests go on to the application. @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline */
export function callsUpstream(pipeline) {
  return pipeline.document.upstream?.ports !== undefined || listTexts(pipeline).some(text => UPSTREAM.test(text))
}

/** Says whether the load speaks TLS to it. @param {Pick<Pipeline, 'document'>} pipeline */
export function hasServerTls({ document: { listen } }) {
  return listen.scheme === 'https'
}

/** Says whether it speaks TLS to the application. @param {Pick<Pipeline, 'document'>} pipeline */
export function hasUpstreamTls({ document: { upstream } }) {
  return upstream?.scheme === 'https'
}

/** Says whether the answer is the body that was posted. @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline */
export function isEchoed(pipeline) {
  const isUsual = postsPayload(pipeline) && Object.keys(pipeline.document.request.headers).length === 0
  return isUsual && pipeline.document.answer.status === 200 && callsUpstream(pipeline)
}

/** Says whether requests carry the payload of the load. @param {Pick<Pipeline, 'document'>} pipeline */
export function postsPayload({ document: { request } }) {
  return request.method === 'POST' && request.body === undefined
}

/** Returns the port at which requests come to it. @param {Pick<Pipeline, 'document'>} pipeline */
export function entryPortOf({ document: { listen } }) {
  return listen.port ?? PORTS.inbound
}

/** Lists the texts that may hold variables. @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline */
export function listTexts({ document, scriptFiles }) {
  return [
    ...(document.arguments ?? []),
    ...Object.values(document.environment),
    ...Object.values(document.files).map(one => (typeof one === 'string' ? one : (scriptFiles[one.template] ?? ''))),
    ...Object.values(document.replace).flatMap(texts => Object.values(texts)),
  ]
}
