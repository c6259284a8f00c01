import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { placeAt } from '../src/sidecar-contract.js'
import { createModel, findEntry, findNextHop, parseTopology } from '../src/topology.js'

const read = (/** @type {string} */ name) => parseTopology(readFileSync(`bench/topologies/${name}.yaml`, 'utf8'), name)
const places = Object.fromEntries(
  ['gateway', 'ratings', 'client', 'server'].map((name, i) => [name, placeAt(`127.9.1.${i + 1}`)]),
)
const options = { places, workers: 1, certificates: '/c' }

describe('findEntry', () => {
  it('is the entry sidecar, or its application without sidecars', () => {
    const topology = read('gateway-ratings')
    expect(findEntry(topology, { places, hasSidecars: true })).toEqual({
      address: '127.9.1.1',
      port: 15003,
      host: 'gateway',
    })
    expect(findEntry(topology, { places, hasSidecars: false })).toEqual({
      address: '127.9.1.1',
      port: 8080,
      host: 'gateway',
    })
  })

  it('is, where the load is the application, its outbound listener or the service called', () => {
    expect(findEntry(read('pair'), { places, hasSidecars: true })).toEqual({
      address: '127.9.1.3',
      port: 15001,
      host: 'server',
    })
    expect(findEntry(read('pair'), { places, hasSidecars: false })).toEqual({
      address: '127.9.1.4',
      port: 8080,
      host: 'server',
    })
  })
})

describe('findNextHop', () => {
  it('is the own outbound listener, or the next application without sidecars', () => {
    const [service] = read('gateway-ratings').services
    expect(findNextHop(service, { places, hasSidecars: true })).toEqual({
      address: '127.9.1.1',
      port: 15001,
      host: 'ratings',
    })
    expect(findNextHop(service, { places, hasSidecars: false })).toEqual({
      address: '127.9.1.2',
      port: 8080,
      host: 'ratings',
    })
  })
})

describe('createModel', () => {
  const topology = read('gateway-ratings')
  const [gateway, ratings] = topology.services

  it('is permissive where the load enters and strict behind', () => {
    expect(createModel(topology, { ...options, service: gateway, trafficPolicy: 'listed' }).inbound?.mtls).toBe(
      'permissive',
    )
    expect(createModel(topology, { ...options, service: ratings, trafficPolicy: 'listed' }).inbound?.mtls).toBe(
      'strict',
    )
  })

  it('accepts, under the policy listed, those who call and no other', () => {
    const { inbound } = createModel(topology, { ...options, service: ratings, trafficPolicy: 'listed' })
    expect(inbound?.acceptedIdentities).toEqual(['spiffe://sidecar-bench/ns/bench/sa/gateway'])
    const { clusters } = createModel(topology, { ...options, service: gateway, trafficPolicy: 'listed' })
    expect(clusters.find(c => c.name === 'ratings')?.mtls).toEqual({
      serverName: 'ratings',
      acceptedIdentities: ['spiffe://sidecar-bench/ns/bench/sa/ratings'],
    })
  })

  it('accepts, under the policy open, any identity of the authority', () => {
    expect(
      createModel(topology, { ...options, service: ratings, trafficPolicy: 'open' }).inbound?.acceptedIdentities,
    ).toBeNull()
  })

  it('has an outbound listener only where something is called', () => {
    expect(createModel(topology, { ...options, service: ratings, trafficPolicy: 'listed' }).outbound).toBeNull()
    expect(createModel(topology, { ...options, service: gateway, trafficPolicy: 'listed' }).outbound?.routes).toEqual([
      { host: 'ratings', pathPrefix: '/', headers: {}, split: [{ cluster: 'ratings', weight: 1 }] },
    ])
  })

  it('has no inbound listener where the load is the application', () => {
    const pair = read('pair')
    expect(createModel(pair, { ...options, service: pair.services[0], trafficPolicy: 'listed' }).inbound).toBeNull()
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
