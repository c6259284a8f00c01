import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createAuthority, issueCertificate } from '../../lib/certificates.js'
import { identityOf, PORTS, PROBER, TLS } from '../../model/sidecar-contract.js'
import { ROUTES } from '../../node/parity/corpus.js'
import { UPSTREAMS } from '../../node/parity/upstreams.js'

/**
 * @import { Cluster, DataPlane, Deployment, Endpoint, Place, ProcessSpec, SidecarModel, Target, Tool } from '../../model/types.ts'
 */

/** Who has a certificate in the rig. */
export const SERVICES = ['client', 'server', 'stranger']

/**
 * @typedef {object} Rig
 * @property {Record<string, Place>} places of client, server and permissive
 * @property {Deployment} sidecars of these
 * @property {Target['call']} call
 * @property {() => Promise<void>} close
 */

/**
 * Three sidecars of a plane and the upstreams they are tried with: client's (plaintext outbound) calls server's
 * (strict) by mTLS, which calls upstreams that answer, refuse, reset, hang; and one in permissive mode.
 * @param {{ target: Target, index: number, plane: DataPlane, tool: Tool, scripts: string, certificates: string, folder: string,
 *   profile: string | null, signal: AbortSignal }} options
 *   index: of a start that no other has; certificates: a folder with those of SERVICES
 * @returns {Promise<Rig>}
 */
export async function createRig({ target, index, plane, tool, scripts, certificates, folder, signal, ...options }) {
  const places = await target.placesFor(index, ['client', 'server', 'permissive'])
  const read = (/** @type {string} */ name) => readFileSync(`${certificates}/${name}.pem`, 'utf8')
  const credentialsOf = (/** @type {string} */ name) => ({ cert: read(name), key: read(`${name}-key`) })
  const authority = await createAuthority('foreign')
  const foreign = await issueCertificate({ authority, identity: identityOf('client'), dnsName: 'client' })
  await target.call('open', {
    address: places[PROBER].listen,
    ca: read('ca'),
    credentials: {
      ...Object.fromEntries(SERVICES.map(name => [name, credentialsOf(name)])),
      foreign: { cert: foreign.certificatePem, key: foreign.keyPem },
    },
    sidecars: Object.fromEntries(['client', 'server', 'permissive'].map(name => [name, places[name].reach])),
  })
  /** @type {Deployment | null} */
  let sidecars = null
  const close = async () => {
    await sidecars?.remove()
    await target.call('close', undefined)
  }
  try {
    const specs = createModels(places, target.locate(certificates)).map(model => {
      const sidecarFolder = target.locate(path.join(folder, model.service))
      const where = { scripts: target.locate(scripts), folder: sidecarFolder }
      return plane.createSidecar?.({ ...options, ...where, model, tool, cpuCores: null })
    })
    sidecars = await target.deploy(/** @type {ProcessSpec[]} */ (specs), { start: index, folder })
    await Promise.all(sidecars.processes.map(p => p.waitUntilReady(signal)))
    const [client, server, permissive] = ['client', 'server', 'permissive'].map(name => places[name].reach)
    await target.call('reach', {
      endpoints: [
        { address: client, port: PORTS.outbound },
        { address: server, port: PORTS.inbound },
        { address: permissive, port: PORTS.inbound },
      ],
    })
    return { places, sidecars, call: target.call, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * @param {Record<string, Place>} at
 * @param {string} certificates
 * @returns {SidecarModel[]}
 */
function createModels(at, certificates) {
  const common = (/** @type {string} */ service, /** @type {string} */ name = service) => ({
    service,
    identity: identityOf(name),
    workers: 1,
    admin: { address: at[service].inside, port: PORTS.admin },
    retries: /** @type {const} */ (1),
    timeouts: { connectSeconds: 1, requestSeconds: 1, idleSeconds: 60 },
    tls: TLS,
    trust: {
      caPath: `${certificates}/ca.pem`,
      certificatePath: `${certificates}/${name}.pem`,
      keyPath: `${certificates}/${name}-key.pem`,
    },
  })
  const plain = (/** @type {string} */ name, /** @type {string[]} */ ...hosts) =>
    /** @type {Cluster} */ ({
      name,
      endpoints: hosts.map(host => ({ address: at[PROBER].reach, port: UPSTREAMS[host] })),
      balancing: 'round-robin',
      mtls: null,
      protocol: 'http/1.1',
    })
  const secure = (/** @type {string} */ name, /** @type {Endpoint} */ endpoint, accepted = 'server') =>
    /** @type {Cluster} */ ({
      name,
      endpoints: [endpoint],
      balancing: 'round-robin',
      mtls: { serverName: 'server', acceptedIdentities: [identityOf(accepted)] },
      protocol: 'http/1.1',
    })
  const to = (/** @type {string | null} */ host, /** @type {string} */ cluster) => ({
    host,
    pathPrefix: '/',
    headers: {},
    split: [{ cluster, weight: 1 }],
  })
  const serving = (/** @type {string} */ service, /** @type {'strict' | 'permissive'} */ mtls) => ({
    ...common(service, 'server'),
    inbound: {
      ...{
        address: at[service].listen,
        port: PORTS.inbound,
        mtls,
        routes: ROUTES,
        protocol: /** @type {const} */ ('http/1.1'),
      },
      acceptedIdentities: [identityOf('client')],
    },
    outbound: null,
    clusters: [
      ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => plain(name, name)),
      plain('half', 'gone', 'a'),
    ],
  })
  const server = { address: at.server.reach, port: PORTS.inbound }
  return [
    {
      ...common('client'),
      inbound: null,
      outbound: {
        address: at.client.listen,
        port: PORTS.outbound,
        routes: [to('stranger-only', 'wrong'), to('observed', 'observed'), to('p256', 'p256'), to(null, 'server')],
      },
      clusters: [
        secure('server', server),
        secure('wrong', server, 'stranger'),
        secure('observed', { address: at[PROBER].reach, port: UPSTREAMS.observer }),
        secure('p256', { address: at[PROBER].reach, port: UPSTREAMS.p256 }),
      ],
    },
    serving('server', 'strict'),
    serving('permissive', 'permissive'),
  ]
}
