import net from 'node:net'

/**
 * @import { Endpoint } from '../model/types.ts'
 * @import { Request, Response } from './send.js'
 */

/**
 * Sends one request to `/` over a connection of its own, with half of the CPU that Node's client takes: the sender shares the
 * machine with hundreds of sidecars that it polls. A character of a body is a byte (latin1); the last of repeated headers wins.
 * @param {Endpoint} endpoint
 * @param {Pick<Request, 'method' | 'headers' | 'body'> & { host: string }} request
 * @param {{ timeoutSeconds?: number }} [options]
 * @returns {Promise<Omit<Response, 'localPort'>>}
 * @throws the system's error if it cannot connect, such as ECONNREFUSED; an Error if the connection is idle for timeoutSeconds (10
 *   by default), or is closed before the whole answer
 */
export function sendLightRequest({ address, port }, { host, method = 'GET', headers = {}, body = '' }, options = {}) {
  const { timeoutSeconds = 10 } = options
  const length = Buffer.byteLength(body, 'latin1')
  const requestHeaders = { host, ...headers, 'content-length': length, connection: 'close' }
  const headerLines = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: address, port })
    let received = ''
    const resolveIfComplete = (/** @type {boolean} */ isEnded) => {
      const answer = parseAnswer(received, isEnded)
      if (answer) resolve({ ...answer, isReused: false })
      return answer !== null
    }
    socket.setEncoding('latin1')
    socket.setTimeout(timeoutSeconds * 1000, () => socket.destroy(new Error(`no answer within ${timeoutSeconds} s`)))
    socket.on('connect', () => socket.write(`${method} / HTTP/1.1\r\n${headerLines.join('')}\r\n${body}`, 'latin1'))
    socket.on('data', (/** @type {string} */ text) => {
      received += text
      if (resolveIfComplete(false)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (!resolveIfComplete(true)) reject(new Error('the connection was closed before the whole answer'))
    })
  })
}

/**
 * Parses an answer up to the end of its body (RFC 9112, 6.3).
 * @param {string} text received so far
 * @param {boolean} isEnded the peer has closed, which ends a body without a length
 * @returns {Pick<Response, 'status' | 'headers' | 'body'> | null} null: it is not complete yet
 */
function parseAnswer(text, isEnded) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine, ...lines] = text.slice(0, end).split('\r\n')
  const parts = lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
  const headers = Object.fromEntries(parts.map(([name, value]) => [name.toLowerCase(), value.trim()]))
  const body = parseBody(text.slice(end + 4), headers, isEnded)
  return body === null ? null : { status: Number(statusLine.split(' ')[1]), headers, body }
}

/**
 * Parses a body: by its chunks, its length, or the end of the connection.
 * @param {string} text received so far after the headers
 * @param {Record<string, string>} headers
 * @param {boolean} isEnded the peer has closed
 * @returns {string | null} null: it is not complete yet
 */
function parseBody(text, headers, isEnded) {
  if (headers['transfer-encoding'] === 'chunked') return joinChunks(text)
  const { 'content-length': length } = headers
  if (length === undefined) return isEnded ? text : null
  return text.length >= Number(length) ? text.slice(0, Number(length)) : null
}

/**
 * Joins a chunked body (RFC 9112, 7.1).
 * @param {string} text received so far
 * @returns {string | null} null: it is not complete up to its last, empty chunk, or a length is no number
 */
function joinChunks(text) {
  let body = ''
  for (let offset = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', offset)
    const [digits] = /^[0-9a-f]+/i.exec(text.slice(offset, lineEnd)) ?? []
    if (lineEnd < 0 || digits === undefined) return null
    const start = lineEnd + 2
    const length = Number.parseInt(digits, 16)
    if (start + length + 2 > text.length) return null
    if (length === 0) return body
    body += text.slice(start, start + length)
    offset = start + length + 2
  }
}
