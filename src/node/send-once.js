import net from 'node:net'

/** @import { Answer, Ask } from './send.js' */

/**
 * Sends one request over a connection of its own, with half of the CPU that Node's client takes: the sender shares the
 * machine with hundreds of sidecars that it polls. A character of a body is a byte (latin1); the last of repeated headers wins.
 * @param {import('../model/types.ts').Endpoint} endpoint @param {Pick<Ask, 'host' | 'method' | 'headers' | 'body'>} ask
 * @param {{ timeoutSeconds?: number }} [options] @returns {Promise<Omit<Answer, 'localPort'>>}
 * @throws when nothing comes for timeoutSeconds (10 by default), or the connection breaks before the whole answer
 */
export function sendOnce({ address, port }, { host, method = 'GET', headers = {}, body = '' }, options = {}) {
  const { timeoutSeconds = 10 } = options
  const head = { host, ...headers, 'content-length': Buffer.byteLength(body, 'latin1'), connection: 'close' }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: address, port })
    let received = ''
    const read = (/** @type {boolean} */ isEnded) => {
      const answer = readAnswer(received, isEnded)
      if (answer) resolve({ ...answer, isReused: false })
      return answer !== null
    }
    socket.setEncoding('latin1')
    socket.setTimeout(timeoutSeconds * 1000, () => socket.destroy(new Error(`no answer within ${timeoutSeconds} s`)))
    socket.on('connect', () => socket.write(`${method} / HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1'))
    socket.on('data', (/** @type {string} */ text) => {
      received += text
      if (read(false)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (!read(true)) reject(new Error('the connection was closed before the whole answer'))
    })
  })
}

/**
 * Reads an answer up to the end of its body (RFC 9112, 6.3).
 * @param {string} text received so far @param {boolean} isEnded the peer has closed, which ends a body without a length
 * @returns {Pick<Answer, 'status' | 'headers' | 'body'> | null} null: it is not whole yet
 */
function readAnswer(text, isEnded) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [first, ...lines] = text.slice(0, end).split('\r\n')
  const parts = lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
  const headers = Object.fromEntries(parts.map(([name, value]) => [name.toLowerCase(), value.trim()]))
  const rest = text.slice(end + 4)
  const length = headers['content-length']
  const body =
    headers['transfer-encoding'] === 'chunked'
      ? joinChunks(rest)
      : length === undefined
        ? isEnded && rest
        : rest.length >= Number(length) && rest.slice(0, Number(length))
  return typeof body === 'string' ? { status: Number(first.split(' ')[1]), headers, body } : null
}

/** Joins a chunked body (RFC 9112, 7.1). @param {string} text @returns {string | null} null: the last, empty chunk has not come */
function joinChunks(text) {
  let body = ''
  for (let at = 0; ; ) {
    const start = text.indexOf('\r\n', at) + 2
    const length = Number.parseInt(text.slice(at, start), 16)
    // A chunk whose length is no number is not whole, either.
    if (start < 2 || !(start + length + 2 <= text.length)) return null
    if (length === 0) return body
    body += text.slice(start, start + length)
    at = start + length + 2
  }
}
