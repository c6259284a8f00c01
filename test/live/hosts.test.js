import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseAddress } from '../../src/live/address.js'
import { startMetricsServer } from '../../src/live/metrics.js'
import { startLiveServer } from '../../src/live/server.js'
import { createRunState } from '../../src/live/state.js'

const SERVERS = /** @type {const} */ ([
  [
    'the live page',
    (/** @type {string} */ text) => {
      const assets = { echarts: '', modules: {} }
      return startLiveServer({ address: parseAddress(text, '--live'), state: createRunState(), assets })
    },
  ],
  ['the metrics', (/** @type {string} */ text) => startMetricsServer({ address: parseAddress(text, '--metrics') })],
])

describe.each(SERVERS)('%s', (_, start) => {
  /** @param {string} text @param {string | null} host of the request; null: none */
  async function ask(text, host) {
    const { url, close } = await start(text)
    onTestFinished(close)
    const { port, pathname } = new URL(url)
    const headers = host === null ? {} : { host: host.replace('PORT', port) }
    const request = http.get({ host: '127.0.0.1', port, path: pathname, headers, setHost: false, agent: false })
    /** @type {http.IncomingMessage} */
    const response = await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject))
    response.setEncoding('utf8')
    let body = ''
    for await (const part of response) body += part
    return { status: response.statusCode, type: response.headers['content-type'], body }
  }

  it.each(
    '127.0.0.1:PORT localhost:PORT LOCALHOST bench.localhost:1 127.9.8.7 [::1]:PORT'.split(' '),
  )('answers a name of this machine alone: %s', async host => expect((await ask(':0', host)).status).toBe(200))

  it.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.0.2.1',
    'a b',
    '@',
  ])('refuses a name of others, and says why: %s', async host => {
    const { status, type, body } = await ask(':0', host)
    expect({ status, type }).toEqual({ status: 421, type: 'text/plain; charset=utf-8' })
    expect(body).toBe('nothing is served under this name: use localhost, 127.0.0.1, or the URL that the run printed\n')
  })

  it('goes on answering beside 150 connections that say nothing, and keeps 20 of them', async () => {
    const { url, close } = await start(':0')
    onTestFinished(close)
    const { port, pathname } = new URL(url)
    let cut = 0
    const slow = Array.from({ length: 150 }, () => net.connect({ host: '127.0.0.1', port: Number(port) }))
    for (const socket of slow) {
      socket.on('error', () => {}).on('close', () => cut++)
      socket.write('GET / HTTP/1.1\r\n')
    }
    onTestFinished(() => {
      for (const socket of slow) socket.destroy()
    })
    await vi.waitFor(() => expect(cut).toBe(130), { timeout: 5000 })
    const response = await fetch(`http://127.0.0.1:${port}${pathname}`)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  })

  it('refuses a request without a name', async () => expect((await ask(':0', null)).status).toBeGreaterThanOrEqual(400))

  it('answers under the name that it printed and every address, if all addresses are bound', async () => {
    for (const host of [os.hostname(), '192.0.2.1:PORT', 'localhost'])
      expect((await ask('0.0.0.0:0', host)).status, host).toBe(200)
    expect((await ask('0.0.0.0:0', 'evil.example')).status).toBe(421)
  })
})
