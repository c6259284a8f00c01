import http from 'node:http'

/** @import { Endpoint } from '../model/types.ts' @import { Ask } from './send.js' */

/**
 * Times an answer's body as it comes, which load generators do not report: its first byte, and the longest gap between parts.
 * @param {Endpoint} endpoint @param {Ask} ask @param {{ timeoutSeconds?: number }} [options]
 * @returns {Promise<{ status: number, bytes: number, firstByteMs: number, longestGapMs: number, spanMs: number }>}
 *   firstByteMs: since the connection was made, to the end of an answer without a body; spanMs: from its first part to the last
 * @throws when nothing comes for timeoutSeconds (15 by default), or the connection breaks
 */
export function readStream(
  { address, port },
  { host, path = '/', method = 'GET', headers = {}, body = '' },
  options = {},
) {
  const { timeoutSeconds = 15 } = options
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
    const request = http.request({
      ...{ host: address, port, path, method, agent: false, timeout: timeoutSeconds * 1000 },
      headers: { ...headers, ...length, ...(host === null ? {} : { host }) },
    })
    let beganMs = performance.now()
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutSeconds} s`)))
    request.on('error', reject)
    request.on('response', response => {
      /** @type {number[]} */
      const atMs = []
      let bytes = 0
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
    request.on('socket', socket =>
      socket.once('connect', () => {
        beganMs = performance.now()
      }),
    )
    request.end(body)
  })
}
