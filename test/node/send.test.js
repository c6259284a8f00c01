import http from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { repeatRequest, sendRequest } from '../../src/node/send.js'
import { listenInTest } from '../fakes/listen.js'

it('a request that hangs ends with its signal', async () => {
  const stop = new AbortController()
  const server = http.createServer(() => stop.abort())
  const endpoint = await listenInTest(server)
  const answer = sendRequest(endpoint, { host: 'x' }, { signal: stop.signal })
  await expect(answer).rejects.toThrow('aborted')
})

it('requests are repeated over as many connections as are sent at once, until one is not answered with its body', async () => {
  let answered = 0
  const connections = new Set()
  const server = http.createServer((request, response) => {
    connections.add(request.socket)
    if (++answered > 10) response.writeHead(503).end()
    else request.pipe(response)
  })
  const endpoint = await listenInTest(server)
  const ask = { host: 'x', method: 'POST', body: 'hello' }
  const go = (/** @type {number} */ requests) =>
    repeatRequest(endpoint, ask, { requests, atOnce: 3, timeoutSeconds: 5, answer: 'hello' })
  await go(10)
  expect({ answered, connections: connections.size }).toEqual({ answered: 10, connections: 3 })
  await expect(go(1)).rejects.toThrow('request 1 of 1 to x was answered 503 with 0 bytes, not by the application')
  const later = { requests: 5, atOnce: 1, timeoutSeconds: 5, answer: 'hello', before: 10, total: 20 }
  await expect(repeatRequest(endpoint, ask, later)).rejects.toThrow('request 11 of 20 to x was answered 503')
})

it('no more requests are sent after one has failed, also over kept connections', async () => {
  let requestCount = 0
  let answered = 0
  const server = http.createServer((_, response) => {
    if (++requestCount === 1) response.writeHead(503).end()
    else setTimeout(() => response.end('hello', () => answered++), 20)
  })
  const endpoint = await listenInTest(server)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 3 })
  onTestFinished(() => agent.destroy())
  const repetition = { requests: 30, atOnce: 3, timeoutSeconds: 5, answer: 'hello', agent }
  await expect(repeatRequest(endpoint, { host: 'x', body: '' }, repetition)).rejects.toThrow('was answered 503')
  await expect.poll(() => answered).toBe(2)
  // A next request would be there long before.
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(requestCount).toBe(3)
})
