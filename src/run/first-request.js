import { BenchError } from '../lib/errors.js'
import { listLastLines } from '../lib/log-tail.js'
import { echoesPayload } from '../model/pipeline-traffic.js'
import { createCheckRequest } from '../model/requests.js'

/**
 * The first request through the sidecars of an arm, before any load.
 * @import { Arm, Endpoint, Handle, OwnRequest, Target } from '../model/types.ts'
 * @import { Pipeline } from '../model/pipeline.js'
 */

// Pipy logs an exception of a script in about eight lines, and often a second one that it causes.
const SIDECAR_LINES = 24

/**
 * @typedef {object} FirstRequest
 * @property {Target} target
 * @property {{ endpoints: Endpoint[], host: string }} entry
 * @property {Arm} arm
 * @property {number} [timeoutSeconds] absent: the default of `send`
 * @property {ReturnType<typeof import('../model/certificate-files.js').locateCredentials> | null} [credentials] of a load that
 *   speaks TLS; absent, or null: plaintext
 */

/**
 * Sends one request to the entry, and asserts that the load can count answers like the one that comes.
 * @param {FirstRequest & { pipeline: Pipeline | undefined }} options pipeline: undefined: the sidecars read the kit's configuration
 * @returns {Promise<OwnRequest | undefined>} the request that the load sends; undefined: the kit's own, which is echoed
 * @throws {BenchError} as `sendPipelineRequest` or `sendNonce`; with a hint if the pipeline has another codec than HTTP
 */
export async function sendFirstRequest({ pipeline, ...options }) {
  if (!pipeline) return sendNonce({ ...options, path: '/' })
  try {
    return echoesPayload(pipeline)
      ? await sendNonce({ ...options, path: pipeline.document.request.path })
      : await sendPipelineRequest({ ...options, pipeline })
  } catch (error) {
    const { addForeignCodecHint } = await import('../model/pipeline-findings.js')
    throw addForeignCodecHint(error, pipeline)
  }
}

/**
 * Sends the request of a pipeline once. Answers of the load count if they have the same status and number of bytes.
 * @param {FirstRequest & { pipeline: Pipeline }} options
 * @returns {Promise<OwnRequest>} bytes: length of the body of the answer
 * @throws {BenchError} if it fails, has another status than `pipeline.yaml` names, or is compressed
 */
export async function sendPipelineRequest({ target, entry, arm, pipeline, timeoutSeconds, credentials }) {
  const { document, file } = pipeline
  const { method, path, headers } = document.request
  const { body = method === 'POST' ? 'x'.repeat(arm.load.payloadBytes ?? 0) : '' } = document.request
  const { host = entry.host, ...others } = headers
  const [endpoint] = entry.endpoints
  const requestLine = `${method} ${path} of ${file} to ${arm.id} (${endpoint.address}:${endpoint.port})`
  // `send` takes and returns bodies as latin1, where each character is one byte: its length counts bytes, and any byte survives JSON.
  const request = { host, method, path, headers: others, body: Buffer.from(body).toString('latin1') }
  const answer = await target.call('send', { endpoint, request, timeoutSeconds, credentials }).catch(error => {
    throw new BenchError(`${requestLine} failed: ${error.message}`, { cause: error })
  })
  assertCountableAnswer(answer, { requestLine, status: document.answer.status })
  return { method, headers: others, body, status: answer.status, bytes: answer.body.length }
}

/**
 * Asserts that the load can count answers like this one by their status and bytes.
 * @param {import('../node/send.js').Response} answer
 * @param {{ requestLine: string, status: number }} expected requestLine: names the request, for the error; status: that of
 *   `pipeline.yaml`
 * @throws {BenchError} if it has another status, or is compressed
 */
function assertCountableAnswer(answer, { requestLine, status }) {
  if (answer.status !== status)
    throw new BenchError(
      `${requestLine} was answered ${answer.status} "${answer.body.slice(0, 200)}", not ${status}: name a request that it answers, or answer: { status: ${answer.status} }`,
    )
  const { 'content-encoding': encoding = 'identity' } = answer.headers
  if (encoding !== 'identity')
    throw new BenchError(
      `${requestLine} was answered with content-encoding ${encoding}, which the load would undo before it counts bytes: leave accept-encoding out of its headers, or have it answer without`,
    )
}

/**
 * Sends a request with a nonce, which only the application can echo, and asserts that it is echoed.
 * @param {FirstRequest & { path: string }} options path: `/` leaves the path to the load's first kind of request
 * @returns {Promise<undefined>}
 * @throws {BenchError} if the request fails, or another answer comes
 */
async function sendNonce({ target, entry, arm, path, timeoutSeconds, credentials }) {
  const nonce = `check-${arm.id}`
  const [endpoint] = entry.endpoints
  const requestLine = `one request through ${arm.id} (${endpoint.address}:${endpoint.port})`
  const { protocol } = arm.conditions
  const { request: checkRequest, answer: expected } = createCheckRequest(arm.load, nonce, protocol)
  const request = { host: entry.host, ...checkRequest, ...(path !== '/' && { path }), protocol }
  const answer = await target.call('send', { endpoint, request, timeoutSeconds, credentials }).catch(error => {
    throw new BenchError(`${requestLine} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== expected || answer.headers['x-nonce'] !== nonce)
    throw new BenchError(
      `${requestLine} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application with its nonce and ${expected.length} bytes`,
    )
}

/**
 * Adds the last lines that sidecars logged to an error of a request through them: an exception in a script closes the
 * connection, and only the log has its reason. A log that cannot be read, or is empty, adds nothing.
 * @param {unknown} error
 * @param {Handle[]} processes
 * @returns {Promise<unknown>} a BenchError with the error as its cause; the error itself if it is no BenchError
 */
export async function addSidecarLogs(error, processes) {
  if (!(error instanceof BenchError)) return error
  const sidecars = processes.filter(({ spec }) => spec.role === 'sidecar')
  const logs = await Promise.all(
    sidecars.map(async ({ spec, readLog }) => {
      const lines = listLastLines(await readLog().catch(() => ''), SIDECAR_LINES)
      return lines.length > 0 ? `\n${spec.service}'s sidecar logged:\n  ${lines.join('\n  ')}` : ''
    }),
  )
  return new BenchError(`${error.message}${logs.join('')}`, { cause: error, exitStatus: error.exitStatus })
}
