import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import grpc from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveControlPlane } from '../../src/control-planes/linkerd/server.js'
import { writeCertificates } from '../../src/lib/certificates.js'
import { bytesOf, decodeMessage, fixed32Of, varintOf } from '../fakes/protobuf.js'
import { makeFolder } from '../fakes/scratch.js'

// The client writes and reads messages by the numbers that Linkerd and SPIFFE publish, and shares no code with the server.
const IDENTITY = 'spiffe://sidecar-bench/ns/bench/sa/client'
const WORKLOAD = 'client'

const folder = path.join(makeFolder('linkerd-control'), 'c')
const socket = path.join(folder, 'w.sock')
const read = (/** @type {string} */ name) => readFileSync(path.join(folder, name), 'utf8')
const named = (/** @type {string} */ name) => ({ metadata: { default: name }, protocol: { opaque: {} } })

const tables = {
  outbound: [
    { address: '10.77.0.2', port: 8080, policy: named('by address and port') },
    { port: 15001, policy: named('by port') },
  ],
  destinations: {
    server: {
      add: {
        addrs: [
          {
            addr: { ip: { ipv4: 0x0a4d0002 }, port: 8080 },
            weight: 10_000,
            tlsIdentity: {
              uriLikeIdentity: { uri: 'spiffe://sidecar-bench/ns/bench/sa/server' },
              serverName: { name: 'server' },
            },
            protocolHint: { h2: {} },
          },
        ],
      },
    },
  },
  inbound: [
    {
      port: 8080,
      server: {
        protocol: { detect: { timeout: { seconds: 10 } } },
        authorizations: [
          {
            networks: [{ net: { ip: { ipv4: 0 }, prefixLen: 0 } }],
            authentication: { meshTls: { identities: { identities: [{ name: IDENTITY }] } } },
            metadata: { default: 'listed' },
          },
        ],
        labels: { name: 'server' },
      },
    },
    { server: { protocol: { opaque: {} }, labels: { name: 'closed' } } },
  ],
}

/** @type {Awaited<ReturnType<typeof serveControlPlane>>} */
let server
const serve = async (endpoint = {}) =>
  serveControlPlane(
    {
      workload: WORKLOAD,
      tables,
      credentials: {
        identity: IDENTITY,
        certificatePem: read('client.pem'),
        keyPem: read('client-key.pem'),
        authorityPem: read('ca.pem'),
      },
    },
    { address: '127.0.0.1', port: 0, socket, ...endpoint },
  )
beforeAll(async () => {
  await writeCertificates({ folder, services: [{ name: WORKLOAD, identity: IDENTITY }] })
  server = await serve()
})
afterAll(() => server.close())

/** Follows the numbers of fields to a value, the first of each. @param {Buffer} message @param {number[]} numbers @returns {any} */
function find(message, ...[number, ...rest]) {
  const [value] = decodeMessage(message)[number] ?? []
  return /** @type {any} */ (
    rest.length > 0 && value instanceof Buffer ? find(value, .../** @type {[number]} */ (rest)) : value
  )
}

/**
 * Asks for the first message of a stream; it must then stay open.
 * @param {string} method @param {Buffer} request
 * @param {{ where?: string, headers?: Record<string, string> }} [options] @returns {Promise<Buffer>}
 */
function ask(method, request, { where = `127.0.0.1:${server.port}`, headers = {} } = {}) {
  const client = new grpc.Client(where, grpc.credentials.createInsecure())
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const same = (/** @type {Buffer} */ bytes) => bytes
  return new Promise((resolve, reject) => {
    const stream = client.makeServerStreamRequest(method, same, same, request, metadata)
    let isEnded = false
    stream.on('end', () => {
      isEnded = true
    })
    stream.on('error', error => {
      client.close()
      reject(error)
    })
    stream.on('data', message => {
      // The end of a stream would come with its message.
      setTimeout(() => {
        if (isEnded) reject(new Error('the stream has ended behind its first message'))
        else resolve(message)
        stream.cancel()
      }, 50)
    })
  })
}

const PROXY = 'io.linkerd.proxy'
const meant = (/** @type {number} */ ipv4, /** @type {number} */ port, workload = WORKLOAD) =>
  ask(
    `/${PROXY}.outbound.OutboundPolicies/Watch`,
    Buffer.concat([
      bytesOf(1, workload),
      bytesOf(2, Buffer.concat([bytesOf(1, fixed32Of(1, ipv4)), varintOf(2, port)])),
    ]),
  )
const watchPort = (/** @type {number} */ port, workload = WORKLOAD) =>
  ask(`/${PROXY}.inbound.InboundServerPolicies/WatchPort`, Buffer.concat([bytesOf(1, workload), varintOf(2, port)]))

describe("the control plane of Linkerd's proxy", () => {
  it('sends the endpoints of a service, their identity, and that they accept HTTP/2', async () => {
    const update = await ask(`/${PROXY}.destination.Destination/Get`, bytesOf(2, 'server'))
    const endpoint = find(update, 1, 1)
    expect([find(endpoint, 1, 1, 1), find(endpoint, 1, 2), find(endpoint, 3)]).toEqual([0x0a4d0002, 8080, 10_000])
    expect(`${find(endpoint, 5, 3, 1)}`).toBe('spiffe://sidecar-bench/ns/bench/sa/server')
    expect(`${find(endpoint, 5, 4, 1)}`).toBe('server')
    expect(find(endpoint, 6, 1)).toHaveLength(0)
  })

  it('answers that a service does not exist', async () => {
    const update = await ask(`/${PROXY}.destination.Destination/Get`, bytesOf(2, 'nobody'))
    expect(Object.keys(decodeMessage(update))).toEqual(['3'])
  })

  it('has a profile without routes for every address', async () => {
    expect(await ask(`/${PROXY}.destination.Destination/GetProfile`, bytesOf(2, '10.77.0.2:8080'))).toHaveLength(0)
  })

  it('finds the policy of a connection by the address and the port that it meant', async () => {
    const readPolicyName = (/** @type {Buffer} */ policy) => `${find(policy, 2, 1)}`
    expect(readPolicyName(await meant(0x0a4d0002, 8080))).toBe('by address and port')
    expect(readPolicyName(await meant(0x0a4d0009, 15001))).toBe('by port')
    await expect(meant(0x0a4d0009, 8080)).rejects.toThrow('NOT_FOUND: no policy for 10.77.0.9:8080')
  })

  it('sends the identities that a port admits, and the kind of each other port', async () => {
    const listed = await watchPort(8080)
    expect(find(listed, 1, 1, 1, 1)).toBe(10)
    expect(`${find(listed, 3, 2, 2, 2, 1, 1)}`).toBe(IDENTITY)
    expect(`${find(listed, 4, 2)}`).toBe('server')
    expect(`${find(await watchPort(9), 4, 2)}`).toBe('closed')
  })

  it('refuses a proxy of another workload', async () => {
    await expect(watchPort(8080, 'server')).rejects.toThrow('NOT_FOUND: the workload "server" asks')
    await expect(meant(0x0a4d0002, 8080, 'server')).rejects.toThrow('NOT_FOUND: the workload "server" asks')
  })

  it('hands its certificate and key out over the socket, to callers that are workloads', async () => {
    await watchPort(8080)
    const how = { where: `unix:${socket}`, headers: { 'workload.spiffe.io': 'true' } }
    const svid = find(await ask('/SpiffeWorkloadAPI/FetchX509SVID', Buffer.alloc(0), how), 1)
    const leaf = new X509Certificate(find(svid, 2))
    expect([`${find(svid, 1)}`, leaf.subjectAltName]).toEqual([IDENTITY, `URI:${IDENTITY}, DNS:client`])
    expect(leaf.verify(new X509Certificate(find(svid, 4)).publicKey)).toBe(true)
    const key = await crypto.subtle.importKey('pkcs8', find(svid, 3), { name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
    ])
    expect(key.type).toBe('private')
    await expect(ask('/SpiffeWorkloadAPI/FetchX509SVID', Buffer.alloc(0), { ...how, headers: {} })).rejects.toThrow(
      'INVALID_ARGUMENT: a request without the header workload.spiffe.io: true',
    )
  })

  it('hands its certificate out when the proxy has asked for the policies of its ports, and not before', async () => {
    server.close()
    server = await serve()
    const how = { where: `unix:${socket}`, headers: { 'workload.spiffe.io': 'true' } }
    let isCertified = false
    const certified = ask('/SpiffeWorkloadAPI/FetchX509SVID', Buffer.alloc(0), how).then(() => {
      isCertified = true
    })
    // A port without an entry of its own does not count.
    await watchPort(9)
    expect(isCertified).toBe(false)
    await watchPort(8080)
    await certified
  })

  it('leaves no server listening if it cannot listen at one of its two endpoints', async () => {
    const free = path.join(folder, 'free.sock')
    await expect(serve({ port: server.port, socket: free })).rejects.toThrow('EADDRINUSE')
    await expect.poll(() => existsSync(free)).toBe(false)
    const { port, close } = await serve({ socket: free })
    close()
    await expect(serve({ port, socket: path.join(folder, 'missing', 'w.sock') })).rejects.toThrow('missing/w.sock')
    const again = await serve({ port, socket: free })
    again.close()
    expect(again.port).toBe(port)
  })

  it('serves again if a killed one left its socket, and leaves none', async () => {
    const again = await serve()
    expect(existsSync(socket)).toBe(true)
    again.close()
    await expect.poll(() => existsSync(socket)).toBe(false)
  })
})
