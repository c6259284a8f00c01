import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { measureStream } from '../../src/node/stream.js'
import { listenInTest } from '../fakes/listen.js'

it('returns when the first part of a body came, and the longest time without more', async () => {
  const server = http.createServer(async (_, response) => {
    response.writeHead(200)
    // Headers alone are no part of the body.
    response.flushHeaders()
    await delay(60)
    response.write('x'.repeat(10))
    await delay(120)
    response.end('y'.repeat(5))
  })
  const endpoint = await listenInTest(server)
  const { status, bytes, firstByteMs, longestGapMs, spanMs } = await measureStream(endpoint, { host: 'x' })
  expect([status, bytes]).toEqual([200, 15])
  expect(firstByteMs).toBeGreaterThan(58)
  expect(firstByteMs).toBeLessThan(170)
  expect(longestGapMs).toBeGreaterThan(90)
  expect(spanMs).toBeGreaterThanOrEqual(longestGapMs)
})

it('fails if the connection breaks before the end', async () => {
  const endpoint = await listenInTest(
    http.createServer((_, response) => void response.write('x', () => response.destroy())),
  )
  await expect(measureStream(endpoint, { host: 'x' })).rejects.toThrow()
})

it('sends each character of a body as one byte', async () => {
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('latin1')) body += chunk
    response.end(`${request.headers['content-length']} ${body}`)
  })
  const { bytes } = await measureStream(await listenInTest(server), { host: 'x', method: 'POST', body: 'é' })
  expect(bytes).toBe(Buffer.byteLength('1 é'))
})

/** Listens with a server whose body never ends: a byte comes every 20 ms. Its `closed` resolves when the client is gone. */
async function drip() {
  /** @type {() => void} */
  let onClose = () => {}
  const closed = new Promise(resolve => {
    onClose = () => resolve(true)
  })
  const server = http.createServer((_, response) => {
    const dripping = setInterval(() => response.write('x'), 20)
    response.on('close', () => {
      clearInterval(dripping)
      onClose()
    })
  })
  return { endpoint: await listenInTest(server), closed }
}

it('ends a body that drips for longer than the deadline, and closes its connection', async () => {
  const { endpoint, closed } = await drip()
  const began = performance.now()
  const options = { timeoutSeconds: 0.5, deadlineSeconds: 1 }
  await expect(measureStream(endpoint, { host: 'x' }, options)).rejects.toThrow(
    /^the answer was not complete within 1 s$/,
  )
  expect(performance.now() - began).toBeGreaterThan(990)
  expect(await closed).toBe(true)
})

it('ends with the reason of the signal while a body drips, and before it is asked', async () => {
  const { endpoint, closed } = await drip()
  const aborting = new AbortController()
  const reason = new Error('interrupted')
  const measured = measureStream(endpoint, { host: 'x' }, { signal: aborting.signal })
  setTimeout(() => aborting.abort(reason), 100)
  await expect(measured).rejects.toBe(reason)
  expect(await closed).toBe(true)
  await expect(measureStream(endpoint, { host: 'x' }, { signal: aborting.signal })).rejects.toBe(reason)
})

it('ends an answer of which no byte comes', async () => {
  const endpoint = await listenInTest(http.createServer(() => {}))
  await expect(measureStream(endpoint, { host: 'x' }, { timeoutSeconds: 0.1 })).rejects.toThrow(
    /^no answer within 0.1 s$/,
  )
})
