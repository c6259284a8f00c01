import { PORTS } from './sidecar-contract.js'

/**
 * Facts about the requests that a pipeline takes and sends on. Pure.
 * @import { Pipeline } from './pipeline.js'
 */

const UPSTREAM = /\{\{\s*upstream\.(port|address|url)\s*\}\}/

/**
 * Says whether the scripts of a pipeline fix the port that they listen at or that they call, and so need a network namespace of
 * their own.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {boolean}
 */
export function hasFixedPorts({ document: { listen, upstream } }) {
  return listen.port !== undefined || upstream?.ports !== undefined
}

/**
 * Says whether requests are forwarded to the application: the file names its ports, or a text names a variable of `upstream`.
 * @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline
 * @returns {boolean}
 */
export function hasUpstreamCalls(pipeline) {
  if (pipeline.document.upstream?.ports !== undefined) return true
  return listTemplateTexts(pipeline).some(text => UPSTREAM.test(text))
}

/**
 * Says whether the load speaks TLS to the pipeline.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {boolean}
 */
export function hasServerTls({ document: { listen } }) {
  return listen.scheme === 'https'
}

/**
 * Says whether the pipeline speaks TLS to the application.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {boolean} false also: it has no upstream
 */
export function hasUpstreamTls({ document: { upstream } }) {
  return upstream?.scheme === 'https'
}

/**
 * Says whether the payload is posted without headers, and forwarded to the application, which echoes it with status 200.
 * @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline
 * @returns {boolean}
 */
export function echoesPayload(pipeline) {
  const hasHeaders = Object.keys(pipeline.document.request.headers).length > 0
  if (!isPayloadPosted(pipeline) || hasHeaders) return false
  return pipeline.document.answer.status === 200 && hasUpstreamCalls(pipeline)
}

/**
 * Says whether requests post the payload (--payload), and no body that the pipeline.yaml names.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {boolean}
 */
export function isPayloadPosted({ document: { request } }) {
  return request.method === 'POST' && request.body === undefined
}

/**
 * Finds the port at which the pipeline listens: the one that its scripts fix, or the kit's.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @returns {number}
 */
export function findPipelinePort({ document: { listen } }) {
  return listen.port ?? PORTS.inbound
}

/**
 * Lists the texts in which variables are replaced: arguments, environment, files and replacements. A missing template counts as
 * empty.
 * @param {Pick<Pipeline, 'document' | 'scriptFiles'>} pipeline
 * @returns {string[]} []: there are none
 */
export function listTemplateTexts({ document, scriptFiles }) {
  return [
    ...(document.arguments ?? []),
    ...Object.values(document.environment),
    ...Object.values(document.files).map(file =>
      typeof file === 'string' ? file : (scriptFiles[file.template] ?? ''),
    ),
    ...Object.values(document.replace).flatMap(texts => Object.values(texts)),
  ]
}

/**
 * Summarises the request of a pipeline for records. Headers and the body may be secret, and are left out.
 * @param {Pick<Pipeline, 'document'>} pipeline
 * @param {number} payloadBytes the body of a POST without one of its own
 * @returns requestBytes: of the body; status: the expected one
 */
export function summariseRequest(pipeline, payloadBytes) {
  const { request, answer } = pipeline.document
  const { method, path, body = '' } = request
  const requestBytes = isPayloadPosted(pipeline) ? payloadBytes : Buffer.byteLength(body)
  return { method, path, requestBytes, status: answer.status }
}
