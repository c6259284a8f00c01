import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCredentials, SERVICES } from '../../../src/certificates/credentials.js'
import { writeFlawedCertificates } from '../../../src/certificates/flawed-certificates.js'
import { createAuthority, issueCertificate, writeCertificates } from '../../../src/lib/certificates.js'
import { listKeyExchangeGroups, renderSpiffeId } from '../../../src/model/sidecar-contract.js'
import {
  listAccessDifferences,
  listAttempts,
  probeAccess,
  probeHandshakes,
  renderAccess,
} from '../../../src/parity/beside/access.js'
import { negotiateAsServer, renderNegotiation } from '../../../src/parity/beside/negotiation.js'
import { PEERS } from '../../../src/parity/beside/peers.js'
import { startUpstreams, UPSTREAMS } from '../../../src/parity/beside/upstreams.js'
import { listenInTest } from '../../fakes/listen.js'
import { makeFolder } from '../../fakes/scratch.js'

/**
 * @import { Credentials } from '../../../src/parity/beside/upstreams.js'
 * @import { Configuration } from '../../../src/parity/beside/probe.js'
 */

// Its ports are the upstreams' own.
const ADDRESS = `127.251.248.${(process.pid % 250) + 1}`
const folder = makeFolder('access-test')
/** @type {Record<string, Credentials>} */
let credentials
/** @type {Credentials} */
let rsa
let ca = ''

beforeAll(async () => {
  const services = SERVICES.map(name => ({ name, identity: renderSpiffeId(name) }))
  await writeFlawedCertificates({ folder, authority: await writeCertificates({ folder, services }) })
  ;({ ca, credentials } = readCredentials(folder))
  const authority = await createAuthority('mesh', { keyType: 'rsa-2048' })
  const { certificatePem, keyPem } = await issueCertificate({ authority, identity: 'x', dnsName: 'server' })
  rsa = { cert: certificatePem, key: keyPem }
})

/**
 * What a strict sidecar would do, by its traffic policy.
 * @param {string[] | ((name: string) => boolean) | null} accepted identities; null: any of the authority
 * @param {https.ServerOptions} [options]
 */
function createStrict(accepted, options) {
  const pinned = { minVersion: /** @type {const} */ ('TLSv1.3'), honorCipherOrder: false }
  const tlsOptions = { ...credentials.server, ca, requestCert: true, ...pinned }
  return https.createServer({ ...tlsOptions, ...options }, (request, response) => {
    const { subject } = /** @type {import('node:tls').TLSSocket} */ (request.socket).getPeerCertificate()
    const isAccepted = Array.isArray(accepted) ? (/** @type {string} */ name) => accepted.includes(name) : accepted
    if (isAccepted === null || isAccepted(`${subject?.CN}`)) response.end()
    else request.socket.destroy()
  })
}

// Takes everything that a peer can do wrong.
const LENIENT = /** @type {const} */ ({
  rejectUnauthorized: false,
  minVersion: 'TLSv1.2',
  ciphers: `${tls.DEFAULT_CIPHERS}:TLS_AES_128_CCM_8_SHA256:@SECLEVEL=0`,
})

/**
 * What the attempts at a strict listener find.
 * @param {http.Server} server @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 */
async function enter(server, configuration) {
  const sidecars = { server: await listenInTest(server) }
  const rig = /** @type {any} */ ({ sidecars, credentials, configuration, hasReceived: () => false })
  const attempts = listAttempts(configuration).filter(({ direction }) => direction === 'in strict mode')
  return listAccessDifferences(
    await Promise.all(attempts.map(async ({ run, ...attempt }) => ({ ...attempt, found: await run(rig) }))),
  )
}

/**
 * What the attempts as an upstream find at a client's sidecar, which calls the upstream that the host names.
 * @param {(name: string, socket: tls.TLSSocket) => boolean} isAccepted @param {tls.ConnectionOptions} options
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 */
async function leave(isAccepted, options, configuration) {
  const sidecar = http.createServer((request, response) => {
    const host = `${request.headers.host}`
    const end = () => void response.writeHead(503).end('the upstream failed')
    const to = { host: ADDRESS, port: UPSTREAMS[host] }
    const socket = tls.connect({ ...to, ca, ...credentials.client, checkServerIdentity: () => undefined, ...options })
    socket.on('secureConnect', () => (isAccepted(host, socket) ? socket.write('GET /') : socket.destroy()))
    socket.on('error', () => {
      // A sidecar that takes anything goes on without TLS.
      if (options.rejectUnauthorized === false && host === 'plaintext') {
        const plain = net.connect(to, () => plain.write('GET /'))
        plain.on('close', end)
      } else end()
    })
    socket.on('close', hadError => hadError || end())
  })
  const { close, ...upstreams } = await startUpstreams({
    ...{ address: ADDRESS, ca, credentials, tls: configuration.tls, protocol: 'http/1.1', group: 'X25519' },
  })
  try {
    const sidecars = { client: await listenInTest(sidecar), server: { address: ADDRESS, port: 1 } }
    const rig = { ...upstreams, credentials, configuration, sidecars: { ...sidecars, permissive: sidecars.server } }
    const tried = await probeAccess(/** @type {any} */ (rig))
    return listAccessDifferences(tried.filter(({ direction }) => direction === 'as an upstream'))
  } finally {
    close()
  }
}

const listed = /** @type {const} */ ({ tls: 'ecdsa-p256', trafficPolicy: 'listed' })
const open = /** @type {const} */ ({ tls: 'ecdsa-p256', trafficPolicy: 'open' })
const plaintext = /** @type {const} */ ({ tls: 'plaintext', trafficPolicy: 'open' })
const allowed = [renderSpiffeId('client')]
const peersAs = (/** @type {'client' | 'server'} */ end) =>
  Object.values(PEERS).filter(({ ends }) => ends.includes(end))
const identities = peersAs('client').filter(peer => `${peer.acceptedUnder}` === 'open')

describe('the attempts at a listener', () => {
  it('want unlisted identities refused if identities are listed, and accepted under the open policy', async () => {
    expect(await enter(createStrict(allowed), listed)).toEqual([])
    expect(await enter(createStrict(null), open)).toEqual([])
    expect(identities).toHaveLength(5)
    expect(await enter(createStrict(null), listed)).toEqual(
      identities.map(({ name }) => `${name}, in strict mode: accepted, expected refused`),
    )
    expect(await enter(createStrict(allowed), open)).toEqual(
      identities.map(({ name }) => `${name}, in strict mode: refused, expected accepted`),
    )
  })

  it.each([
    ['the beginning of the identity', (/** @type {string} */ name) => name.startsWith(allowed[0]), 'begins with it'],
    ['its end', (/** @type {string} */ name) => name.endsWith(allowed[0]), 'ends with it'],
    ['a part of it', (/** @type {string} */ name) => allowed[0].startsWith(name), 'a prefix of the identity'],
  ])('find a listener that looks only at %s', async (_, isAccepted, peer) => {
    const differences = await enter(createStrict(isAccepted), listed)
    expect(differences).toEqual([expect.stringContaining(`${peer}, in strict mode: accepted, expected refused`)])
  })

  it('want all other peers refused under either policy, and would be accepted by a listener that accepts all', async () => {
    const wrong = peersAs('client').filter(
      ({ acceptedUnder, options }) => acceptedUnder.length === 0 && options !== null,
    )
    for (const configuration of [listed, open])
      expect(await enter(createStrict(null, LENIENT), configuration)).toEqual(
        expect.arrayContaining(wrong.map(({ name }) => `${name}, in strict mode: accepted, expected refused`)),
      )
  })

  it('want plaintext answered without TLS, and no peer refused', async () => {
    const server = http.createServer((_, response) => void response.end())
    expect(await enter(server, plaintext)).toEqual([])
    expect(await enter(createStrict(null), plaintext)).toEqual([
      'plaintext, in strict mode: refused, expected accepted',
    ])
    expect(listAttempts(plaintext).map(({ peer, direction }) => `${peer}, ${direction}`)).toEqual([
      'plaintext, in strict mode',
      'plaintext, in permissive mode',
    ])
  })
})

describe('a refusal', () => {
  const [refused] = ['plaintext, in strict mode']
  const runAttempt = async (/** @type {net.Server} */ server, hasReceived = () => false) => {
    const attempt = listAttempts(listed).find(({ peer, direction }) => `${peer}, ${direction}` === refused)
    const sidecars = { server: await listenInTest(server) }
    return attempt?.run(/** @type {any} */ ({ sidecars, credentials, configuration: listed, hasReceived }))
  }

  it('is the same for each method', async () => {
    const onlyGet = net.createServer(socket =>
      socket
        .on('error', () => {})
        .once('data', data => {
          if (`${data}`.startsWith('GET')) socket.destroy()
          else socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
        }),
    )
    expect(await runAttempt(onlyGet)).toBe('GET refused, DELETE answered 400, PATCH answered 400')
  })

  it('is no closed port, and no request that came to the application', async () => {
    const createClosing = () =>
      net.createServer(socket => socket.on('error', () => {}).once('data', () => socket.destroy()))
    expect(await runAttempt(createClosing())).toBe('refused')
    expect(await runAttempt(createClosing(), () => true)).toBe('refused, and yet its request came to the application')
    const sidecars = { server: { address: '127.0.0.1', port: 1 } }
    const rig = { sidecars, credentials, configuration: listed, hasReceived: () => false }
    const [attempt] = listAttempts(listed)
    expect(await attempt.run(/** @type {any} */ (rig))).toMatch(/^failed: .*ECONNREFUSED/)
  })

  it('is an alert in the handshake, or later', async () => {
    const differing = async (/** @type {http.Server} */ server) => {
      const sidecars = { server: await listenInTest(server) }
      return (await probeHandshakes(/** @type {any} */ ({ sidecars, credentials, configuration: open }))).differences
    }
    // Node looks at a certificate when the handshake is over.
    const late = ['self-signed', 'another CA', 'expired', 'not yet valid', 'without clientAuth']
    expect(await differing(createStrict(null))).toEqual(
      late.map(name => `${name}: closed without an alert, expected an alert in the handshake`),
    )
    expect(await differing(createStrict(null, LENIENT))).toContain(
      'expired: kept open, expected an alert in the handshake',
    )
  })
})

describe('the attempts as an upstream', () => {
  const checkName = (/** @type {string} */ _, /** @type {tls.TLSSocket} */ socket) =>
    allowed.includes(`${socket.getPeerCertificate().subject.CN}`)

  it('want a sidecar that verifies its upstreams', async () => {
    const ciphers = 'TLS_AES_128_GCM_SHA256'
    const strict = /** @type {const} */ ({ minVersion: 'TLSv1.3', ciphers })
    expect(await leave(checkName, strict, listed)).toEqual([])
    expect(await leave(() => true, strict, open)).toEqual([])
    expect(await leave(() => true, strict, listed)).toEqual(
      identities.map(({ name }) => `${name}, as an upstream: accepted, expected refused`),
    )
  })

  it('would be taken by a sidecar that takes all', async () => {
    const wrong = peersAs('server').filter(({ acceptedUnder }) => acceptedUnder.length === 0)
    expect(await leave(() => true, LENIENT, open)).toEqual(
      wrong.map(({ name }) => `${name}, as an upstream: accepted, expected refused`),
    )
  })
})

describe('renderAccess', () => {
  it('says what the configuration accepts', () => {
    const always = 'self-signed, another CA, expired, not yet valid'
    const asClient = `no certificate, ${always}, without clientAuth, TLS 1.2, a weak suite`
    const others = identities.map(({ name }) => name).join(', ')
    expect(renderAccess(listed, 'in strict mode')).toBe(`plaintext, ${asClient}, ${others} refused`)
    expect(renderAccess(listed, 'in permissive mode')).toBe(`${asClient}, ${others} refused; plaintext accepted`)
    expect(renderAccess(open, 'as an upstream')).toBe(
      `plaintext, ${always}, without serverAuth, TLS 1.2, a weak suite refused; any identity of the mesh's CA accepted (open policy)`,
    )
    expect(renderAccess(plaintext, 'in strict mode')).toBe('nobody refused: there is no TLS')
  })
})

describe('negotiateAsServer', () => {
  const ofTls = (/** @type {import('../../../src/model/types.ts').Tls} */ tls) => ({
    ...{ tls, protocol: /** @type {const} */ ('http/1.1'), trafficPolicy: /** @type {const} */ ('listed') },
    ...{ suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519', groups: listKeyExchangeGroups(tls) },
  })

  it('finds a server that falls back to X25519 if it is to prefer a post-quantum group', async () => {
    const configuration = ofTls('ecdsa-p256+x25519mlkem768')
    const server = await listenInTest(createStrict(null, { ecdhCurve: 'X25519' }))
    const negotiated = await negotiateAsServer({ endpoint: server, credentials: credentials.client, configuration })
    expect(negotiated).toBe('TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256, X25519 first')
    expect(renderNegotiation(configuration)).toBe(
      'TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256, X25519MLKEM768 first',
    )
  })

  it('names version, suite, group and key type, and finds a server that takes another group', async () => {
    const negotiate = async (/** @type {http.Server} */ server) =>
      negotiateAsServer({
        endpoint: await listenInTest(server),
        credentials: credentials.client,
        configuration: ofTls('ecdsa-p256'),
      })
    const ecdhCurve = 'X25519'
    expect(await negotiate(createStrict(null, { ecdhCurve }))).toBe('TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256')
    expect(await negotiate(createStrict(null, { ecdhCurve, ...rsa }))).toBe(
      'TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 rsa-2048',
    )
    expect(await negotiate(createStrict(null))).toBe('takes P-256 too')
    expect(await negotiate(http.createServer())).toBe('no TLS')
  })
})
