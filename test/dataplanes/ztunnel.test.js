import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ztunnel } from '../../src/dataplanes/ztunnel/index.js'
import { renderSpiffeId } from '../../src/model/sidecar-contract.js'
import { DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { createRedirectedModel, GATEWAY, PAIR } from '../fakes/redirected-models.js'

/** @import { Conditions, ProcessSpec, SidecarModel, Topology, TrafficPolicy } from '../../src/model/types.ts' */

/** @param {Topology} topology @param {string} name @param {Partial<Parameters<typeof createRedirectedModel>[2]>} [options] */
const modelOf = (topology, name, options) =>
  createRedirectedModel(topology, name, { protocol: 'tcp', trafficPolicy: 'open', ...options })

const tool = { name: 'ztunnel', path: '/bin/ztunnel', version: '1.30.3', sha256: '', source: '' }
const optionsOf = (/** @type {SidecarModel} */ model, /** @type {string | null} */ profile = null) => ({
  ...{ model, tool, profile, folder: '/f', scripts: '/s', cpuLimitCores: null, authorityKeyPath: '/c/ca-key.pem' },
})
const specOf = (/** @type {SidecarModel} */ model, /** @type {string | null} */ profile = null) =>
  /** @type {ProcessSpec} */ (ztunnel.createSidecar?.(optionsOf(model, profile)))
const read = (/** @type {SidecarModel} */ model) => parse(specOf(model).files[0].content, { logLevel: 'error' })

describe('the configuration of ztunnel', () => {
  it.each([
    ['a client that the load calls, listed', modelOf(PAIR, 'client', { trafficPolicy: 'listed' }), 'ztunnel-client'],
    ['a server that takes listed identities', modelOf(PAIR, 'server', { trafficPolicy: 'listed' }), 'ztunnel-listed'],
    ['an entry that calls', modelOf(GATEWAY, 'gateway', { trafficPolicy: 'listed' }), 'ztunnel-entry'],
  ])('is, for %s, the golden one', (_, model, name) =>
    expect(specOf(model).files[0].content).toMatchFileSnapshot(`../golden/${name}.yaml`))

  it('spreads connections over the copies of a service, by the port of the application', () => {
    const { services, workloads } = read(modelOf(PAIR, 'client'))
    expect(services).toMatchObject([{ hostname: 'outbound', vips: ['/10.77.0.1'], ports: { 15001: 0 } }])
    const [client, ...others] = workloads
    expect(client).toMatchObject({ name: 'client', workloadIps: [], serviceAccount: 'client' })
    expect(others.map((/** @type {any} */ w) => [w.workloadIps, w.serviceAccount, w.protocol, w.services])).toEqual(
      ['10.77.0.2', '10.77.0.3'].map(ip => [[ip], 'server', 'HBONE', { 'bench/outbound': { 15001: 8080 } }]),
    )
  })

  it('takes for a service what an application calls at the address of its first copy', () => {
    const { services, workloads } = read(modelOf(GATEWAY, 'gateway'))
    expect(services).toMatchObject([{ hostname: 'ratings', vips: ['/10.77.0.5'], ports: { 8080: 0 } }])
    expect(workloads[1].services).toEqual({ 'bench/ratings': { 8080: 8080 } })
  })

  it('expects an identity that no peer has if a cluster accepts none, and further ones by the service', () => {
    const model = modelOf(PAIR, 'client')
    const accept = (/** @type {string[]} */ acceptedIdentities) =>
      read({
        ...model,
        clusters: model.clusters.map(c => ({ ...c, mtls: { serverName: 'server', acceptedIdentities } })),
      })
    expect(accept([]).workloads[1].serviceAccount).toBe('nobody')
    const two = accept(['a', 'b'].map(renderSpiffeId))
    expect([two.workloads[1].serviceAccount, two.services[0].subjectAltNames]).toEqual(['a', [renderSpiffeId('b')]])
  })

  it.each(
    /** @type {[string, TrafficPolicy, Partial<SidecarModel['inbound']>, unknown][]} */ ([
      ['strict and open', 'open', {}, [['Deny', [[[{ notPrincipals: [[]] }]]]]]],
      ['permissive and open', 'open', { mtls: 'permissive' }, []],
      [
        'permissive and listed',
        'listed',
        { mtls: 'permissive' },
        [['Allow', [[[{ principals: ['x/client'] }]], [[{ notPrincipals: [[]] }]]]]],
      ],
      [
        'listed and nobody is',
        'listed',
        { acceptedIdentities: [], mtls: 'permissive' },
        [['Allow', [[[{ notPrincipals: [[]] }]]]]],
      ],
      ['without TLS', 'listed', { mtls: 'disabled' }, []],
    ]),
  )('admits by policies: %s', (_, trafficPolicy, overrides, expected) => {
    const model = modelOf(PAIR, 'server', { trafficPolicy })
    const inbound = model.inbound && { ...model.inbound, ...overrides }
    const { policies } = read({ ...model, inbound })
    const text = JSON.stringify(policies.map((/** @type {any} */ p) => [p.action, p.rules]))
    expect(JSON.parse(text.replaceAll('sidecar-bench/ns/bench/sa', 'x'))).toEqual(expected)
  })

  it('sends plaintext without TLS', () => {
    const { workloads, policies } = read(modelOf(PAIR, 'client', { tls: 'plaintext' }))
    expect([workloads[1].protocol, policies]).toEqual(['TCP', []])
  })
})

describe('ztunnel as the proxy of a node', () => {
  const models = ['client', 'server', 'server-2'].map(name => modelOf(PAIR, name, { trafficPolicy: 'listed' }))
  const node = ztunnel.createNodeProxy?.(
    models.map(model => optionsOf(model, 'node')),
    '/f/node-proxy',
  )
  const [authority, handing, proxy] = node ?? []
  const configuration = parse(proxy.files[0].content, { logLevel: 'error' })

  it('has the golden configuration of all pods, with the policies of each at its own workload', () => {
    expect(configuration.workloads.map((/** @type {any} */ w) => [w.name, w.authorizationPolicies])).toEqual([
      ['client', []],
      ['server', ['bench/strict-server', 'bench/listed-server']],
      ['server-2', ['bench/strict-server-2', 'bench/listed-server-2']],
    ])
    expect(configuration.policies.every((/** @type {any} */ policy) => policy.scope === 'WorkloadSelector')).toBe(true)
    return expect(proxy.files[0].content).toMatchFileSnapshot('../golden/ztunnel-node.yaml')
  })

  it('spreads connections over the copies of a service, which are pods of the node', () =>
    expect(configuration.workloads.map((/** @type {any} */ w) => w.services)).toEqual([
      {},
      { 'bench/outbound': { 15001: 8080 } },
      { 'bench/outbound': { 15001: 8080 } },
    ]))

  it('serves the namespaces that it is handed, each with the rules of its pod, and certifies every identity', () => {
    expect(proxy.env).toMatchObject({ PROXY_MODE: 'shared', INPOD_UDS: 'pods.sock', ALT_CA_HOSTNAME: 'client' })
    expect([handing, proxy].map(({ service, role, folder, pods }) => [service, role, folder, pods])).toEqual([
      ['node-agent', 'control', '/f/node-proxy', proxy.pods],
      ['node-proxy', 'sidecar', '/f/node-proxy', proxy.pods],
    ])
    expect(proxy.pods?.map(pod => [pod.service, pod.redirects.inbound, pod.redirects.outbound])).toEqual([
      ['client', 15001, null],
      ['server', 15006, null],
      ['server-2', 15006, null],
    ])
    expect(handing.argv.slice(-3)).toEqual(['client bench client', 'server bench server', 'server-2 bench server'])
    const { certifies } = JSON.parse(authority.files[0].content)
    expect(certifies.map((/** @type {any} */ one) => one.dnsName)).toEqual(['client', 'server'])
  })
})

describe('the process of ztunnel', () => {
  it('asks its own authority, which certifies one identity and shows the certificate of the service', () => {
    const model = modelOf(PAIR, 'server-2')
    const { env } = specOf(model)
    const [authority] = ztunnel.createCompanions?.(optionsOf(model)) ?? []
    const configuration = JSON.parse(authority.files[0].content)
    expect(env.CA_ADDRESS).toBe(`https://${configuration.listen.address}:${configuration.listen.port}`)
    expect([env.AUTH_TOKEN, env.ALT_CA_HOSTNAME]).toEqual([configuration.token, configuration.certifies[0].dnsName])
    expect(configuration.certifies.map((/** @type {any} */ one) => one.identity)).toEqual([renderSpiffeId('server')])
    expect(configuration.authority).toEqual({ certificatePath: '/c/ca.pem', keyPath: '/c/ca-key.pem' })
    expect(authority).toMatchObject({
      service: 'server-2',
      role: 'control',
      isAwaited: true,
      listens: [configuration.listen],
    })
    expect(env).not.toHaveProperty('FAKE_CA')
  })

  it('has as many threads as its limit has CPUs, or as the program chooses', () => {
    const model = modelOf(PAIR, 'server', { workers: 3 })
    expect(specOf(model).env).toMatchObject({ ZTUNNEL_WORKER_THREADS: '3', RUST_LOG: 'error,access=off' })
    const { env } = specOf({ ...model, workers: 2 }, 'istio')
    expect([env.ZTUNNEL_WORKER_THREADS, env.RUST_LOG]).toEqual(['2', undefined])
    const count = (/** @type {string | null} */ profile, /** @type {number} */ cpus) =>
      ztunnel.countWorkers({ profile, cpus })
    expect([count(null, 16), count('istio', 2), count('istio', 16)]).toEqual([null, 2, 2])
  })

  it.each([
    ['a client that the load calls', modelOf(PAIR, 'client'), { inbound: 15001, outbound: null }],
    ['a server', modelOf(PAIR, 'server'), { inbound: 15006, outbound: null }],
    ['an entry that calls', modelOf(GATEWAY, 'gateway'), { inbound: 15006, outbound: 15001 }],
  ])('takes the connections of %s', (_, model, redirects) => expect(specOf(model).redirects).toEqual(redirects))

  it.each([
    ['without redirection', { interception: undefined }, /redirected connections only/],
    ['with keys of RSA', { tls: 'rsa-2048' }, /makes its keys itself/],
    ['with a group to choose', { tls: 'ecdsa-p256+x25519mlkem768' }, /no setting for groups/],
    ['with HTTP/2', { protocol: 'http/2' }, /carries bytes/],
    ['as it is', {}, null],
  ])('is refused %s', (_, overrides, reason) => {
    const conditions = /** @type {Conditions} */ ({ ...DEFAULT_CONDITIONS, interception: 'redirect', ...overrides })
    const entrance = { modes: [/** @type {const} */ ('strict')], hasCertificate: false }
    const refusal = ztunnel.findUnsupported({ conditions, entrance, version: '1.30.3', cpus: 2 })
    if (reason) expect(refusal).toMatch(reason)
    else expect(refusal).toBeNull()
  })

  it.each([
    ['version.BuildInfo{Version:"1.30.3", GitRevision:"a45c62f8"}', '1.30.3'],
    ['version.BuildInfo{Version:"a45c62f8d09a78eaa5228afcea6c7d3a06269b2c-dirty", GitRevision:"a45c62f8"}', 'a45c62f8'],
    ['unknown command: --version', null],
  ])('is of the version that it prints: %s', (printed, version) =>
    expect(ztunnel.tool?.parseVersion(printed)).toBe(version))
})
