import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { renderIstioBootstrap } from '../../src/dataplanes/envoy/istio/config.js'
import { renderFsmConfig } from '../../src/dataplanes/pipy/fsm/config.js'
import { pipy } from '../../src/dataplanes/pipy/index.js'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { createModel } from '../../src/services/sidecar-model.js'
import { chooseWorkers } from '../../src/services/sidecar-options.js'
import { parseTopology } from '../../src/services/topology.js'
import { createCluster } from '../fakes/fake-models.js'
import { DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { abridge } from './abridge.js'

/** @import { Conditions, SidecarModel, TrafficPolicy } from '../../src/model/types.ts' */

const topology = parseTopology(readFileSync('bench/topologies/gateway-ratings.yaml', 'utf8'), 'gateway-ratings.yaml')
const places = { gateway: createPlace('10.77.0.10'), ratings: createPlace('10.77.0.11') }
const text = (/** @type {unknown} */ value) => `${JSON.stringify(value, null, 2)}\n`

/**
 * @param {'gateway' | 'ratings'} name @param {{ trafficPolicy?: TrafficPolicy, isRedirected?: boolean }} [options]
 * @returns {SidecarModel}
 */
function modelOf(name, { trafficPolicy = 'open', isRedirected = true } = {}) {
  const service = topology.services.find(candidate => candidate.name === name) ?? topology.services[0]
  return createModel(topology, { service, places, trafficPolicy, workers: 2, certificates: '/c', isRedirected })
}

// Stands for FSM's scripts, of which none is in the repository.
const scriptFiles = {
  'main.js': "pipy().listen(15000).use('stats.js', 'fsm-stats')",
  'config.js': 'JSON.decode(pipy.load("config.json"))',
  'config.json': '{}',
  'modules/inbound-main.js': 'pipy()',
}
const specOf = (/** @type {SidecarModel} */ model, scripts = scriptFiles) => {
  const tool = { name: 'pipy', path: '/bin/pipy', version: '1.5.18', sha256: '', source: '' }
  const options = {
    model,
    folder: '/f',
    scripts: '/s',
    scriptFiles: scripts,
    profile: 'fsm',
    cpuLimitCores: null,
    tool,
  }
  return /** @type {import('../../src/model/types.ts').ProcessSpec} */ (pipy.createSidecar?.(options))
}

/** @type {Conditions} */
const conditions = { ...DEFAULT_CONDITIONS, features: 'lean', interception: 'redirect' }
const entrance = { modes: [/** @type {const} */ ('strict')], hasCertificate: false }
const refused = (/** @type {Partial<Conditions>} */ overrides, version = '1.5.18') =>
  pipy.findUnsupported({ conditions: { ...conditions, ...overrides }, entrance, profile: 'fsm', version, cpus: 2 })

describe('a post-quantum group', () => {
  const postQuantum = { ...conditions, tls: /** @type {const} */ ('ecdsa-p256+x25519mlkem768') }
  const options = { conditions: postQuantum, entrance, cpus: 2 }

  it('is refused if the program, or the profile, has none', () => {
    expect(pipy.findUnsupported({ ...options, version: '1.5.18' })).toMatch(/came with OpenSSL 3.5, and Pipy 1.5.18/)
    expect(pipy.findUnsupported({ ...options, version: '2.0.2' })).toBeNull()
    expect(envoy.findUnsupported({ ...options, version: '1.40.0', profile: 'istio' })).toMatch(/names no post-quantum/)
    expect(envoy.findUnsupported({ ...options, version: '1.40.0' })).toBeNull()
  })
})

describe("the configuration of FSM's sidecar", () => {
  it.each(
    /** @type {const} */ ([
      ['fsm-entry', 'gateway', 'open', false],
      ['fsm-strict', 'ratings', 'open', false],
      ['fsm-listed', 'ratings', 'listed', false],
      ['osm-edge-listed', 'gateway', 'listed', true],
    ]),
  )('is, as %s, the golden one', (file, name, trafficPolicy, isOsmEdge) =>
    expect(text(renderFsmConfig(modelOf(name, { trafficPolicy }), { isOsmEdge }))).toMatchFileSnapshot(
      `../golden/${file}.json`,
    ))

  it('has no certificate if nothing speaks TLS', () => {
    const { inbound, ...model } = modelOf('ratings')
    const plain = { ...model, inbound: inbound && { ...inbound, mtls: /** @type {const} */ ('disabled') } }
    expect(renderFsmConfig(plain, { isOsmEdge: false }).Certificate).toBeNull()
  })

  it('matches headers exactly, and paths by their prefix', () => {
    const { inbound, ...model } = modelOf('ratings')
    const [route] = inbound?.routes ?? []
    const routes = [{ ...route, host: 'a', pathPrefix: '/v2', headers: { 'x-canary': 'a.b' } }]
    const { Inbound } = renderFsmConfig({ ...model, inbound: inbound && { ...inbound, routes } }, { isOsmEdge: false })
    expect(Inbound?.TrafficMatches[8080].HttpServiceRouteRules['a.bench']).toEqual({
      RouteRules: [
        { Path: '/v2', Type: 'Prefix', Headers: { 'x-canary': '^a\\.b$' }, TargetClusters: { application: 1 } },
      ],
    })
  })
})

describe('a sidecar of FSM', () => {
  it('runs the scripts that were given, and reads its keys where they are', () => {
    const { files, argv, listens, redirects } = specOf(modelOf('gateway'))
    const contents = Object.fromEntries(files.map(({ name, content }) => [name, content]))
    expect(Object.keys(contents).sort()).toEqual(
      ['config.js', 'config.json', 'fsm-config.js', 'main.js', 'modules/inbound-main.js'].sort(),
    )
    expect(contents['fsm-config.js']).toBe(scriptFiles['config.js'])
    expect(contents['config.json']).toContain('"PrivateKey": "/c/gateway-key.pem"')
    expect(argv).toEqual(['--log-level=error', '--admin-port=6060', '--threads=2', '--reuse-port', '/f/main.js'])
    expect(listens.map(({ address, port }) => `${address}:${port}`)).toEqual(['0.0.0.0:15003', '0.0.0.0:15001'])
    expect(redirects).toEqual({ inbound: 15003, outbound: 15001 })
  })

  it('reads the configuration of osm-edge if the scripts are its', () => {
    const edge = { ...scriptFiles, 'main.js': scriptFiles['main.js'].replace('fsm-stats', 'osm-stats') }
    const config = specOf(modelOf('gateway'), edge).files.find(({ name }) => name === 'config.json')?.content
    expect(JSON.parse(`${config}`).Outbound.TrafficMatches[8080][0].HttpHostPort2Service.ratings).toBe('ratings.bench')
  })

  it.each(
    /** @type {const} */ ([
      [/take redirected connections only/, { interception: undefined }, '1.5.18'],
      [/take redirected connections only/, { interception: 'none' }, '1.5.18'],
      [/without one it logs nothing/, { features: 'access-log' }, '1.5.18'],
      [/give features to pipy alone/, { features: 'metrics' }, '1.5.18'],
      [/FSM's own control plane/, { changesPerMinute: 6 }, '1.5.18'],
      [/need Pipy 1.5/, {}, '2.0.2'],
    ]),
  )('is refused: %s', (reason, overrides, version) => expect(refused(overrides, version)).toMatch(reason))

  it('is not refused otherwise', () => expect(refused({})).toBeNull())
})

describe("the configuration of Istio's proxy", () => {
  const entry = renderIstioBootstrap(modelOf('gateway'), { hasIstioFilters: false })

  it('is, at the entry, the golden one', () =>
    expect(text(abridge(entry))).toMatchFileSnapshot('../golden/istio-entry.json'))

  it.each(
    /** @type {const} */ ([
      ['istio-listed', 'ratings', { trafficPolicy: 'listed' }, false],
      ['istio-filters', 'gateway', {}, true],
      ['istio-direct', 'ratings', { isRedirected: false }, false],
    ]),
  )('is, as %s, the golden one, which has what differs from the entry', (file, name, options, hasIstioFilters) => {
    const rendered = renderIstioBootstrap(modelOf(name, options), { hasIstioFilters })
    return expect(text(abridge(rendered, { name: 'istio-entry', value: entry }))).toMatchFileSnapshot(
      `../golden/${file}.json`,
    )
  })

  it('accepts no callee if none is named, and calls none that has no endpoints: an empty list would mean any', () => {
    const clusters = [
      createCluster({ name: 'unnamed', mtls: { serverName: 'unnamed', acceptedIdentities: [] } }),
      createCluster({ name: 'gone', endpoints: [] }),
    ]
    const { static_resources } = renderIstioBootstrap({ ...modelOf('gateway'), clusters }, { hasIstioFilters: false })
    const [unnamed, gone] = static_resources.clusters
    expect(JSON.stringify(unnamed)).toContain(
      '"match_typed_subject_alt_names":[{"san_type":"URI","matcher":{"exact":"spiffe://sidecar-bench/nobody"}}]',
    )
    expect(gone).toMatchObject({ type: 'STATIC', load_assignment: { endpoints: [{ lb_endpoints: [] }] } })
  })

  it("has Istio's own filters if a developers' build of Envoy may have them", () => {
    const bootstrapOf = (/** @type {string} */ version) => {
      const tool = { name: 'envoy', path: '/bin/envoy', version, sha256: '', source: '' }
      const options = {
        model: modelOf('ratings'),
        folder: '/f',
        scripts: '/s',
        profile: 'istio',
        cpuLimitCores: null,
        tool,
      }
      return envoy.createSidecar?.(options).files[0].content
    }
    expect(bootstrapOf('1.40.0')).not.toContain('"istio.stats"')
    expect(bootstrapOf('1.38.0-dev')).toContain('"istio.stats"')
    expect(envoy.tool?.parseVersion('envoy  version: 81864a1c/1.38.0-dev/Clean/RELEASE/BoringSSL')).toBe('1.38.0-dev')
  })

  it('has two workers, and is refused if its stand-ins cannot be had', () => {
    expect(envoy.countWorkers({ profile: 'istio', cpus: 16 })).toBe(2)
    const options = { conditions, entrance, profile: 'istio', cpus: 2 }
    expect(envoy.findUnsupported({ ...options, version: '1.36.0' })).toMatch(/since 1.37/)
    expect(envoy.findUnsupported({ ...options, version: '1.40.0' })).toBeNull()
  })
})

describe('Pipy as its container starts it', () => {
  it.each([
    [0.5, 1],
    [1.5, 1],
    [1.9, 1],
    [2, 2],
    [null, 16],
  ])('has, at a limit of %s cores, %i threads', (cpuLimitCores, threads) => {
    expect(pipy.countWorkers({ profile: 'container', cpus: 16, cpuLimitCores })).toBe(threads)
    expect(pipy.countWorkers({ profile: null, cpus: 16, cpuLimitCores })).toBeNull()
  })

  it('is the lean sidecar but for their number, if an arm asks for none', () => {
    const arm = { plane: 'pipy', cpuLimitCores: 1.5, conditions: { ...conditions, workers: null } }
    const count = (/** @type {string | null} */ profile) =>
      chooseWorkers({ ...arm, profile }, { cpus: 4, planes: { pipy } })
    expect([count(null), count('container')]).toEqual([2, 1])
    const tool = { name: 'pipy', path: '/bin/pipy', version: '1.5.18', sha256: '', source: '' }
    const model = modelOf('ratings')
    const specs = [null, 'container'].map(profile =>
      pipy.createSidecar?.({ model, profile, tool, folder: '/f', scripts: '/s', cpuLimitCores: 1.5 }),
    )
    expect(specs[1]).toEqual(specs[0])
  })
})
