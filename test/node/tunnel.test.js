import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeCertificates } from '../../src/lib/certificates.js'
import { sendRequest } from '../../src/node/send.js'
import { makeFolder } from '../fakes/scratch.js'

// Nothing listens there: only the proxy knows the way.
const NOWHERE = 1
const folder = path.join(makeFolder('tunnel'), 'c')
const read = (/** @type {string} */ name) => readFileSync(path.join(folder, name))
const listen = (/** @type {net.Server | http2.Http2SecureServer} */ server) =>
  new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => resolve(/** @type {net.AddressInfo} */ (server.address()).port)),
  )
/** What the proxy was asked to connect to. @type {string[]} */
const meant = []
const application = http.createServer((request, response) => request.pipe(response))
/** @type {http2.Http2SecureServer} */
let proxy
let [port, tunnelPort, refusing] = [0, 0, false]

beforeAll(async () => {
  await writeCertificates({
    folder,
    services: ['client', 'server'].map(name => ({ name, identity: `spiffe://x/${name}` })),
  })
  const options = { ca: read('ca.pem'), cert: read('server.pem'), key: read('server-key.pem') }
  proxy = http2.createSecureServer({ ...options, requestCert: true, rejectUnauthorized: true })
  proxy.on('stream', (stream, headers) => {
    meant.push(`${headers[':method']} ${headers[':authority']}`)
    if (refusing) return stream.respond({ ':status': 401 }, { endStream: true })
    stream.respond({ ':status': 200 })
    const socket = net.connect(port, '127.0.0.1')
    stream.pipe(socket).pipe(stream)
    for (const end of [stream, socket]) end.on('error', () => {})
  })
  proxy.on('sessionError', () => {})
  port = await listen(application)
  tunnelPort = await listen(proxy)
})
afterAll(() => {
  proxy.close()
  application.close()
})

const client = () => ({ servername: 'server', cert: read('client.pem'), key: read('client-key.pem') })
/** @param {import('node:tls').ConnectionOptions} tls */
const ask = tls =>
  sendRequest(
    { address: '127.0.0.1', port: NOWHERE },
    { host: 'echo', method: 'POST', body: 'a nonce' },
    { tls, tunnelPort, timeoutSeconds: 30 },
  )

describe('a request through a tunnel', () => {
  it('comes to the application that it means, and shows the certificate of the proxy', async () => {
    const { status, body, fingerprint } = await ask(client())
    expect([status, body, meant.at(-1)]).toEqual([200, 'a nonce', `CONNECT 127.0.0.1:${NOWHERE}`])
    expect(fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  })

  it('comes through each time, many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(client())))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(['200 a nonce']))
  })

  it('fails where the proxy refuses the handshake, and where it refuses the tunnel', async () => {
    await expect(ask({ servername: 'server' })).rejects.toThrow()
    refusing = true
    await expect(ask(client())).rejects.toThrow('the tunnel was refused with 401')
    refusing = false
  })
})
