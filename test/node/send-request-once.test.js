import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendLightRequest } from '../../src/node/send-light-request.js'
import { listenInTest } from '../fakes/listen.js'

/**
 * A server that answers a request with these pieces, 5 ms apart.
 * @param {string[]} pieces @param {{ isKept?: boolean }} [options] isKept: leaves the connection open
 */
async function startServer(pieces, { isKept = false } = {}) {
  /** @type {string[]} */
  const requests = []
  const server = net.createServer(async socket => {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    const [request] = await once(socket, 'data')
    requests.push(`${request}`)
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    if (!isKept) socket.end()
  })
  return { endpoint: await listenInTest(server), requests, server }
}

const ASK = { host: 'version-1.test', method: 'POST', body: 'n-1', headers: { 'x-nonce': 'n-1' } }

describe('a request over a connection of its own', () => {
  it('says its host, its headers and the length of its body, and that it is the last', async () => {
    const { endpoint, requests } = await startServer(['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'])
    await sendLightRequest(endpoint, ASK)
    expect(requests.join('')).toBe(
      'POST / HTTP/1.1\r\nhost: version-1.test\r\nx-nonce: n-1\r\ncontent-length: 3\r\nconnection: close\r\n\r\nn-1',
    )
  })

  it.each([
    [
      'by its length, where the connection stays',
      ['HTTP/1.1 200 OK\r\nX-Nonce: n-1\r\nContent-Length: 3\r\n\r\n', 'n-1'],
      true,
    ],
    [
      'by its last chunk',
      ['HTTP/1.1 200 OK\r\nx-nonce: n-1\r\ntransfer-encoding: chunked\r\n\r\n2\r', '\nn-\r\n1\r\n1\r\n0\r\n', '\r\n'],
      true,
    ],
    ['by the end of the connection', ['HTTP/1.1 200 OK\r\nx-nonce: n-1\r\n\r\nn', '-1'], false],
  ])('has a body that ends %s', async (_, pieces, isKept) => {
    const { endpoint } = await startServer(pieces, { isKept })
    const answer = await sendLightRequest(endpoint, ASK)
    expect(answer).toMatchObject({ status: 200, body: 'n-1', headers: { 'x-nonce': 'n-1' }, isReused: false })
  })

  it.each([
    ['of a body', ['HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nn-']],
    ['of chunks', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nn-']],
    ['of something that is no chunk', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nn-1\r\nn-1\r\n']],
    ['of a chunk with a negative length', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-6\r\n']],
    ['of a head', ['HTTP/1.1 200 OK\r\ncontent-le']],
    ['of nothing', []],
  ])('fails if the connection ends in the midst %s', async (_, pieces) => {
    const { endpoint } = await startServer(pieces)
    await expect(sendLightRequest(endpoint, ASK)).rejects.toThrow('the connection was closed before the whole answer')
  })

  it('fails if nothing answers in time', async () => {
    const { endpoint } = await startServer([], { isKept: true })
    await expect(sendLightRequest(endpoint, ASK, { timeoutSeconds: 0.05 })).rejects.toThrow('no answer within 0.05 s')
  })

  it('fails with the error code of the system if the port is closed', async () => {
    const { endpoint, server } = await startServer([])
    server.close()
    await expect(sendLightRequest(endpoint, ASK)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
