import { readFileSync } from 'node:fs'
import http from 'node:http'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identityOf } from '../../src/topology.js'
import { CASES, echoAs, LEFT_OUT, ROUTES, send } from './corpus.js'
import { createForeignCertificate, createMesh } from './mesh.js'
import { sidecarPlanes } from './real-tools.js'

/**
 * @import { Cluster, SidecarModel, Tool } from '../../src/types.ts'
 */

const INBOUND = 15003
const OUTBOUND = 15001
const SPLIT_REQUESTS = 1000
// What a peer would rather have is not what the sidecar is pinned to, where there is a choice. The suite is
// the client's to order: Envoy cannot name its own for TLS 1.3, and as a client puts the pinned one first.
const PREFERENCES = { ecdhCurve: 'P-256:X25519', ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384' }

describe.each(sidecarPlanes)('the sidecar of $plane.name', ({ plane, tool }) => {
  /** @type {Awaited<ReturnType<typeof createMesh>>} */
  let mesh
  /** @type {Record<string, string>} */
  let at
  /** @type {{ connections: number }} */
  let countedA
  /** @type {import('../../src/types.ts').Deployment} */
  let client

  beforeAll(async () => {
    if (!tool) return
    mesh = await createMesh()
    at = mesh.addresses(
      'client',
      'server',
      'permissive',
      'a',
      'b',
      'slow',
      'rude',
      'quiet',
      'full',
      'gone',
      'observer',
      'otherGroup',
    )
    countedA = await mesh.serve(at.a, 8080, echoAs('a'))
    await mesh.serve(at.b, 8080, echoAs('b'))
    await mesh.serve(at.slow, 8080, () => {})
    await mesh.serveTcp(at.rude, 8080, socket => void socket.once('data', () => socket.resetAndDestroy()))
    await mesh.serveTcp(at.quiet, 8080, socket => void socket.once('data', () => socket.end()))
    await mesh.refuseSilently(at.full, 8080)

    // client's sidecar (plaintext outbound) → mTLS → server's sidecar (strict) → the upstreams
    client = await mesh.startSidecar({
      plane,
      tool,
      model: {
        ...common('client'),
        outbound: {
          address: at.client,
          port: OUTBOUND,
          routes: [
            anyTo('stranger-only', 'wrong'),
            anyTo('observed', 'observed'),
            anyTo('other-group', 'otherGroup'),
            anyTo(null, 'server'),
          ],
        },
        clusters: [
          toServer('server', at.server, 'server'),
          toServer('wrong', at.server, 'stranger'),
          toServer('observed', at.observer, 'server'),
          toServer('otherGroup', at.otherGroup, 'server'),
        ],
      },
    })
    await mesh.startSidecar({ plane, tool, model: serverModel('server', 'strict') })
    await mesh.startSidecar({ plane, tool, model: serverModel('permissive', 'permissive') })
  })

  afterAll(async () => {
    await mesh?.close()
    console.log(`The parity corpus leaves out:\n  ${LEFT_OUT.join('\n  ')}`)
  })

  it.for(CASES)('answers $name', async ({ request, expected }, context) => {
    needTool(context)
    const answer = await send({ address: at.client, port: OUTBOUND }, request)
    expect(answer).toMatchObject(expected)
    if (answer.status === 503 && answer.upstream === undefined) expect(answer.body).not.toBe('')
    expect(Object.keys(answer.headers).filter(name => !name.startsWith('x-') && name !== 'content-type')).toEqual([])
  })

  it('tries a refused connection once more, at the endpoint that is next', async context => {
    needTool(context)
    const answers = []
    for (let i = 0; i < 20; i++)
      answers.push(await send({ address: at.client, port: OUTBOUND }, { host: 'half', method: 'POST', body: `${i}` }))
    expect(answers.map(a => `${a.status} ${a.upstream} ${a.body}`)).toEqual(answers.map((_, i) => `200 a ${i}`))
  })

  it('splits by weight, within three sigma', async context => {
    needTool(context)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
    const answers = await Promise.all(
      Array.from({ length: SPLIT_REQUESTS }, () =>
        send({ address: at.client, port: OUTBOUND }, { host: 'split' }, { agent }),
      ),
    )
    agent.destroy()
    const share = answers.filter(a => a.upstream === 'a').length / SPLIT_REQUESTS
    expect(Math.abs(share - 0.8)).toBeLessThan(3 * Math.sqrt((0.8 * 0.2) / SPLIT_REQUESTS))
  })

  it('keeps connections alive on both sides, one request at a time', async context => {
    needTool(context)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const before = countedA.connections
    const answers = []
    for (let i = 0; i < 50; i++)
      answers.push(await send({ address: at.client, port: OUTBOUND }, { host: 'echo' }, { agent }))
    agent.destroy()
    expect(new Set(answers.map(a => a.socketId)).size).toBe(1)
    expect(countedA.connections - before).toBeLessThanOrEqual(1)
  })

  it('answers 503 when the upstream has another identity than the accepted', async context => {
    needTool(context)
    const answer = await send({ address: at.client, port: OUTBOUND }, { host: 'stranger-only' })
    expect(answer.status).toBe(503)
    expect(answer.upstream).toBeUndefined()
  })

  it('negotiates, as a client, TLS 1.3 with the pinned suite and group, afresh for each connection', async context => {
    needTool(context)
    const seen = await mesh.observeTls(at.observer, INBOUND, certificateOf('server'), 'X25519')
    for (let i = 0; i < 2; i++)
      expect((await send({ address: at.client, port: OUTBOUND }, { host: 'observed' })).status).toBe(200)
    expect(seen).toEqual(
      Array(2).fill({ version: 'TLSv1.3', suite: 'TLS_AES_128_GCM_SHA256', isResumed: false, serverName: 'server' }),
    )
    await mesh.observeTls(at.otherGroup, INBOUND, certificateOf('server'), 'P-256')
    expect((await send({ address: at.client, port: OUTBOUND }, { host: 'other-group' })).status).toBe(503)
  })

  describe('in strict mode', () => {
    it('answers a peer with the accepted identity, over TLS 1.3 with the pinned suite and group', async context => {
      needTool(context)
      const answer = await send(
        { address: at.server, port: INBOUND },
        { host: 'echo' },
        { tls: certificateOf('client') },
      )
      expect(answer.status).toBe(200)
      expect(await handshake(at.server, certificateOf('client'))).toEqual({
        version: 'TLSv1.3',
        suite: 'TLS_AES_128_GCM_SHA256',
        group: 'X25519',
        isResumed: false,
      })
    })

    it.for([
      'no certificate',
      'a foreign authority',
      'another identity',
      'plaintext',
    ])('refuses a peer with %s', async (kind, context) => {
      needTool(context)
      const foreign = await createForeignCertificate()
      const credentials = {
        'no certificate': {},
        'a foreign authority': { cert: foreign.certificatePem, key: foreign.keyPem },
        'another identity': certificateOf('stranger'),
        plaintext: undefined,
      }[kind]
      await expect(
        send({ address: at.server, port: INBOUND }, { host: 'echo' }, { tls: credentials }),
      ).rejects.toThrow()
    })

    it('does not let a peer go down to TLS 1.2', async context => {
      needTool(context)
      await expect(handshake(at.server, { ...certificateOf('client'), maxVersion: 'TLSv1.2' })).rejects.toThrow()
    })
  })

  describe('in permissive mode', () => {
    it('answers plaintext and mTLS on one port', async context => {
      needTool(context)
      const endpoint = { address: at.permissive, port: INBOUND }
      expect((await send(endpoint, { host: 'echo' })).status).toBe(200)
      expect((await send(endpoint, { host: 'echo' }, { tls: certificateOf('client') })).status).toBe(200)
    })

    it('still refuses another identity', async context => {
      needTool(context)
      const endpoint = { address: at.permissive, port: INBOUND }
      await expect(send(endpoint, { host: 'echo' }, { tls: certificateOf('stranger') })).rejects.toThrow()
    })
  })

  it('is still the process that was started', context => {
    needTool(context)
    expect(client.processes[0].ending()).toBeNull()
  })

  /** @param {import('vitest').TestContext} context */
  function needTool(context) {
    if (!tool) context.skip(`needs ${plane.name}, which cannot be had here`)
  }

  /**
   * @param {string} service
   * @returns {SidecarModel}
   */
  function common(service) {
    const name = service === 'permissive' ? 'server' : service
    return {
      service,
      identity: identityOf(name),
      workers: 1,
      retries: 1,
      timeouts: { connectSeconds: 1, requestSeconds: 1, idleSeconds: 60 },
      tls: { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' },
      trust: {
        caPath: `${mesh.certificates}/ca.pem`,
        certificatePath: `${mesh.certificates}/${name}.pem`,
        keyPath: `${mesh.certificates}/${name}-key.pem`,
      },
      inbound: null,
      outbound: null,
      clusters: [],
    }
  }

  /**
   * @param {string} service
   * @param {'strict' | 'permissive'} mtls
   * @returns {SidecarModel}
   */
  function serverModel(service, mtls) {
    const cluster = (/** @type {string} */ name, /** @type {string[]} */ ...hosts) =>
      /** @type {Cluster} */ ({
        name,
        endpoints: hosts.map(host => ({ address: at[host], port: 8080 })),
        balancing: 'round-robin',
        mtls: null,
      })
    return {
      ...common(service),
      inbound: {
        address: at[service],
        port: INBOUND,
        mtls,
        acceptedIdentities: [identityOf('client')],
        routes: ROUTES,
      },
      clusters: [
        ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => cluster(name, name)),
        cluster('half', 'gone', 'a'),
      ],
    }
  }

  /** @param {string} name */
  function certificateOf(name) {
    return {
      cert: readFileSync(`${mesh.certificates}/${name}.pem`),
      key: readFileSync(`${mesh.certificates}/${name}-key.pem`),
    }
  }

  /**
   * What a handshake with a sidecar negotiates, offering every group that Node has.
   * @param {string} address
   * @param {tls.ConnectionOptions} options
   */
  function handshake(address, options) {
    return new Promise((resolve, reject) => {
      const socket = tls.connect({
        host: address,
        port: INBOUND,
        servername: 'server',
        rejectUnauthorized: false,
        ...PREFERENCES,
        ...options,
      })
      socket.on('error', reject)
      socket.on('secureConnect', () => {
        const key = /** @type {tls.EphemeralKeyInfo} */ (socket.getEphemeralKeyInfo())
        resolve({
          version: socket.getProtocol(),
          suite: socket.getCipher().name,
          group: key.name,
          isResumed: socket.isSessionReused(),
        })
        socket.destroy()
      })
    })
  }
})

/**
 * @param {string} name
 * @param {string} address
 * @param {string} accepted the service whose identity is accepted
 * @returns {Cluster}
 */
function toServer(name, address, accepted) {
  const mtls = { serverName: 'server', acceptedIdentities: [identityOf(accepted)] }
  return { name, endpoints: [{ address, port: INBOUND }], balancing: 'round-robin', mtls }
}

/**
 * @param {string | null} host
 * @param {string} cluster
 */
function anyTo(host, cluster) {
  return { host, pathPrefix: '/', headers: {}, split: [{ cluster, weight: 1 }] }
}
