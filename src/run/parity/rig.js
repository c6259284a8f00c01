import path from 'node:path'
import { certificatesFolder } from '../../lib/certificate-files.js'
import { identityOf, PORTS, PROBER, TLS } from '../../model/sidecar-contract.js'
import { ROUTES } from '../../node/parity/corpus.js'
import { SERVERS } from '../../node/parity/peers.js'
import { UPSTREAMS } from '../../node/parity/upstreams.js'
import { createModel } from '../../services/topology.js'
import { readCredentials } from './credentials.js'

/**
 * @import { Cluster, DataPlane, Deployment, Endpoint, Place, ProcessSpec, Protocol, Route, SidecarModel, Target, Tls, Tool, Topology, TrafficPolicy } from '../../model/types.ts'
 */

// The permissive one is another server: it has the server's certificate, and accepts the same identities.
/** @type {Topology} */
const TOPOLOGY = {
  name: 'parity',
  services: [
    { name: 'client', application: null, calls: ['server'] },
    { name: 'server', application: 'echo', calls: [] },
    { name: 'permissive', application: 'echo', calls: [], copyOf: 'server' },
  ],
  entry: { service: 'permissive', listener: 'inbound' },
}
// A busy machine takes more than a second for a body of 10 MiB.
const TIMEOUTS = { connectSeconds: 1, requestSeconds: 2, idleSeconds: 60 }

/** Requests at a time to the cluster of that name, where circuits are broken. */
export const NARROW = 2

/** Routes that list who may call them: the client, and another, to a cluster of two endpoints. @type {Route[]} */
const AUTHORISED = Object.entries({ allowed: 'client', denied: 'stranger' }).map(([host, name]) => ({
  ...{ host, pathPrefix: '/', headers: {}, split: [{ cluster: host === 'denied' ? 'half' : 'a', weight: 1 }] },
  allowedIdentities: [identityOf(name)],
}))

/**
 * What is measured, as far as it changes what sidecars do for a request.
 * @typedef {{ tls: Tls, protocol: Protocol, trafficPolicy: TrafficPolicy, features?: string }} Measured
 */

/**
 * @typedef {object} Rig
 * @property {Deployment} sidecars of client, server and permissive
 * @property {Target['call']} call
 * @property {Endpoint} entry of client's
 * @property {Measured} measured
 * @property {DataPlane} plane
 * @property {AbortSignal} signal ends the waits of its checks
 * @property {() => Promise<void>} close
 */

/**
 * Three sidecars of a plane and the upstreams they are tried with: client's (plaintext outbound) calls server's
 * (strict) as it is measured, which calls upstreams that answer, refuse, reset, hang; and one in permissive mode.
 * @param {{ target: Target, index: number, plane: DataPlane, tool: Tool, scripts: string, certificates: string, folder: string,
 *   measured: Measured, profile: string | null, signal: AbortSignal }} options
 *   index: of a start that no other has; certificates: of all key types, as in certificate-files.js
 * @returns {Promise<Rig>}
 */
export async function createRig({
  target,
  index,
  plane,
  tool,
  scripts,
  folder,
  measured,
  profile,
  signal,
  ...options
}) {
  const certificates = certificatesFolder(options.certificates, measured.tls)
  const places = await target.placesFor(
    index,
    TOPOLOGY.services.map(s => s.name),
  )
  const sidecarsAt = {
    client: { address: places.client.reach, port: PORTS.outbound },
    server: { address: places.server.reach, port: PORTS.inbound },
    permissive: { address: places.permissive.reach, port: PORTS.inbound },
  }
  await target.call('open', {
    address: places[PROBER].listen,
    ...readCredentials(certificates),
    sidecars: sidecarsAt,
    configuration: { ...measured, ...TLS },
  })
  /** @type {Deployment | null} */
  let sidecars = null
  const close = async () => {
    await sidecars?.remove()
    await target.call('close', undefined)
  }
  try {
    const models = createModels({ places, certificates: target.locate(certificates), measured })
    const specs = models.map(model => {
      const sidecarFolder = target.locate(path.join(folder, model.service))
      const where = { scripts: target.locate(scripts), folder: sidecarFolder }
      return plane.createSidecar?.({ ...where, model, tool, profile, cpuCores: null })
    })
    sidecars = await target.deploy(/** @type {ProcessSpec[]} */ (specs), { start: index, folder })
    await Promise.all(sidecars.processes.map(p => p.waitUntilReady(signal)))
    await target.call('reach', { endpoints: Object.values(sidecarsAt) })
    return { sidecars, call: target.call, entry: sidecarsAt.client, measured, plane, signal, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The models of the measured configuration, with the corpus's routes and upstreams in place of applications.
 * @param {{ places: Record<string, Place>, certificates: string, measured: Measured }} options
 * @returns {SidecarModel[]}
 */
function createModels({ places, certificates, measured }) {
  const [client, ...servers] = TOPOLOGY.services.map(service => ({
    ...createModel(TOPOLOGY, { service, places, workers: 1, certificates, ...measured }),
    timeouts: TIMEOUTS,
  }))
  const upstream = (/** @type {string} */ name) => ({ address: places[PROBER].reach, port: UPSTREAMS[name] })
  const server = { ...client.clusters[0], endpoints: [{ address: places.server.reach, port: PORTS.inbound }] }
  const observers = ['observed', 'p256'].map(name => ({ ...server, name, endpoints: [upstream(name)] }))
  const { mtls } = server
  const acceptedIdentities = measured.trafficPolicy === 'open' ? null : [identityOf('client')]
  const peers =
    mtls === null
      ? []
      : SERVERS.map(([name]) => ({
          ...server,
          name,
          endpoints: [upstream(name)],
          // The DNS name of their certificates, which a plane may compare with that of the cluster.
          mtls: { serverName: 'client', acceptedIdentities },
        }))
  const to = (/** @type {string | null} */ host, /** @type {string} */ cluster) => ({
    host,
    pathPrefix: '/',
    headers: {},
    split: [{ cluster, weight: 1 }],
  })
  const outbound = {
    address: places.client.listen,
    port: PORTS.outbound,
    routes: [...[...observers, ...peers].map(({ name }) => to(name, name)), to(null, 'server')],
  }
  const clusters = [server, ...observers, ...peers]
  return [{ ...client, outbound, clusters }, ...servers.map(model => serveCorpus(model, upstream))]
}

/**
 * @param {SidecarModel} model
 * @param {(name: string) => Cluster['endpoints'][number]} upstream
 * @returns {SidecarModel}
 */
function serveCorpus({ inbound, clusters: [application], ...model }, upstream) {
  const plain = (/** @type {string} */ name, hosts = [name]) => ({
    ...application,
    name,
    endpoints: hosts.map(upstream),
  })
  return {
    ...model,
    inbound: inbound && { ...inbound, routes: [...AUTHORISED, ...ROUTES] },
    clusters: [
      ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => plain(name)),
      plain('half', ['gone', 'a']),
      { ...plain('narrow', ['slow']), maxRequests: NARROW },
    ],
  }
}
