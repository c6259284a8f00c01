import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProber } from '../../src/node/prober.js'

/** @import { AddressInfo } from 'node:net' */

const STAGING_MS = 400

describe('a change', () => {
  /** @type {string[]} */
  const seen = []
  const server = http.createServer(async (request, response) => {
    const { method, headers } = request
    if (method === 'PUT') await delay(STAGING_MS)
    if (method !== 'GET') seen.push(`${method}`)
    const isRouted = method !== 'GET' || (seen.includes('POST') && headers.host === 'version-1.test')
    response.writeHead(isRouted ? 200 : 404).end()
  })
  beforeAll(() => new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined))))
  afterAll(() => void server.close())

  it('is staged first, and its time begins at the commit', async () => {
    const endpoint = { address: '127.0.0.1', port: /** @type {AddressInfo} */ (server.address()).port }
    const request = (/** @type {string} */ method) => ({
      ...{ kind: /** @type {const} */ ('request'), endpoint, method, path: '/', body: 'x' },
    })
    const seconds = await createProber().change({
      ...{ stage: [request('PUT')], commit: [request('POST')], endpoint, host: 'version-1.test' },
      deadlineMs: Date.now() + 5000,
    })
    expect(seen).toEqual(['PUT', 'POST'])
    expect(seconds).toBeLessThan(STAGING_MS / 1000)
  })
})
