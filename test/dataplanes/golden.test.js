import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { caddy } from '../../src/dataplanes/caddy/index.js'
import { renderAdsBootstrap, renderAdsResources } from '../../src/dataplanes/envoy/ads-config.js'
import { renderBootstrap } from '../../src/dataplanes/envoy/config.js'
import { renderOutlierDetection } from '../../src/dataplanes/envoy/features.js'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { createPipyArgv } from '../../src/dataplanes/pipy/argv.js'
import { pipy } from '../../src/dataplanes/pipy/index.js'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { FEATURES } from '../../src/model/features.js'
import { createCluster, createInbound, createModel, createRoute } from '../fakes/fake-models.js'
import { abridge } from './abridge.js'

const dataPlanes = Object.values(await loadPlanes())

/** @import { DataPlane, SidecarModel } from '../../src/model/types.ts' */

const inbound = createInbound({
  mtls: 'permissive',
  acceptedIdentities: ['spiffe://sidecar-bench/ns/bench/sa/front'],
  routes: [createRoute({ split: [{ cluster: 'application', weight: 1 }] })],
})
const canary = createRoute({
  ...{ host: 'ratings', pathPrefix: '/v2', headers: { 'x-canary': 'yes' } },
  split: [
    { cluster: 'ratings', weight: 80 },
    { cluster: 'ratings-v2', weight: 20 },
  ],
})
const outbound = {
  ...{ address: '127.1.1.1', port: 15001 },
  routes: [canary, createRoute({ split: [{ cluster: 'ratings', weight: 1 }] })],
}
const clusters = [
  createCluster({ name: 'application', endpoints: [{ address: '127.1.1.1', port: 8080 }] }),
  ...['ratings', 'ratings-v2'].map(name =>
    createCluster({
      name,
      endpoints: ['127.1.1.2', '127.1.1.3'].map(address => ({ address, port: 15003 })),
      balancing: 'least-requests',
      mtls: { serverName: 'ratings', acceptedIdentities: null },
    }),
  ),
]
const identity = 'spiffe://sidecar-bench/ns/bench/sa/gateway'
const model = createModel({ service: 'gateway', identity, inbound, outbound, clusters })
/** @param {SidecarModel['outbound']} [outboundListener] @returns {SidecarModel} */
const withFeatures = (outboundListener = outbound) => ({
  ...model,
  outbound: outboundListener,
  features: FEATURES,
  inbound: {
    ...inbound,
    routes: inbound.routes.map(route => ({
      ...{ ...route, allowedIdentities: inbound.acceptedIdentities ?? [] },
      limitPerSecond: 10,
    })),
  },
})
const redirected = {
  ...model,
  inbound: { ...inbound, redirectedPorts: [8080] },
  outbound: { ...outbound, redirectedPorts: [8080, 9090] },
}
/** @type {SidecarModel} */
const ofBytes = {
  ...model,
  carriesBytes: true,
  outbound: {
    ...outbound,
    routes: ['ratings', 'ratings-v2'].map((cluster, i) => ({
      ...createRoute({ split: [{ cluster, weight: 1 }] }),
      port: 15001 + 100 * i,
    })),
  },
  clusters: clusters.map(cluster => ({ ...cluster, protocol: 'tcp' })),
}
/** @type {SidecarModel} */
const ofCalls = {
  ...model,
  carriesGrpc: true,
  inbound: { ...inbound, protocol: 'http/2' },
  clusters: clusters.map(cluster => ({ ...cluster, protocol: 'http/2' })),
}
const text = (/** @type {unknown} */ value) => `${JSON.stringify(value, null, 2)}\n`

/** @param {DataPlane} plane */
const specOf = (plane, sidecarModel = plane.carriesBytesOnly ? ofBytes : model) =>
  plane.createSidecar?.({
    ...{ model: sidecarModel, folder: '/f', scripts: '/s', profile: null, cpuLimitCores: 1.5 },
    tool: { name: plane.name, path: `/bin/${plane.name}`, version: '1.5.18', sha256: '', source: '' },
  })

/** Names the golden file of a configuration after it, and after its plane. @param {Pick<DataPlane, 'name'>} plane @param {{ name: string }} file */
const nameGolden = (plane, file) =>
  path.parse(file.name).name === plane.name ? file.name : `${plane.name}-${file.name}`

const sidecarPlanes = dataPlanes.filter(plane => plane.createSidecar && plane.pipelines !== 'only')

describe('what the planes render', () => {
  it.each([
    ['envoy-lean', renderBootstrap(model, 'lean')],
    ['envoy-ads', renderAdsBootstrap(model, { server: { address: '127.1.1.9', port: 6071 }, apiType: 'GRPC' })],
  ])('is, as %s, the golden one', (name, rendered) =>
    expect(text(rendered)).toMatchFileSnapshot(`../golden/${name}.json`))
  it.each([
    ['envoy-osm-1.1', renderBootstrap(model, 'osm-1.1')],
    ['envoy-features', renderBootstrap(withFeatures(), null)],
    ['envoy-redirected', renderBootstrap(redirected, null).static_resources.listeners],
    ['envoy-ads-resources', renderAdsResources(model, 'lean')],
  ])('is, as %s, the golden one, which has what differs from envoy-lean', (name, rendered) => {
    const lean = { name: 'envoy-lean', value: renderBootstrap(model, 'lean') }
    return expect(text(abridge(rendered, lean))).toMatchFileSnapshot(`../golden/${name}.json`)
  })
  it.each(sidecarPlanes)('is, for $name, the golden process', plane =>
    expect(text(specOf(plane))).toMatchFileSnapshot(`../golden/${plane.name}-process.json`))
  it.each([
    ['pipy', 'Groups=A:B', 'Groups=A:B'],
    ['envoy', '"ecdh_curves":["A","B"]', '"ecdh_curves":["A","B"]'],
    ['haproxy', 'curvesA:B', 'Groups=A:B'],
    ['nginx', 'ssl_ecdh_curveA:B', 'proxy_ssl_conf_commandGroupsA:B'],
    ['caddy', '"curves":["a","b"]', '"curves":["a","b"]'],
  ])('has, for %s, all groups of the key exchange in order, as a server and as a client', (name, server, client) => {
    const plane = /** @type {DataPlane} */ (dataPlanes.find(candidate => candidate.name === name))
    const spec = specOf(plane, { ...model, tls: { ...model.tls, groups: ['A', 'B'] } })
    const written = (spec?.files ?? []).map(({ content }) => content.replace(/\s/g, '')).join()
    expect(written.split(server).length - 1).toBeGreaterThan(server === client && name !== 'pipy' ? 1 : 0)
    expect(written).toContain(client)
  })
  // They can be read only as files of their own; some have one above.
  const configurations = sidecarPlanes
    .flatMap(plane =>
      (specOf(plane)?.files ?? []).slice(0, 1).map(file => ({ ...file, golden: nameGolden(plane, file) })),
    )
    .filter(f => !['envoy.json', 'sidecar.json'].includes(f.name))
  it.each(['envoy', 'haproxy', 'nginx'])('is, for %s that carries bytes, the golden configuration', name => {
    const spec = specOf(/** @type {DataPlane} */ (dataPlanes.find(plane => plane.name === name)), ofBytes)
    expect(spec?.listens.map(({ port }) => port)).toEqual([15003, 15001, 15101])
    return expect(spec?.files[0].content).toMatchFileSnapshot(`../golden/tcp-${spec?.files[0].name}`)
  })
  it('is, for Pipy that carries bytes, the script of its own', () =>
    expect(specOf(pipy, ofBytes)?.argv).toContain('/s/tcp.js'))
  it('is, for nginx that carries gRPC, the golden configuration', () => {
    const nginx = /** @type {DataPlane} */ (dataPlanes.find(({ name }) => name === 'nginx'))
    return expect(specOf(nginx, ofCalls)?.files[0].content).toMatchFileSnapshot('../golden/grpc-nginx.conf')
  })
  it('is, for Envoy and Caddy that carry gRPC, HTTP/2 at each listener', () => {
    const manager = (/** @type {object} */ listener) => JSON.stringify(listener).match(/"codec_type":"\w+"/g)
    const { listeners } = renderBootstrap(ofCalls, null).static_resources
    for (const listener of listeners) expect(new Set(manager(listener))).toEqual(new Set(['"codec_type":"AUTO"']))
    const { servers } = JSON.parse(`${specOf(caddy, ofCalls)?.files[0].content}`).apps.http
    expect(servers.outbound.protocols).toEqual(['h1', 'h2c'])
  })
  it.each(configurations)('is, as $golden, the golden configuration', ({ golden, content }) =>
    expect(content).toMatchFileSnapshot(`../golden/${golden}`))
  it('has a golden file for each plane, also where a copied folder names its configuration as the original does', () => {
    expect(['caddy', 'myplane'].map(name => nameGolden({ name }, { name: 'caddy.json' }))).toEqual([
      'caddy.json',
      'myplane-caddy.json',
    ])
  })
})

describe('who may call', () => {
  it('is no client if none is named: an empty list would admit all', () => {
    const text = JSON.stringify(renderBootstrap({ ...model, inbound: createInbound() }, 'lean'))
    expect(text).toContain(
      '"match_typed_subject_alt_names":[{"san_type":"URI","matcher":{"exact":"spiffe://sidecar-bench/nobody"}}]',
    )
  })
})

describe('features', () => {
  it('leave no word where they are off', () => {
    const lean = JSON.stringify(renderBootstrap(model, null))
    expect(lean).not.toMatch(
      /access_log"|rbac|ratelimit|stat_prefix":"(in|out)bound_|opentelemetry|headers_to|retry_budget|outlier|common_lb/,
    )
    expect(specOf(envoy)?.argv).not.toContain('--file-flush-interval-msec')
    expect(specOf(pipy)?.admin).toBeNull()
    expect(specOf(pipy)?.argv).not.toContain('--log-history-limit=0')
  })

  it('have Pipy keep no lines of the access log in memory', () =>
    expect(specOf(pipy, withFeatures())?.argv).toContain('--log-history-limit=0'))

  it.each([
    ['outbound.routes.1.limitPerSecond: at least 1', { limitPerSecond: 0 }, {}],
    ['clusters.0.maxRequests: at least 1', {}, { maxRequests: 0 }],
    ['clusters.0.ejection.maxShare: less than 1', {}, { ejection: { ...FEATURES['outlier-ejection'], maxShare: 1 } }],
    ['clusters.0.retryBudget.share', {}, { retryBudget: { share: 1.5, minConcurrent: 1 } }],
  ])('refuse %s, on every plane', (message, route, cluster) => {
    const [first, ...rest] = clusters
    const routes = outbound.routes.map((original, i) => (i === 1 ? { ...original, ...route } : original))
    const invalidModel = { ...withFeatures({ ...outbound, routes }), clusters: [{ ...first, ...cluster }, ...rest] }
    for (const plane of [envoy, pipy])
      expect(() => specOf(plane, invalidModel)).toThrow(`describe the sidecar of gateway: ${message}`)
  })

  it.each([
    ['two are counted as outbound_a_b_api', ['a-b', '/api', undefined], ['a.b', '/api', undefined]],
    ['a route for any host has a limit', ['a', '/', undefined], [null, '/', 10]],
  ])('refuse routes of which %s', (message, ...pairs) => {
    const routes = pairs.map(
      ([host, pathPrefix, limitPerSecond]) =>
        /** @type {typeof canary} */ ({ ...canary, host, pathPrefix, headers: {}, limitPerSecond }),
    )
    const invalidModel = withFeatures({ ...outbound, routes })
    for (const plane of [envoy, pipy]) expect(() => specOf(plane, invalidModel)).toThrow(`outbound.routes: ${message}`)
    expect(specOf(envoy, { ...invalidModel, features: { 'access-log': FEATURES['access-log'] } })).toBeDefined()
  })

  it('have Envoy send nothing to an ejected endpoint, and eject a whole share of them', () => {
    const ejection = { ...FEATURES['outlier-ejection'], maxShare: 0.29 }
    const { common_lb_config, outlier_detection } = renderOutlierDetection(FEATURES, { ...clusters[1], ejection })
    expect(common_lb_config).toEqual({ healthy_panic_threshold: { value: 0 } })
    expect(outlier_detection?.max_ejection_percent).toBe(29)
  })

  it('add the filter of authorization to a direction whose routes list identities, and to no other', () => {
    const { static_resources } = JSON.parse(JSON.stringify(renderBootstrap(withFeatures(), null)))
    const having = static_resources.listeners
      .filter((/** @type {unknown} */ listener) => JSON.stringify(listener).includes('"envoy.filters.http.rbac"'))
      .map((/** @type {{ name: string }} */ { name }) => name)
    expect(having).toEqual(['inbound'])
  })
})

describe('redirected connections', () => {
  it('are ports of the process, for the rules', () => {
    expect(specOf(pipy, redirected)?.redirects).toEqual({ inbound: 15003, outbound: 15001 })
    expect(specOf(envoy, { ...redirected, outbound: null })?.redirects).toEqual({ inbound: 15003, outbound: null })
    expect(specOf(pipy)).not.toHaveProperty('redirects')
  })
})

describe('createPipyArgv', () => {
  it('leaves out for 2.0 the flags that it rejects', () => {
    expect(createPipyArgv({ version: '2.0.2', threads: 1, script: 'm.js', args: ['a'] })).toEqual([
      '--log-level=error',
      '--threads=1',
      '--reuse-port',
      'm.js',
      '--args',
      'a',
    ])
    expect(createPipyArgv({ version: '1.5.18', threads: 1, script: 'm.js', args: [] })).toContain('--no-graph')
  })
})

describe('how long a plane keeps idle connections', () => {
  const times = { profile: null, timeouts: model.timeouts }

  it.each([null, 'osm-1.1'])('is, by its contract, what its configuration says, with the profile %s', profile =>
    expect(JSON.stringify(renderBootstrap(model, profile).static_resources.clusters)).toContain(
      `"common_http_protocol_options":{"idle_timeout":"${envoy.findIdleSeconds?.({ ...times, profile })}s"}`,
    ))

  it('is long enough for eight arms in turns of half a second', () => {
    for (const plane of dataPlanes) expect(plane.findIdleSeconds?.(times) ?? 60).toBeGreaterThan(8 * 0.5)
  })
})
