import http from 'node:http'

/**
 * @import { Endpoint } from '../model/types.ts'
 * @import { Request } from './send.js'
 */

/**
 * The arrival of an answer's body.
 * @typedef {object} Stream
 * @property {number} status
 * @property {number} bytes of the body
 * @property {number} firstByteMs from the connection to the body's first byte; without a body, to the end of the answer
 * @property {number} longestGapMs between two parts of the body; 0 if it came in one part, or is empty
 * @property {number} spanMs from the first part of the body to the last; 0 likewise
 */

/**
 * @typedef {object} StreamOptions
 * @property {number} [timeoutSeconds] the longest time without a byte; 15 by default
 * @property {number} [deadlineSeconds] the longest time in all; 30 by default, since an answer may be silent for 15 s and then
 *   take 10 s for its chunks (SERVICE_TIME_MOST_MS)
 * @property {AbortSignal} [signal] ends the request
 */

/**
 * Sends a request over a connection of its own and times the body of its answer as it arrives, which load generators do not
 * report.
 * @param {Endpoint} endpoint
 * @param {Request} request `isChunked` and `protocol` are ignored
 * @param {StreamOptions} [options]
 * @returns {Promise<Stream>}
 * @throws if no byte comes for `timeoutSeconds`, the answer is incomplete after `deadlineSeconds`, or the connection breaks; a
 *   TypeError for a header that cannot be sent; the signal's reason when it aborts
 */
export function measureStream({ address, port }, request, options = {}) {
  const { host, path = '/', method = 'GET', headers = {}, body = '' } = request
  const { timeoutSeconds = 15, deadlineSeconds = 30, signal } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const length = body === '' ? {} : { 'content-length': `${Buffer.byteLength(body, 'latin1')}` }
    const outgoing = http.request({
      host: address,
      port,
      path,
      method,
      agent: false,
      timeout: timeoutSeconds * 1000,
      headers: { ...headers, ...length, ...(host === null ? {} : { host }) },
    })
    const fail = (/** @type {unknown} */ reason) => {
      reject(reason)
      outgoing.destroy()
    }
    const abort = () => fail(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    // The timeout of a socket begins anew with each byte.
    const deadline = setTimeout(
      () => fail(new Error(`the answer was not complete within ${deadlineSeconds} s`)),
      deadlineSeconds * 1000,
    )
    outgoing.on('close', () => {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', abort)
    })
    outgoing.on('timeout', () => fail(new Error(`no answer within ${timeoutSeconds} s`)))
    outgoing.on('error', reject)
    let beganMs = performance.now()
    outgoing.on('socket', socket =>
      socket.once('connect', () => {
        beganMs = performance.now()
      }),
    )
    outgoing.on('response', response => timeBody(response, beganMs).then(resolve, reject))
    outgoing.end(body, 'latin1')
  })
}

/**
 * Times the parts of a body as they arrive.
 * @param {http.IncomingMessage} response
 * @param {number} beganMs when the connection was made, by `performance.now`
 * @returns {Promise<Stream>}
 * @throws the error of the response, such as a broken connection
 */
function timeBody(response, beganMs) {
  /** @type {number[]} */
  const atMs = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    response.on('data', chunk => {
      atMs.push(performance.now() - beganMs)
      bytes += chunk.length
    })
    response.on('error', reject)
    response.on('end', () => {
      const gaps = atMs.slice(1).map((ms, i) => ms - atMs[i])
      resolve({
        status: response.statusCode ?? 0,
        bytes,
        firstByteMs: atMs[0] ?? performance.now() - beganMs,
        longestGapMs: Math.max(0, ...gaps),
        spanMs: atMs.length === 0 ? 0 : atMs[atMs.length - 1] - atMs[0],
      })
    })
  })
}
