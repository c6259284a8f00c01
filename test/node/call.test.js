import http2 from 'node:http2'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callUnary, frameMessage, openChannel } from '../../src/node/call.js'
import { sendRequest } from '../../src/node/send.js'
import { listen } from '../fakes/listen.js'

/** @param {(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void} answer */
async function serve(answer) {
  const server = http2.createServer()
  /** @type {Set<http2.ServerHttp2Session>} */
  const sessions = new Set()
  server.on('session', session => sessions.add(session.on('error', () => {})))
  server.on('stream', (stream, headers) =>
    answer(
      stream.on('error', () => {}),
      headers,
    ),
  )
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return listen(server)
}

/** @param {http2.OutgoingHttpHeaders} head @param {Buffer} [bytes] @param {http2.OutgoingHttpHeaders} [trailers] */
const answering =
  (head, bytes = Buffer.alloc(0), trailers) =>
  (/** @type {http2.ServerHttp2Stream} */ stream) => {
    stream.resume()
    stream.respond(head, { waitForTrailers: trailers !== undefined })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}))
    stream.end(bytes)
  }
const grpc = { ':status': 200, 'content-type': 'application/grpc' }
const message = frameMessage(Buffer.from('hello'))
const ask = async (/** @type {Parameters<typeof serve>[0]} */ answer) =>
  callUnary(await serve(answer), { host: 'echo' })

describe('a call', () => {
  it('is a POST of one message to the authority, and takes trailers', async () => {
    /** @type {http2.IncomingHttpHeaders} */
    let requestHeaders = {}
    const endpoint = await serve((stream, headers) => {
      requestHeaders = headers
      stream.respond({ ...grpc, 'x-nonce': headers['x-nonce'] }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-trailer': 'yes' }))
      stream.pipe(stream)
    })
    const request = { host: 'echo', path: '/a.B/C', body: 'hello', headers: { 'x-nonce': 'n' } }
    const answer = await sendRequest(endpoint, { ...request, protocol: 'grpc' })
    expect(requestHeaders).toMatchObject({ ':method': 'POST', ':path': '/a.B/C', ':authority': 'echo', te: 'trailers' })
    expect(answer).toMatchObject({ code: 0, status: 200, body: 'hello', trailers: { 'x-trailer': 'yes' } })
    expect(answer.headers).toMatchObject({ 'x-nonce': 'n' })
  })

  it('has the status of the trailers, and its reason', async () => {
    const trailers = { 'grpc-status': '14', 'grpc-message': 'no%20upstream' }
    expect(await ask(answering(grpc, message, trailers))).toMatchObject({ code: 14, status: 503, body: 'no upstream' })
    const odd = { 'grpc-status': '14', 'grpc-message': 'limit of 80 % reached' }
    expect(await ask(answering(grpc, message, odd))).toMatchObject({ code: 14, body: 'limit of 80 % reached' })
  })

  it('has that of the first headers if there is nothing else', async () =>
    expect(await ask(answering({ ...grpc, 'grpc-status': '12' }))).toMatchObject({ code: 12, status: 404 }))

  it.each([
    [503, 14, 503],
    [504, 14, 503],
    [404, 12, 404],
    [418, 2, 500],
  ])('has, if a proxy answered %i, the code %i', async (status, code, stands) => {
    const answer = await ask(answering({ ':status': status, 'content-type': 'text/plain' }, Buffer.from('why')))
    expect(answer).toMatchObject({ code, status: stands, body: 'why' })
  })

  it.each([
    ['without a status', undefined, message],
    ['of half a message', { 'grpc-status': '0' }, message.subarray(0, 7)],
    ['without a message', { 'grpc-status': '0' }, Buffer.alloc(0)],
  ])('has failed if the answer is %s', async (_, trailers, bytes) =>
    expect(await ask(answering(grpc, bytes, trailers))).toMatchObject({ code: 13, status: 500 }))

  it('has failed if the stream is reset in its answer', async () => {
    const cut = (/** @type {http2.ServerHttp2Stream} */ stream) => {
      stream.respond(grpc)
      stream.write(message.subarray(0, 7), () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR))
    }
    expect(await ask(cut)).toMatchObject({ code: 13 })
  })

  it('takes an answer that begins while megabytes of the message wait to be sent', async () => {
    const early = answering(grpc, message, { 'grpc-status': '0' })
    const body = 'e'.repeat(32 * 1024 * 1024)
    expect(await callUnary(await serve(early), { host: 'echo', body })).toMatchObject({ code: 0, body: 'hello' })
  })

  it('is UNAVAILABLE if the stream is refused', async () =>
    expect(await ask(stream => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM))).toMatchObject({
      code: 14,
      status: 503,
    }))

  it('throws if nothing answers: refused, reset, in no time, or over a channel that is closed', async () => {
    await expect(callUnary({ address: '127.0.0.1', port: 1 }, { host: 'echo' })).rejects.toThrow('ECONNREFUSED')
    await expect(ask(stream => stream.session?.destroy())).rejects.toThrow()
    await expect(ask(stream => stream.close(http2.constants.NGHTTP2_CANCEL))).rejects.toThrow('without an answer')
    const silent = await serve(() => {})
    await expect(callUnary(silent, { host: 'echo' }, { timeoutSeconds: 0.1 })).rejects.toThrow('no answer within 0.1 s')
    const channel = openChannel(silent)
    channel.destroy()
    await expect(callUnary(silent, { host: 'echo' }, { channel })).rejects.toThrow('closed')
  })
})
