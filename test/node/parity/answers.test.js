import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { LONE_RETRY } from '../../../src/node/parity/answers.js'
import { probePooling } from '../../../src/node/parity/probe.js'

/**
 * @import { AddressInfo } from 'node:net'
 * @import { Probed } from '../../../src/node/parity/probe.js'
 */

const ADDRESS = '127.0.0.1'
/** @type {http.Server[]} */
const servers = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** @param {http.RequestListener} sidecar */
async function serve(sidecar) {
  const server = http.createServer(sidecar)
  servers.push(server)
  await new Promise(resolve => server.listen(0, ADDRESS, () => resolve(null)))
  return { address: ADDRESS, port: /** @type {AddressInfo} */ (server.address()).port }
}

/** @param {http.RequestListener} sidecar @returns {Promise<Probed>} a rig of two such sidecars */
async function createRig(sidecar) {
  const sidecars = { client: await serve((_, response) => response.end()), permissive: await serve(sidecar) }
  const configuration = /** @type {const} */ ({ tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'open' })
  const own = { ...configuration, suite: '', group: '' }
  return { sidecars, configuration: own, credentials: {}, observed: [], countConnections: () => 1 }
}

/** Connects to a port where nothing listens, one time after the other. @param {number} times */
async function beRefused(times) {
  for (let i = 0; i < times; i++)
    await new Promise(resolve => net.connect(1, ADDRESS).once('error', () => resolve(null)))
}

describe('a refused connection at the only endpoint', () => {
  const tryTimes = (/** @type {number} */ times) =>
    createRig(async (_, response) => {
      await beRefused(times)
      response.writeHead(503).end('refused')
    }).then(LONE_RETRY.run)

  it('is tried once more, and neither less nor more often', async () => {
    expect(await tryTimes(1)).toBe('1 tries, expected 2')
    expect(await tryTimes(2)).toBe('')
    expect(await tryTimes(3)).toBe('3 tries, expected 2')
  })
})

describe('connections', () => {
  it('are kept at a permissive port, too', async () => {
    const { row, requests } = await probePooling(await createRig((_, response) => response.end()))
    expect([row.found, requests]).toEqual(['kept and used again', 160])
    const closing = await createRig((_, response) => response.writeHead(200, { connection: 'close' }).end())
    expect((await probePooling(closing)).row.found).toBe("80 connections for 80 requests at permissive's sidecar")
  })
})
