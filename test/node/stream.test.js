import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readStream } from '../../src/node/stream.js'
import { listenInTest } from '../fakes/listen.js'

it('tells when the first part of a body comes, and the longest time without more', async () => {
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
  const { status, bytes, firstByteMs, longestGapMs, spanMs } = await readStream(endpoint, { host: 'x' })
  expect([status, bytes]).toEqual([200, 15])
  expect(firstByteMs).toBeGreaterThan(58)
  expect(firstByteMs).toBeLessThan(170)
  expect(longestGapMs).toBeGreaterThan(90)
  expect(spanMs).toBeGreaterThanOrEqual(longestGapMs)
})

it('fails where the connection breaks before the end', async () => {
  const endpoint = await listenInTest(
    http.createServer((_, response) => void response.write('x', () => response.destroy())),
  )
  await expect(readStream(endpoint, { host: 'x' })).rejects.toThrow()
})

it('sends as many bytes as it says, where a character takes two', async () => {
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    response.end(`${request.headers['content-length']} ${body}`)
  })
  const { bytes } = await readStream(await listenInTest(server), { host: 'x', method: 'POST', body: 'é' })
  expect(bytes).toBe(Buffer.byteLength('2 é'))
})
