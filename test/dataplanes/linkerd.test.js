import { describe, expect, it } from 'vitest'
import { loadServices } from '../../src/control-planes/linkerd/server.js'
import { linkerd } from '../../src/dataplanes/linkerd/index.js'
import { renderSpiffeId } from '../../src/model/sidecar-contract.js'
import { DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { createRedirectedModel, GATEWAY, PAIR } from '../fakes/redirected-models.js'

/** @import { Conditions, ProcessSpec, SidecarModel, Topology } from '../../src/model/types.ts' */

/** @param {Topology} topology @param {string} name @param {Partial<Parameters<typeof createRedirectedModel>[2]>} [options] */
const modelOf = (topology, name, options) =>
  createRedirectedModel(topology, name, { trafficPolicy: 'listed', ...options })

const tool = { name: 'linkerd2-proxy', path: '/bin/linkerd2-proxy', version: '2.360.0', sha256: '', source: '' }
const optionsOf = (/** @type {SidecarModel} */ model, /** @type {string | null} */ profile = null) => ({
  ...{ model, tool, profile, folder: '/f/sidecar', scripts: '/s', cpuLimitCores: null },
})
const specOf = (/** @type {SidecarModel} */ model, /** @type {string | null} */ profile = null) =>
  /** @type {ProcessSpec} */ (linkerd.createSidecar?.(optionsOf(model, profile)))
const controlOf = (/** @type {SidecarModel} */ model, /** @type {string | null} */ profile = null) =>
  /** @type {ProcessSpec[]} */ (linkerd.createCompanions?.(optionsOf(model, profile)) ?? [])[0]
const configurationOf = (/** @type {Parameters<typeof controlOf>} */ ...of) =>
  JSON.parse(controlOf(...of).files[0].content)
const tablesOf = (/** @type {Parameters<typeof controlOf>} */ ...of) => configurationOf(...of).tables

describe("what Linkerd's proxy gets from its control plane", () => {
  it.each([
    ['a client that the load calls', modelOf(PAIR, 'client'), 'linkerd-client'],
    ['a server of bytes', modelOf(PAIR, 'server', { protocol: 'tcp' }), 'linkerd-bytes'],
    ['an entry that calls', modelOf(GATEWAY, 'gateway'), 'linkerd-entry'],
  ])('is, for %s, the golden one', (_, model, name) =>
    expect(controlOf(model).files[0].content).toMatchFileSnapshot(`../golden/${name}.json`))

  it('has the queues of its own control plane and no timeout as deployed, and those of the kit as lean', () => {
    const ruleOf = (/** @type {string | null} */ profile) =>
      tablesOf(modelOf(GATEWAY, 'gateway'), profile).outbound[0].policy.protocol.detect.http1.routes[0].rules[0]
    const queueOf = (/** @type {string | null} */ profile) =>
      ruleOf(profile).backends.firstAvailable.backends[0].backend.queue
    expect(queueOf('deployed')).toEqual({ capacity: 100, failfastTimeout: { seconds: 3 } })
    expect(queueOf(null)).toEqual({ capacity: 10_000, failfastTimeout: { seconds: 5 } })
    expect([ruleOf('deployed').timeouts, ruleOf(null).timeouts]).toEqual([undefined, { request: { seconds: 15 } }])
  })

  it.each([
    ['requests', {}],
    ['bytes', { protocol: /** @type {const} */ ('tcp') }],
    ['plaintext', { tls: /** @type {const} */ ('plaintext') }],
    ['features', { features: 'authorization' }],
  ])('has no field that its interfaces lack: %s', (_, options) => {
    const { destination, inbound, outbound } = loadServices().io.linkerd.proxy
    const carry = (/** @type {any} */ method, /** @type {object} */ message) =>
      method.responseDeserialize(method.responseSerialize(message))
    for (const [topology, name] of /** @type {const} */ ([
      [PAIR, 'client'],
      [PAIR, 'server'],
      [GATEWAY, 'gateway'],
    ])) {
      const tables = tablesOf(modelOf(topology, name, options))
      for (const { policy } of tables.outbound)
        expect(plain(carry(outbound.OutboundPolicies.service.Watch, policy))).toEqual(plain(policy))
      for (const { server } of tables.inbound)
        expect(plain(carry(inbound.InboundServerPolicies.service.WatchPort, server))).toEqual(plain(server))
      for (const update of Object.values(tables.destinations))
        expect(plain(carry(destination.Destination.service.Get, update))).toEqual(plain(update))
    }
  })

  it('keeps idle connections for as long as its contract says', () => {
    const { timeouts } = modelOf(GATEWAY, 'gateway')
    const keepsOf = (/** @type {string | null} */ profile) => linkerd.findIdleSeconds?.({ profile, timeouts })
    const namedOf = (/** @type {string | null} */ profile) =>
      ['INBOUND', 'OUTBOUND'].map(
        side =>
          specOf(modelOf(GATEWAY, 'gateway'), profile).env?.[
            `LINKERD2_PROXY_${side}_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT`
          ],
      )
    expect([keepsOf('lean'), namedOf('lean')]).toEqual([60, ['60s', '60s']])
    // Its own default, which no variable changes.
    expect([keepsOf('deployed'), namedOf('deployed')]).toEqual([3, [undefined, undefined]])
  })

  it('spreads requests over the copies of a service, each as the identity of the service', () => {
    const { destinations } = tablesOf(modelOf(PAIR, 'client'))
    const { addrs } = destinations['server:8080'].add
    expect(addrs.map((/** @type {any} */ { addr }) => [addr.ip.ipv4 & 255, addr.port])).toEqual([
      [2, 8080],
      [3, 8080],
    ])
    expect(new Set(addrs.map((/** @type {any} */ { tlsIdentity }) => JSON.stringify(tlsIdentity))).size).toBe(1)
    expect(addrs[0].tlsIdentity).toEqual({
      uriLikeIdentity: { uri: renderSpiffeId('server') },
      serverName: { name: 'server' },
    })
  })

  it.each(
    /** @type {[string, Parameters<typeof modelOf>[2], string | null, unknown][]} */ ([
      ['HTTP/1.1 as such', {}, null, undefined],
      ['HTTP/1.1 in HTTP/2, as Linkerd does', {}, 'deployed', { h2: {} }],
      ['HTTP/2 as such', { protocol: 'http/2' }, null, { h2: {} }],
      ['calls', { protocol: 'grpc' }, null, { h2: {} }],
      ['bytes behind a header', { protocol: 'tcp' }, null, { opaque: {}, opaqueTransport: { inboundPort: 15003 } }],
      ['bytes as they are', { protocol: 'tcp', tls: 'plaintext' }, null, undefined],
    ]),
  )('carries between proxies %s', (_, options, profile, hint) => {
    const [{ add }] = /** @type {any[]} */ (
      Object.values(tablesOf(modelOf(PAIR, 'client', options), profile).destinations)
    )
    expect(add.addrs[0].protocolHint).toEqual(hint)
  })

  it('expects an identity that no peer has if a cluster accepts none', () => {
    const model = modelOf(PAIR, 'client')
    const clusters = model.clusters.map(c => ({ ...c, mtls: { serverName: 'server', acceptedIdentities: [] } }))
    const { addrs } = tablesOf({ ...model, clusters }).destinations['server:8080'].add
    expect(addrs[0].tlsIdentity.uriLikeIdentity.uri).toBe(renderSpiffeId('nobody'))
  })

  it.each([
    ['strict and listed', {}, { meshTls: { identities: { identities: [{ name: renderSpiffeId('client') }] } } }],
    ['strict and open', { acceptedIdentities: null }, { meshTls: { unauthenticated: {} } }],
    ['permissive', { mtls: /** @type {const} */ ('permissive') }, { unauthenticated: {} }],
    ['without TLS', { mtls: /** @type {const} */ ('disabled') }, { unauthenticated: {} }],
  ])('admits by authorizations: %s', (_, listener, expected) => {
    const model = modelOf(PAIR, 'server')
    const [{ server }, , closed] = tablesOf({
      ...model,
      inbound: model.inbound && { ...model.inbound, ...listener },
    }).inbound
    expect(server.authorizations.map((/** @type {any} */ a) => a.authentication)).toEqual([expected])
    expect([closed.port, closed.server.authorizations]).toEqual([undefined, []])
  })

  it('admits by the routes of a server if they list callers, and by nothing of the server itself', () => {
    const [{ server }] = tablesOf(modelOf(PAIR, 'server', { features: 'authorization', trafficPolicy: 'open' })).inbound
    expect(server.authorizations).toEqual([])
    const [{ authorizations }] = server.protocol.detect.httpRoutes
    expect(authorizations.map((/** @type {any} */ a) => a.authentication)).toEqual([
      { meshTls: { identities: { identities: [{ name: renderSpiffeId('client') }] } } },
    ])
  })

  it('closes what means a port that is not in its list', () => {
    const { outbound } = tablesOf(modelOf(GATEWAY, 'gateway'))
    expect(outbound.map((/** @type {any} */ { port }) => port)).toEqual([8080, undefined])
    expect(outbound[1].policy.protocol.opaque.routes[0].rules[0].filters).toEqual([{ forbidden: {} }])
  })
})

describe("the process of Linkerd's proxy", () => {
  it('asks its own control plane, which hands out the certificate of the service at a socket beside it', () => {
    const model = modelOf(PAIR, 'server-2')
    const { env, program, argv, files } = specOf(model)
    const control = controlOf(model)
    const { listen, credentials, workload } = JSON.parse(control.files[0].content)
    expect([env.LINKERD2_PROXY_POLICY_SVC_ADDR, env.LINKERD2_PROXY_DESTINATION_SVC_ADDR]).toEqual(
      Array(2).fill(`${listen.address}:${listen.port}`),
    )
    expect(env.LINKERD2_PROXY_POLICY_WORKLOAD).toBe(workload)
    expect(control.folder).toBe('/f/sidecar-control')
    expect(env.LINKERD2_PROXY_IDENTITY_SPIRE_WORKLOAD_API_ADDRESS).toBe(`unix:../sidecar-control/${listen.socket}`)
    expect([env.LINKERD2_PROXY_IDENTITY_SERVER_ID, env.LINKERD2_PROXY_IDENTITY_SERVER_NAME]).toEqual([
      renderSpiffeId('server'),
      'server',
    ])
    expect(credentials).toMatchObject({ identity: renderSpiffeId('server'), certificatePath: '/c/server.pem' })
    expect([program, ...argv.slice(2)]).toEqual(['/bin/sh', '/bin/linkerd2-proxy', '/c/ca.pem'])
    expect(files).toEqual([])
    expect(control).toMatchObject({ service: 'server-2', role: 'control', isAwaited: true, listens: [{ port: 8086 }] })
  })

  it.each([
    ['as it is', null, 'linkerd-environment'],
    ['as Linkerd deploys it', 'deployed', 'linkerd-environment-deployed'],
  ])('has this environment %s', (_, profile, name) => {
    const { env } = specOf(modelOf(GATEWAY, 'gateway', { workers: 2 }), profile)
    return expect(`${JSON.stringify(env, null, 2)}\n`).toMatchFileSnapshot(`../golden/${name}.json`)
  })

  it.each([
    ['a client that the load calls', modelOf(PAIR, 'client'), { inbound: 15001, outbound: null }],
    ['a server', modelOf(PAIR, 'server'), { inbound: 15003, outbound: null }],
    ['an entry that calls', modelOf(GATEWAY, 'gateway'), { inbound: 15003, outbound: 15001 }],
  ])('takes the connections of %s', (_, model, redirects) => expect(specOf(model).redirects).toEqual(redirects))

  it('has as many threads as its limit has CPUs, or the one that Linkerd gives it', () => {
    const count = (/** @type {string | null} */ profile) => linkerd.countWorkers({ profile, cpus: 16 })
    expect([count(null), count('deployed')]).toEqual([null, 1])
  })

  it.each([
    ['without redirection', { interception: undefined }, /redirected connections only/],
    ['with keys of RSA', { tls: 'rsa-2048' }, /no signatures of RSA/],
    ['with a group to choose', { tls: 'ecdsa-p256+x25519mlkem768' }, /no setting for groups/],
    ['as it is', {}, null],
  ])('is refused %s', (_, overrides, reason) => {
    const conditions = /** @type {Conditions} */ ({ ...DEFAULT_CONDITIONS, interception: 'redirect', ...overrides })
    const entrance = { modes: [/** @type {const} */ ('strict')], hasCertificate: false }
    const refusal = linkerd.findUnsupported({ conditions, entrance, version: '2.360.0', cpus: 2 })
    if (reason) expect(refusal).toMatch(reason)
    else expect(refusal).toBeNull()
  })

  it.each([
    ['INFO ThreadId(01) linkerd2_proxy: release 2.360.0 (45780d0f9) by linkerd on 2026-07-01T05:05:08Z', '2.360.0'],
    ['INFO ThreadId(01) linkerd2_proxy: release 0.0.0-dev (45780d0f9) by  on 2026-11-26T05:05:08Z', '45780d0f9'],
    ['INFO ThreadId(01) linkerd2_proxy: release 0.0.0-dev () by  on 2026-11-28T06:28:08Z', '0.0.0-dev'],
    ['Invalid configuration: no destination service configured', null],
  ])('is of the version that it prints: %s', (printed, version) =>
    expect(linkerd.tool?.parseVersion(printed)).toBe(version))
})

/** Leaves out what the wire does: empty lists, zeros of scalars, and how bytes are held. @param {unknown} value @returns {unknown} */
function plain(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !(Array.isArray(item) && item.length === 0))
      .map(([name, item]) => [name, plain(item)]),
  )
}
