/** @import { Cluster, Route, SidecarModel } from '../../src/model/types.ts' */

/** A sidecar that nobody calls, and that calls nobody. @param {Partial<SidecarModel>} [fields] @returns {SidecarModel} */
export function createModel(fields) {
  return {
    ...{ service: 'server', identity: 'spiffe://sidecar-bench/ns/bench/sa/server', workers: 2 },
    ...{ admin: { address: '127.1.1.1', port: 15000 }, retries: 1 },
    timeouts: { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 },
    tls: { suite: 'TLS_AES_128_GCM_SHA256', groups: ['X25519'] },
    trust: {
      ...{ caPath: '/c/ca.pem', certificatePath: '/c/gateway.pem', keyPath: '/c/gateway-key.pem' },
      combinedPath: '/c/gateway-combined.pem',
    },
    ...{ inbound: null, outbound: null, clusters: [], features: {}, ...fields },
  }
}

/** A strict listener. @param {Partial<SidecarModel['inbound']>} [fields] @returns {NonNullable<SidecarModel['inbound']>} */
export function createInbound(fields) {
  return {
    ...{ address: '127.1.1.1', port: 15003, mtls: 'strict', protocol: 'http/1.1', acceptedIdentities: [] },
    ...{ routes: [createRoute({})], ...fields },
  }
}

/** A route of every request to the cluster `a`. @param {Partial<Route>} fields @returns {Route} */
export function createRoute(fields) {
  return { host: null, pathPrefix: '/', headers: {}, split: [{ cluster: 'a', weight: 1 }], ...fields }
}

/** @param {Partial<Cluster>} [fields] @returns {Cluster} */
export function createCluster(fields) {
  return {
    ...{ name: 'a', endpoints: [{ address: '127.1.1.2', port: 15003 }], balancing: 'round-robin', mtls: null },
    ...{ protocol: 'http/1.1', ...fields },
  }
}
