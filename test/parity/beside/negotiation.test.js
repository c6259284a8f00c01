import { readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import tls from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeCertificates } from '../../../src/lib/certificates.js'
import { renderSpiffeId } from '../../../src/model/sidecar-contract.js'
import { probeSuites } from '../../../src/parity/beside/negotiation.js'
import { listenInTest } from '../../fakes/listen.js'
import { makeFolder } from '../../fakes/scratch.js'

const SUITE = 'TLS_AES_128_GCM_SHA256'
const OTHER_SUITE = 'TLS_AES_256_GCM_SHA384'
const folder = makeFolder('negotiation-test')
beforeAll(() => writeCertificates({ folder, services: [{ name: 'server', identity: renderSpiffeId('server') }] }))

/** @param {string} ciphers that the server takes */
const createTlsServer = ciphers => {
  const [cert, key] = ['server', 'server-key'].map(name => readFileSync(path.join(folder, `${name}.pem`)))
  return tls.createServer({ cert, key, ciphers, minVersion: 'TLSv1.3' }).on('tlsClientError', () => {})
}
const probe = async (/** @type {import('../../../src/model/types.ts').Endpoint} */ endpoint) => {
  const row = await probeSuites({ endpoint, credentials: {}, suite: SUITE })
  return { found: row.found, isExpected: row.found === row.expected }
}

describe('the check of suites', () => {
  it('finds the other suite refused by an alert, or by a close without one, as Pipy closes', async () => {
    const refused = { found: `no suite but ${SUITE}`, isExpected: true }
    expect(await probe(await listenInTest(createTlsServer(SUITE)))).toEqual(refused)
    const closing = net.createServer(socket => socket.once('data', () => socket.end()))
    expect(await probe(await listenInTest(closing))).toEqual(refused)
  })

  it('finds it taken', async () => {
    const endpoint = await listenInTest(createTlsServer(`${SUITE}:${OTHER_SUITE}`))
    expect(await probe(endpoint)).toEqual({ found: `${OTHER_SUITE} too`, isExpected: false })
  })

  it('takes a sidecar that cannot be reached for none that refuses', async () => {
    expect(await probe({ address: '127.0.0.1', port: 1 })).toEqual({
      found: 'no handshake: connect ECONNREFUSED 127.0.0.1:1',
      isExpected: false,
    })
  })
})
