import { describe, expect, it } from 'vitest'
import { tunnelBytes } from '../../src/parity/tunnels.js'
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
