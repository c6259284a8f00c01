import http from 'node:http'
import { expect, it } from 'vitest'
import { repeat, send } from '../../src/node/send.js'

it('a request that hangs ends with its signal', async () => {
  const stop = new AbortController()
  const server = http.createServer(() => stop.abort())
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const answer = send({ address: '127.0.0.1', port }, { host: 'x' }, { signal: stop.signal })
  await expect(answer).rejects.toThrow('aborted')
  server.close()
})

it('requests are repeated over as many connections as are sent at once, until one is not answered with its body', async () => {
  let answered = 0
  const connections = new Set()
  const server = http.createServer((request, response) => {
    connections.add(request.socket)
    if (++answered > 10) response.writeHead(503).end()
    else request.pipe(response)
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const ask = { host: 'x', method: 'POST', body: 'hello' }
  const go = (/** @type {number} */ requests) =>
    repeat({ address: '127.0.0.1', port }, ask, { requests, atOnce: 3, timeoutSeconds: 5 })
  await go(10)
  expect({ answered, connections: connections.size }).toEqual({ answered: 10, connections: 3 })
  await expect(go(1)).rejects.toThrow('a request to x was answered 503 with 0 bytes, not by the application')
  server.close()
})
