import http from 'node:http'
import https from 'node:https'

import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.js'
import { identityOf } from '../../../src/model/sidecar-contract.js'
import { describeAccess, listAccessChecks } from '../../../src/node/parity/access.js'
import { negotiateAsServer } from '../../../src/node/parity/negotiation.js'

/**
 * @import { Credentials } from '../../../src/node/parity/upstreams.js'
 * @import { Configuration } from '../../../src/node/parity/probe.js'
 */

/** @type {Record<string, Credentials>} */
const credentials = {}
/** @type {Credentials} */
let rsa
let ca = ''
/** @type {http.Server[]} */
const servers = []

beforeAll(async () => {
  const authorities = await Promise.all([createAuthority('mesh'), createAuthority('foreign')])
  ca = `${authorities[0].certificate.toString('pem')}`
  const issue = async (/** @type {string} */ name, authority = authorities[0]) => {
    const issued = await issueCertificate({ authority, identity: identityOf(name), dnsName: name })
    return { cert: issued.certificatePem, key: issued.keyPem }
  }
  for (const name of ['client', 'server', 'stranger']) credentials[name] = await issue(name)
  credentials.foreign = await issue('client', authorities[1])
  rsa = await issue('server', await createAuthority('mesh', 'rsa-2048'))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** @param {http.Server} server */
async function listen(server) {
  servers.push(server)
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return { address: '127.0.0.1', port }
}

/**
 * What a strict sidecar would do, by its traffic policy.
 * @param {string[] | null} accepted identities; null: any of the authority
 * @param {https.ServerOptions} [options]
 */
function createStrict(accepted, options) {
  const pinned = { minVersion: /** @type {const} */ ('TLSv1.3'), honorCipherOrder: false }
  const own = { ...credentials.server, ca, requestCert: true, ...pinned }
  return https.createServer({ ...own, ...options }, (request, response) => {
    const { subject } = /** @type {import('node:tls').TLSSocket} */ (request.socket).getPeerCertificate()
    if (accepted === null || accepted.includes(`${subject?.CN}`)) response.end()
    else request.socket.destroy()
  })
}

/**
 * What the checks of a strict listener find.
 * @param {http.Server} server
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 */
async function probe(server, configuration) {
  const rig = /** @type {any} */ ({ sidecars: { server: await listen(server) }, credentials })
  const checks = listAccessChecks(configuration).filter(check => check.name.endsWith('in strict mode'))
  const found = await Promise.all(checks.map(async ({ name, run }) => [name, await run(rig)]))
  return found.filter(([, difference]) => difference !== '').map(words => words.join(': '))
}

const listed = /** @type {const} */ ({ tls: 'ecdsa-p256', trafficPolicy: 'listed' })
const open = /** @type {const} */ ({ tls: 'ecdsa-p256', trafficPolicy: 'open' })
const plaintext = /** @type {const} */ ({ tls: 'plaintext', trafficPolicy: 'open' })

describe('listAccessChecks', () => {
  it('wants an unlisted identity refused where identities are listed, and accepted under the open policy', async () => {
    const own = [identityOf('client')]
    expect(await probe(createStrict(own), listed)).toEqual([])
    expect(await probe(createStrict(null), open)).toEqual([])
    expect(await probe(createStrict(null), listed)).toEqual([
      'unlisted identity, in strict mode: answered 200, expected refused',
    ])
    expect(await probe(createStrict(own), open)).toEqual([
      'unlisted identity, in strict mode: refused, expected answered 200',
    ])
  })

  it('wants everybody else refused under either policy', async () => {
    const wrong = ['no certificate', 'foreign CA'].map(
      peer => `${peer}, in strict mode: answered 200, expected refused`,
    )
    for (const configuration of [listed, open])
      expect(await probe(createStrict(null, { rejectUnauthorized: false }), configuration)).toEqual(
        expect.arrayContaining(wrong),
      )
    expect(await probe(createStrict(null, { minVersion: 'TLSv1.2' }), open)).toEqual([
      'TLS 1.2, in strict mode: answered 200, expected refused',
    ])
  })

  it('wants plaintext answered where there is no TLS, and nobody refused', async () => {
    expect(
      await probe(
        http.createServer((_, response) => void response.end()),
        plaintext,
      ),
    ).toEqual([])
    expect(await probe(createStrict(null), plaintext)).toEqual([
      'plaintext, in strict mode: refused, expected answered 200',
    ])
    expect(listAccessChecks(plaintext).map(check => check.name)).toEqual([
      'plaintext, in strict mode',
      'plaintext, in permissive mode',
    ])
  })
})

describe('describeAccess', () => {
  it('says what the configuration accepts', () => {
    const always = 'plaintext (in strict mode), no certificate, foreign CA, TLS 1.2'
    expect(describeAccess(listed)).toBe(`${always}, unlisted identity refused`)
    expect(describeAccess(open)).toBe(`${always} refused; any identity of the mesh's CA accepted (open policy)`)
    expect(describeAccess(plaintext)).toBe('nobody refused: there is no TLS')
  })
})

describe('negotiateAsServer', () => {
  it('names version, suite, group and key type, and finds a server that takes another group', async () => {
    const negotiate = async (/** @type {http.Server} */ server) =>
      negotiateAsServer({ endpoint: await listen(server), credentials: credentials.client })
    const ecdhCurve = 'X25519'
    expect(await negotiate(createStrict(null, { ecdhCurve }))).toBe('TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256')
    expect(await negotiate(createStrict(null, { ecdhCurve, ...rsa }))).toBe(
      'TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 rsa-2048',
    )
    expect(await negotiate(createStrict(null))).toBe('takes P-256 too')
    expect(await negotiate(http.createServer())).toBe('no TLS')
  })
})
