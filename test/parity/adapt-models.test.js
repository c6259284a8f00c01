import { describe, expect, it } from 'vitest'
import { adaptModels, tunnelBytes } from '../../src/parity/adapt-models.js'
import { createCluster, createInbound, createModel, createRoute } from '../fakes/fake-models.js'

const PROBER = '10.77.0.1'
const to = (/** @type {string} */ cluster, /** @type {number} */ port) =>
  createRoute({ split: [{ cluster, weight: 1 }], port })
const at = (/** @type {string} */ address, /** @type {number} */ port) => ({ address, port })
const mtls = { serverName: 'server', acceptedIdentities: null }

const server = createModel({
  service: 'server',
  inbound: createInbound({ address: '10.77.0.5', routes: [to('echo', 15003), to('late', 15103)] }),
  clusters: [
    createCluster({ name: 'echo', endpoints: [at(PROBER, 20001), at(PROBER, 20002)] }),
    createCluster({ name: 'late', endpoints: [at(PROBER, 20006)] }),
  ],
})
const client = createModel({
  service: 'client',
  outbound: { address: '10.77.0.4', port: 15001, routes: [to('server-echo', 15001)] },
  clusters: [
    createCluster({ name: 'server-late', endpoints: [at('10.77.0.5', 15103)], mtls }),
    createCluster({ name: 'expired', endpoints: [at(PROBER, 20014)], mtls }),
    createCluster({ name: 'observed', endpoints: [at(PROBER, 20010)], mtls: null }),
  ],
})

describe('the models of sidecars that tunnel', () => {
  const { models, translations } = tunnelBytes([client, server], { tunnelPort: 15008 })
  const endpointsOf = (/** @type {number} */ i) => models[i].clusters.map(({ endpoints }) => endpoints)

  it('have the application at the address of its own sidecar, from where the kernel sends connections on', () => {
    expect(endpointsOf(1)).toEqual([[at('10.77.0.5', 20001), at('10.77.0.5', 20002)], [at('10.77.0.5', 20006)]])
    expect(translations.server).toEqual([
      { from: at('10.77.0.5', 20001), to: at(PROBER, 20001) },
      { from: at('10.77.0.5', 20006), to: at(PROBER, 20006) },
    ])
  })

  it('call a sidecar by the port of its application, and each peer at an address of its own', () => {
    expect(endpointsOf(0)).toEqual([[at('10.77.0.5', 20006)], [at('198.19.0.1', 80)], [at('198.19.0.2', 80)]])
    expect(translations.client).toEqual([
      { from: at('198.19.0.1', 15008), to: at(PROBER, 20014) },
      { from: at('198.19.0.2', 80), to: at(PROBER, 20010) },
    ])
  })
})

describe('the models of sidecars that route at the caller', () => {
  const a = createCluster({ name: 'a', endpoints: [at(PROBER, 20001)] })
  const half = createCluster({ name: 'half', endpoints: [at(PROBER, 20009), at(PROBER, 20001)] })
  const routed = {
    ...server,
    clusters: [a, half],
    inbound: createInbound({
      address: '10.77.0.5',
      routes: [
        createRoute({ host: 'half', split: [{ cluster: 'half', weight: 1 }], allowedIdentities: ['x'] }),
        createRoute({ split: [{ cluster: 'a', weight: 1 }] }),
      ],
    }),
  }
  const caller = {
    ...client,
    outbound: {
      ...{ address: '10.77.0.4', port: 15001 },
      routes: [
        createRoute({ host: 'observed', split: [{ cluster: 'observed', weight: 1 }] }),
        createRoute({ split: [{ cluster: 'server', weight: 1 }] }),
      ],
    },
    clusters: [
      createCluster({ name: 'server', endpoints: [at('10.77.0.5', 8080)], mtls, protocol: 'http/2' }),
      createCluster({ name: 'observed', endpoints: [at(PROBER, 20010)], mtls: null }),
    ],
  }
  const { models, translations } = adaptModels([caller, routed], { routesAtCaller: true })

  it('give callers the routes of the server behind their own, and the server a port for each endpoint', () => {
    const [{ outbound, clusters }, { inbound }] = models
    expect(outbound?.routes.map(({ host, split }) => [host, split[0].cluster])).toEqual([
      ['observed', 'observed'],
      ['half', 'server-half'],
      [null, 'server-a'],
    ])
    expect(outbound?.routes.some(route => 'allowedIdentities' in route)).toBe(false)
    expect(clusters.map(({ name, endpoints, protocol }) => [name, endpoints, protocol])).toEqual([
      ['observed', [at(PROBER, 20010)], 'http/1.1'],
      ['server-a', [at('10.77.0.5', 20001)], 'http/2'],
      ['server-half', [at('10.77.0.5', 20009), at('10.77.0.5', 20001)], 'http/2'],
    ])
    expect(clusters.slice(1).map(cluster => cluster.mtls)).toEqual([mtls, mtls])
    expect(inbound?.redirectedPorts).toEqual([20001, 20009])
    expect(inbound?.routes[0].allowedIdentities).toEqual(['x'])
  })

  it('have rules that send each port on', () => {
    expect(translations?.server).toEqual(
      [20001, 20009].map(port => ({ from: at('10.77.0.5', port), to: at(PROBER, port) })),
    )
    expect(translations?.client).toEqual([])
  })

  it('are as they were for a plane that routes at the server, and tunnel bytes to the port of sidecars', () => {
    expect(adaptModels([caller, routed], {})).toEqual({ models: [caller, routed] })
    const bytes = adaptModels([{ ...client, carriesBytes: true }, server], { routesAtCaller: true })
    expect(bytes.translations?.client[0].from).toEqual(at('198.19.0.1', 15003))
  })
})
