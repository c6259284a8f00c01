import http from 'node:http'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { ANSWERS, CONNECT_TIMEOUT, LONE_RETRY } from '../../../src/parity/beside/answers.js'
import { probePooling } from '../../../src/parity/beside/probe.js'
import { listenInTest } from '../../fakes/listen.js'

/** @import { Probed } from '../../../src/parity/beside/probe.js' */

/** @param {http.RequestListener} sidecar */
function serve(sidecar) {
  return listenInTest(http.createServer(sidecar))
}

/** @param {http.RequestListener} sidecar @returns {Promise<Probed>} a rig of two such sidecars */
async function createRig(sidecar) {
  const sidecars = { client: await serve((_, response) => response.end()), permissive: await serve(sidecar) }
  const configuration = /** @type {const} */ ({ tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'open' })
  const rigConfiguration = { ...configuration, suite: '', group: '', groups: [] }
  return {
    sidecars,
    configuration: rigConfiguration,
    credentials: {},
    observed: [],
    countConnections: () => 1,
    hasReceived: () => false,
  }
}

/** Connects to a port where nothing listens, one time after the other. @param {number} times */
async function beRefused(times) {
  for (let i = 0; i < times; i++)
    await new Promise(resolve => net.connect(1, '127.0.0.1').once('error', () => resolve(null)))
}

describe('a refused connection at the only endpoint', () => {
  const tryTimes = (/** @type {number} */ times) =>
    createRig(async (_, response) => {
      await beRefused(times)
      response.writeHead(503).end('refused')
    }).then(LONE_RETRY.run)

  it('is tried once more, and neither less nor more often', async () => {
    expect(await tryTimes(1)).toEqual(['1 tries, expected 2'])
    expect(await tryTimes(2)).toEqual([])
    expect(await tryTimes(3)).toEqual(['3 tries, expected 2'])
  })
})

describe('an upstream that cannot be connected in time', () => {
  const REQUEST_MS = 1000
  const tryPlane = async (/** @type {{ connectMs: number, status: number }} */ { connectMs, status }) => {
    const rig = await createRig((_, response) => response.end())
    const client = await serve((request, response) => {
      const isFull = request.headers.host === 'full'
      setTimeout(() => response.writeHead(isFull ? status : 504).end('late'), isFull ? connectMs : REQUEST_MS)
    })
    return CONNECT_TIMEOUT.run({ ...rig, sidecars: { ...rig.sidecars, client } })
  }

  it('is given up by the connect timeout, and not only by that of a request', async () => {
    expect(await tryPlane({ connectMs: REQUEST_MS / 2, status: 504 })).toEqual([])
    expect(await tryPlane({ connectMs: REQUEST_MS, status: 504 })).toEqual([
      expect.stringMatching(/^504 after 1\.\d s, where a request has 1\.\d s$/),
    ])
    expect(await tryPlane({ connectMs: 2 * REQUEST_MS, status: 504 })).toEqual([
      expect.stringMatching(/^504 after 2\.\d s/),
    ])
  })

  it('is answered 504', async () => {
    const wrong = 'status 503 (late), expected 504'
    expect(await tryPlane({ connectMs: REQUEST_MS / 2, status: 503 })).toEqual([wrong])
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

describe('a request', () => {
  /** @param {string} name @param {http.RequestListener} listener of the client's sidecar */
  const run = async (name, listener) => {
    const rig = await createRig(listener)
    const client = await serve(listener)
    return ANSWERS.find(check => check.name === name)?.run({ ...rig, sidecars: { ...rig.sidecars, client } })
  }

  it('to an upstream that never answers is waited for three times as long as the sidecars wait', async () => {
    const rig = await createRig(() => {})
    const client = await serve(() => {})
    const check = ANSWERS.find(({ name }) => name === 'an upstream that does not answer in time')
    const waited = check?.run({ ...rig, sidecars: { ...rig.sidecars, client }, requestSeconds: 0.1 })
    await expect(waited).rejects.toThrow(/^no answer within 0\.3\d* s$/)
  })

  it('has all that differs, and not the first thing only', async () => {
    const respond404 = (/** @type {unknown} */ _, /** @type {http.ServerResponse} */ response) =>
      void response.writeHead(404, { powered: 'x' }).end()
    expect(await run('a plain GET', respond404)).toEqual([
      'status 404, expected 200',
      'upstream none, expected a',
      'headers of its own: powered',
    ])
  })

  it('keeps the headers of a proxy before, and its answer does, too', async () => {
    const name = 'headers that another proxy has set, passed on in both directions'
    /** @param {(headers: http.IncomingHttpHeaders) => object} change @param {object} answered @returns {http.RequestListener} */
    const passOn = (change, answered) => (request, response) =>
      void response.writeHead(200, { ...answered }).end(JSON.stringify(change(request.headers)))
    const whole = passOn(headers => ({ ...headers, via: `${headers.via}, 1.1 own` }), { via: '1.1 own, 1.1 another' })
    expect(await run(name, whole)).toEqual([])
    const cut = passOn(({ via, ...headers }) => ({ ...headers, 'x-forwarded-for': '127.0.0.1' }), {})
    expect(await run(name, cut)).toEqual([
      'x-forwarded-for 127.0.0.1, expected 192.0.2.1 of the request',
      'via removed, expected 1.1 another of the request',
      'via removed, expected 1.1 another of the answer',
    ])
  })
})
