import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { createModel } from '../../src/services/sidecar-model.js'
import {
  copyLastService,
  copyLink,
  locateEntryEndpoints,
  locateNextHop,
  parseTopology,
} from '../../src/services/topology.js'

/** @import { Service, TrafficPolicy } from '../../src/model/types.ts' */

const read = (/** @type {string} */ name) => parseTopology(readFileSync(`bench/topologies/${name}.yaml`, 'utf8'), name)
const places = Object.fromEntries(
  ['gateway', 'ratings', 'client', 'server'].map((name, i) => [name, createPlace(`127.9.1.${i + 1}`)]),
)
const options = { places, workers: 1, certificates: '/c', trafficPolicy: /** @type {TrafficPolicy} */ ('listed') }
const at = (/** @type {string} */ address, /** @type {number} */ port) => ({ address, port })

describe('locateEntryEndpoints', () => {
  it('is the entry sidecar, or its application without sidecars', () => {
    const find = (/** @type {boolean} */ hasSidecars) =>
      locateEntryEndpoints(read('gateway-ratings'), { places, hasSidecars })
    expect(find(true)).toEqual({ endpoints: [at('127.9.1.1', 15003)], host: 'gateway' })
    expect(find(false)).toEqual({ endpoints: [at('127.9.1.1', 8080)], host: 'gateway' })
  })

  it('is, if the load is the application, its outbound listener or the service called', () => {
    const find = (/** @type {boolean} */ hasSidecars) => locateEntryEndpoints(read('pair'), { places, hasSidecars })
    expect(find(true)).toEqual({ endpoints: [at('127.9.1.3', 15001)], host: 'server' })
    expect(find(false)).toEqual({ endpoints: [at('127.9.1.4', 8080)], host: 'server' })
  })

  it('is, without sidecars, every copy of the first application', () => {
    const copied = copyLastService(read('pair'), 2)
    const { endpoints } = locateEntryEndpoints(copied, {
      places: { ...places, 'server-2': createPlace('127.9.1.9') },
      hasSidecars: false,
    })
    expect(endpoints).toEqual([at('127.9.1.4', 8080), at('127.9.1.9', 8080)])
  })
})

describe('locateNextHop', () => {
  it('is the own outbound listener, or the next application without sidecars', () => {
    const [service] = read('gateway-ratings').services
    const find = (/** @type {boolean} */ hasSidecars) => locateNextHop(service, { places, hasSidecars })
    expect(find(true)).toEqual({ ...at('127.9.1.1', 15001), host: 'ratings' })
    expect(find(false)).toEqual({ ...at('127.9.1.2', 8080), host: 'ratings' })
  })
})

describe('createModel', () => {
  const topology = read('gateway-ratings')
  const [gateway, ratings] = topology.services
  /** @param {Service} service @param {Partial<Parameters<typeof createModel>[1]>} [overrides] */
  const modelOf = (service, overrides) => createModel(topology, { ...options, service, ...overrides })

  it('speaks plaintext everywhere if it is asked to', () => {
    expect(modelOf(ratings, { tls: 'plaintext' }).inbound?.mtls).toBe('disabled')
    expect(modelOf(gateway, { tls: 'plaintext' }).clusters.map(c => c.mtls)).toEqual([null, null])
  })

  it('has a route for each path of a mix, the longest first, and one for all others', () => {
    const { inbound, outbound } = modelOf(gateway, { paths: ['/items/id', '/items', '/'] })
    const routesOf = (/** @type {any} */ listener) =>
      listener.routes.map((/** @type {any} */ r) => `${r.host} ${r.pathPrefix}`)
    expect(routesOf(outbound)).toEqual(['ratings /items/id', 'ratings /items', 'ratings /'])
    expect(routesOf(inbound)).toEqual(['null /items/id', 'null /items', 'null /'])
    expect(modelOf(gateway, { paths: ['/items'], protocol: 'tcp' }).inbound?.routes).toHaveLength(1)
  })

  it('speaks HTTP/2 to other sidecars only', () => {
    const model = modelOf(gateway, { protocol: 'http/2' })
    expect(model.clusters.map(c => [c.name, c.protocol])).toEqual([
      ['application', 'http/1.1'],
      ['ratings', 'http/2'],
    ])
  })

  it('carries gRPC from its listener to the application as HTTP/2', () => {
    const model = modelOf(gateway, { protocol: 'grpc' })
    expect(model).toMatchObject({ carriesGrpc: true, inbound: { protocol: 'http/2' } })
    expect(model.clusters.map(c => c.protocol)).toEqual(['http/2', 'http/2'])
  })

  it('gives every sidecar routes to configured services, at addresses where nothing listens', () => {
    const { outbound, clusters } = modelOf(ratings, { configuredServices: 300 })
    expect(outbound?.routes.map(r => r.host)).toHaveLength(300)
    expect(clusters.at(-1)).toMatchObject({ name: 'configured-300', endpoints: [{ address: '198.18.1.43' }] })
    expect(new Set(clusters.flatMap(c => c.endpoints.map(e => e.address))).size).toBe(301)
  })

  it('lists, if peers are authorised, the callers of routes behind the entry', () => {
    const overrides = /** @type {const} */ ({ trafficPolicy: 'open', features: 'authorization' })
    const allowed = (/** @type {Service} */ service) =>
      modelOf(service, overrides).inbound?.routes.map(route => route.allowedIdentities)
    expect(allowed(gateway)).toEqual([undefined])
    expect(allowed(ratings)).toEqual([['spiffe://sidecar-bench/ns/bench/sa/gateway']])
    const lean = modelOf(ratings, { trafficPolicy: 'open', features: 'lean' })
    expect([lean.inbound?.routes[0].allowedIdentities, lean.features]).toEqual([undefined, {}])
  })

  it('lets a load in that speaks mTLS itself, at the entry only', () => {
    const accepted = (/** @type {Service} */ service) =>
      modelOf(service, { client: 'load-generator' }).inbound?.acceptedIdentities
    expect(accepted(gateway)).toEqual(['spiffe://sidecar-bench/ns/bench/sa/load-generator'])
    expect(accepted(ratings)).toEqual(['spiffe://sidecar-bench/ns/bench/sa/gateway'])
  })

  it('is permissive if the load enters and strict behind', () => {
    expect([gateway, ratings].map(service => modelOf(service).inbound?.mtls)).toEqual(['permissive', 'strict'])
  })

  it('accepts, under the policy listed, those who call and no other', () => {
    expect(modelOf(ratings).inbound?.acceptedIdentities).toEqual(['spiffe://sidecar-bench/ns/bench/sa/gateway'])
    expect(modelOf(gateway).clusters.find(c => c.name === 'ratings')?.mtls).toEqual({
      serverName: 'ratings',
      acceptedIdentities: ['spiffe://sidecar-bench/ns/bench/sa/ratings'],
    })
  })

  it('accepts, under the policy open, any identity of the authority', () => {
    expect(modelOf(ratings, { trafficPolicy: 'open' }).inbound?.acceptedIdentities).toBeNull()
  })

  it('has an outbound listener only where something is called', () => {
    expect(modelOf(ratings).outbound).toBeNull()
    expect(modelOf(gateway).outbound?.routes).toEqual([
      { host: 'ratings', pathPrefix: '/', headers: {}, split: [{ cluster: 'ratings', weight: 1 }] },
    ])
  })

  it('has no inbound listener if the load is the application', () => {
    const pair = read('pair')
    expect(createModel(pair, { ...options, service: pair.services[0] }).inbound).toBeNull()
  })
})

describe('parseTopology', () => {
  const text = readFileSync('bench/topologies/gateway-ratings.yaml', 'utf8')

  it('names the nearest service for one that is unknown', () => {
    expect(() => parseTopology(text.replace('calls: [ratings]', 'calls: [rating]'), 't.yaml')).toThrow(
      't.yaml: unknown service "rating"; did you mean "ratings"?',
    )
  })

  it('asks one service to call of a forward application', () => {
    expect(() => parseTopology(text.replace('calls: [ratings]', 'calls: []'), 't.yaml')).toThrow(
      'calls exactly one service',
    )
  })
})

describe('copyLastService', () => {
  it('spreads callers over copies of the last service, which share its identity and its certificate', () => {
    const copied = copyLastService(read('pair'), 3)
    expect(copied.services.map(s => s.name)).toEqual(['client', 'server', 'server-2', 'server-3'])
    const places = Object.fromEntries(copied.services.map((s, i) => [s.name, createPlace(`127.9.2.${i + 1}`)]))
    const modelOf = (/** @type {number} */ i) =>
      createModel(copied, { ...options, places, service: copied.services[i] })
    expect(modelOf(0).clusters.find(c => c.name === 'server')?.endpoints).toEqual(
      ['127.9.2.2', '127.9.2.3', '127.9.2.4'].map(address => ({ address, port: 15003 })),
    )
    expect(modelOf(0).outbound?.routes).toHaveLength(1)
    const [server, copy] = [modelOf(1), modelOf(3)]
    expect(copy.inbound?.acceptedIdentities).toEqual(server.inbound?.acceptedIdentities)
    expect([copy.identity, copy.trust]).toEqual([server.identity, server.trust])
    expect(copy.inbound?.address).toBe('127.9.2.4')
    expect(copyLastService(read('pair'), 1)).toEqual(read('pair'))
  })
})

describe('copyLink', () => {
  it('makes pairs that know each other alone, each with an identity and a certificate of its own', () => {
    const copied = copyLink(read('pair'), 3)
    expect(copied.services.map(s => s.name)).toEqual([
      ...['client', 'server', 'client-of-2', 'server-of-2', 'client-of-3', 'server-of-3'],
    ])
    const places = Object.fromEntries(copied.services.map((s, i) => [s.name, createPlace(`127.9.2.${i + 1}`)]))
    const [first, , client, server] = copied.services.map(service =>
      createModel(copied, { ...options, places, service }),
    )
    expect(first.clusters.map(c => c.endpoints.map(e => e.address))).toEqual([['127.9.2.2']])
    expect(client.clusters.map(c => c.endpoints.map(e => e.address))).toEqual([['127.9.2.4']])
    expect(server.inbound?.acceptedIdentities).toEqual([client.identity])
    expect(new Set([first, client].map(({ trust }) => trust.certificatePath)).size).toBe(2)
    expect(copyLink(read('pair'), 1)).toEqual(read('pair'))
  })
})

describe('createModel in pods', () => {
  it('listens for others everywhere, and for its own application on loopback', () => {
    const pods = Object.fromEntries(
      ['gateway', 'ratings'].map((name, i) => [name, { reach: `10.0.0.${i}`, listen: '0.0.0.0', inside: '127.0.0.1' }]),
    )
    const topology = read('gateway-ratings')
    const [gateway, ratings] = topology.services.map(service =>
      createModel(topology, { ...options, places: pods, service }),
    )
    expect(gateway).toMatchObject({
      inbound: { address: '0.0.0.0' },
      outbound: { address: '127.0.0.1' },
      admin: { address: '127.0.0.1' },
    })
    expect(gateway.clusters.map(c => c.endpoints[0])).toEqual([at('127.0.0.1', 8080), at('10.0.0.1', 15003)])
    expect(ratings.outbound).toBeNull()
    const pair = read('pair')
    const places = { client: pods.gateway, server: pods.ratings }
    // The load is the client's application, and elsewhere.
    expect(createModel(pair, { ...options, places, service: pair.services[0] }).outbound?.address).toBe('0.0.0.0')
  })
})

describe('redirected connections', () => {
  const isRedirected = true
  const [gateway, ratings] = read('gateway-ratings').services
  const model = (/** @type {typeof gateway} */ service, link = 'gateway-ratings') =>
    createModel(read(link), { ...options, service, trafficPolicy: 'open', isRedirected })

  it('lead to applications, from any client', () => {
    const deployment = { places, hasSidecars: true, isRedirected }
    expect(locateEntryEndpoints(read('gateway-ratings'), deployment).endpoints).toEqual([at('127.9.1.1', 8080)])
    expect(locateNextHop(gateway, deployment)).toMatchObject(at('127.9.1.2', 8080))
    const ofRatings = model(gateway).clusters.find(({ name }) => name === 'ratings')
    expect(ofRatings?.endpoints).toEqual([at('127.9.1.2', 8080)])
  })

  it('come to the listeners, to that of the own application at the address of the rule', () => {
    const { inbound, outbound } = model(gateway)
    expect(inbound).toMatchObject({ address: '127.9.1.1', port: 15003, redirectedPorts: [8080] })
    expect(outbound).toMatchObject({ address: '127.0.0.1', port: 15001, redirectedPorts: [8080] })
    expect(model(ratings).outbound).toBeNull()
  })

  it('do not come to a listener that the load calls itself', () => {
    const [client] = read('pair').services
    const { outbound } = model(client, 'pair')
    expect(outbound).toMatchObject({ address: '127.9.1.3', port: 15001 })
    expect(outbound).not.toHaveProperty('redirectedPorts')
  })

  it('are no part of a model otherwise', () => {
    const { inbound } = createModel(read('gateway-ratings'), { ...options, service: gateway, trafficPolicy: 'open' })
    expect(inbound).not.toHaveProperty('redirectedPorts')
  })
})

describe('a sidecar that carries bytes', () => {
  it('has a port for each service that it calls, also where it may call others', () => {
    const [first, ...others] = read('gateway-ratings').services
    const topology = {
      ...read('gateway-ratings'),
      services: [{ ...first, calls: ['ratings', 'details'] }, ...others, { ...others[0], name: 'details' }],
    }
    const model = createModel(topology, {
      ...options,
      places: { ...places, details: places.ratings },
      service: topology.services[0],
      trafficPolicy: 'open',
      protocol: 'tcp',
    })
    expect(model).toMatchObject({ carriesBytes: true, inbound: { protocol: 'tcp', port: 15003 } })
    expect(model.outbound?.routes.map(({ host, port, split: [{ cluster }] }) => [host, port, cluster])).toEqual([
      [null, 15001, 'ratings'],
      [null, 15101, 'details'],
    ])
    expect(model.clusters.every(({ protocol }) => protocol === 'tcp')).toBe(true)
  })
})
