import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { writeCertificates } from '../../src/lib/certificates.js'
import { locateCredentials } from '../../src/model/certificate-files.js'
import { createProber } from '../../src/node/prober.js'
import { listenInTest } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { TLSSocket } from 'node:tls' */

const STAGING_MS = 400

describe('a change', () => {
  /** @type {string[]} */
  const methods = []
  const server = http.createServer(async (request, response) => {
    const { method, headers } = request
    if (method === 'PUT') await delay(STAGING_MS)
    if (method !== 'GET') methods.push(`${method}`)
    const isRouted = method !== 'GET' || (methods.includes('POST') && headers.host === 'version-1.test')
    response.writeHead(isRouted ? 200 : 404).end()
  })

  it('is staged first, and its time begins at the commit', async () => {
    const endpoint = await listenInTest(server)
    const request = (/** @type {string} */ method) => ({
      ...{ kind: /** @type {const} */ ('request'), endpoint, method, path: '/', body: 'x' },
    })
    const seconds = await createProber().change({
      ...{ stage: [request('PUT')], commit: [request('POST')], endpoint, host: 'version-1.test' },
      deadlineMs: Date.now() + 5000,
    })
    expect(methods).toEqual(['PUT', 'POST'])
    expect(seconds).toBeLessThan(STAGING_MS / 1000)
  })

  it('of a certificate is in effect when a new connection is shown it', async () => {
    const folder = makeFolder('prober-test')
    const services = ['first', 'next', 'peer'].map(name => ({ name, identity: `spiffe://x/${name}` }))
    await writeCertificates({ folder, services })
    const credentials = (/** @type {string} */ name) => ({
      cert: readFileSync(`${folder}/${name}.pem`),
      key: readFileSync(`${folder}/${name}-key.pem`),
    })
    const secured = https.createServer({
      ...credentials('first'),
      ca: readFileSync(`${folder}/ca.pem`),
      requestCert: true,
    })
    // One that asks without the certificate of a peer is refused.
    secured.on('request', (request, response) => {
      const { authorized } = /** @type {TLSSocket} */ (request.socket)
      response.writeHead(authorized ? 200 : 403).end()
    })
    const endpoint = await listenInTest(secured)
    setTimeout(
      () => secured.setSecureContext({ ...credentials('next'), ca: readFileSync(`${folder}/ca.pem`) }),
      STAGING_MS,
    )
    const change = (/** @type {string} */ name, /** @type {number} */ deadlineMs) =>
      createProber().change({
        ...{ stage: [], commit: [], endpoint, host: 'any', deadlineMs },
        certificate: `${folder}/${name}.pem`,
        credentials: locateCredentials('peer', folder),
      })
    expect(await change('next', Date.now() + 5000)).toBeGreaterThanOrEqual(STAGING_MS / 2000)
    expect(await change('first', Date.now() + 100)).toBeNull()
  })
})

describe('requests over TLS', () => {
  it('keep their connections from one batch to the next: a handshake is no part of a request', async () => {
    const folder = makeFolder('prober-tls')
    await writeCertificates({ folder, services: [{ name: 'peer', identity: 'spiffe://x/peer' }] })
    const credentials = locateCredentials('peer', folder)
    let handshakes = 0
    const [cert, key] = Object.values(credentials).map(file => readFileSync(file))
    const server = https.createServer({ cert, key }, (request, response) => request.pipe(response))
    server.on('secureConnection', () => handshakes++)
    const endpoint = await listenInTest(server)
    const prober = createProber()
    const request = { host: 'x', method: 'POST', body: 'hello' }
    const batch = { endpoint, request, credentials, requests: 3, atOnce: 1, timeoutSeconds: 5, answer: 'hello' }
    await prober.repeat(batch)
    await prober.repeat(batch)
    expect(handshakes).toBe(1)
    const { keyType } = await prober.send({ endpoint, request, credentials })
    expect(keyType).toBe('EC prime256v1')
  })
})
