import { z } from 'zod'
import { UsageError } from './lib/errors.js'
import { suggest } from './lib/nearest.js'
import { parseYaml } from './validate.js'

/**
 * @import { Cluster, Endpoint, Route, Service, SidecarModel, Topology, TrafficPolicy } from './types.ts'
 */

/** The ports of every service, as in a pod; each service has an address of its own. */
export const PORTS = { application: 8080, admin: 15000, outbound: 15001, inbound: 15003 }

export const TLS = { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' }
const TIMEOUTS = { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 }

const schema = z.strictObject({
  name: z.string(),
  services: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'a service is named in lower case, with digits and hyphens'),
        application: z.enum(['echo', 'forward']).nullable().default(null),
        calls: z.array(z.string()).default([]),
      }),
    )
    .min(1),
  entry: z.strictObject({ service: z.string(), listener: z.enum(['inbound', 'outbound']) }),
})

/**
 * @param {string} text YAML
 * @param {string} file its name, for errors
 * @returns {Topology}
 * @throws {UsageError}
 */
export function parseTopology(text, file) {
  const topology = parseYaml({ text, file, schema })
  const names = topology.services.map(service => service.name)
  const called = [topology.entry.service, ...topology.services.flatMap(service => service.calls)]
  for (const name of called) {
    if (!names.includes(name)) throw new UsageError(`${file}: unknown service "${name}"${suggest(name, names)}`)
  }
  for (const { name, application, calls } of topology.services) {
    if (application === 'forward' && calls.length !== 1) {
      throw new UsageError(`${file}: ${name}: a forward application calls exactly one service`)
    }
  }
  return topology
}

/**
 * The SPIFFE identity of a service.
 * @param {string} service
 */
export function identityOf(service) {
  return `spiffe://sidecar-bench/ns/bench/sa/${service}`
}

/**
 * Where the load goes: the entry sidecar's listener, or without sidecars the first application on the way.
 * @param {Topology} topology
 * @param {{ addresses: Record<string, string>, hasSidecars: boolean }} options
 * @returns {Endpoint & { host: string }}
 */
export function findEntry({ services, entry }, { addresses, hasSidecars }) {
  if (hasSidecars) {
    const host = entry.listener === 'inbound' ? entry.service : services.find(s => s.name === entry.service)?.calls[0]
    return { address: addresses[entry.service], port: PORTS[entry.listener], host: host ?? entry.service }
  }
  const first = services.find(s => s.name === entry.service)
  const name = first?.application ? first.name : (first?.calls[0] ?? entry.service)
  return { address: addresses[name], port: PORTS.application, host: name }
}

/**
 * Where a forward application calls: its own sidecar's outbound listener, or without sidecars the next application.
 * @param {Service} service
 * @param {{ addresses: Record<string, string>, hasSidecars: boolean }} options
 * @returns {Endpoint & { host: string }}
 */
export function findNextHop({ name, calls }, { addresses, hasSidecars }) {
  return hasSidecars
    ? { address: addresses[name], port: PORTS.outbound, host: calls[0] }
    : { address: addresses[calls[0]], port: PORTS.application, host: calls[0] }
}

/**
 * The sidecar model of one service.
 * @param {Topology} topology
 * @param {{ service: Service, addresses: Record<string, string>, trafficPolicy: TrafficPolicy, workers: number,
 *   certificates: string }} options certificates: the folder of `ca.pem`, `<service>.pem`, `<service>-key.pem`
 * @returns {SidecarModel}
 */
export function createModel({ services, entry }, { service, addresses, trafficPolicy, workers, certificates }) {
  const isOpen = trafficPolicy === 'open'
  const callers = services.filter(s => s.calls.includes(service.name)).map(s => identityOf(s.name))
  const reachable = isOpen
    ? services.filter(s => s.application !== null && s !== service)
    : services.filter(s => service.calls.includes(s.name))
  const hasOutbound = service.calls.length > 0
  const isEntry = entry.service === service.name && entry.listener === 'inbound'
  /** @type {Cluster[]} */
  const clusters = []
  if (service.application) {
    clusters.push({
      name: 'application',
      endpoints: [{ address: addresses[service.name], port: PORTS.application }],
      balancing: 'round-robin',
      mtls: null,
    })
  }
  for (const { name } of hasOutbound ? reachable : []) {
    clusters.push({
      name,
      endpoints: [{ address: addresses[name], port: PORTS.inbound }],
      balancing: 'round-robin',
      mtls: { serverName: name, acceptedIdentities: isOpen ? null : [identityOf(name)] },
    })
  }
  return {
    service: service.name,
    identity: identityOf(service.name),
    workers,
    admin: { address: addresses[service.name], port: PORTS.admin },
    retries: 1,
    timeouts: TIMEOUTS,
    tls: TLS,
    trust: {
      caPath: `${certificates}/ca.pem`,
      certificatePath: `${certificates}/${service.name}.pem`,
      keyPath: `${certificates}/${service.name}-key.pem`,
    },
    inbound: service.application
      ? {
          address: addresses[service.name],
          port: PORTS.inbound,
          mtls: isEntry ? 'permissive' : 'strict',
          acceptedIdentities: isOpen ? null : callers,
          routes: [createRoute(null, 'application')],
        }
      : null,
    outbound: hasOutbound
      ? {
          address: addresses[service.name],
          port: PORTS.outbound,
          routes: reachable.map(({ name }) => createRoute(name, name)),
        }
      : null,
    clusters,
  }
}

/**
 * @param {string | null} host
 * @param {string} cluster
 * @returns {Route}
 */
function createRoute(host, cluster) {
  return { host, pathPrefix: '/', headers: {}, split: [{ cluster, weight: 1 }] }
}
