import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import tls from 'node:tls'
import { waitFor } from '../lib/wait.js'
import { identityOf, PORTS, TLS } from '../topology.js'
import { ROUTES } from './corpus.js'

/**
 * @import { Cluster, DataPlane, Deployment, EnvoyProfile, ProcessSpec, SidecarModel, Target, Tool } from '../types.ts'
 */

/** Who has a certificate in the rig. */
export const SERVICES = ['client', 'server', 'stranger']

const NAMES = ['client', 'server', 'permissive', 'a', 'b', 'slow', 'rude', 'quiet', 'full', 'gone', 'observer', 'p256']
const FULL_SECONDS = 10

// Takes no connection: its backlog is filled, and it is stopped before it could accept.
const STOPPED_LISTENER = `require('net').createServer().listen({ host: process.argv[1], port: +process.argv[2], backlog: 1 },
  () => process.kill(process.pid, 'SIGSTOP'))`

/**
 * @typedef {object} Rig
 * @property {Record<string, string>} addresses
 * @property {() => number} countConnections to upstream a, so far
 * @property {Record<string, unknown>[]} negotiated what the client's sidecar negotiated with the observer
 * @property {(name: string) => { cert: Buffer, key: Buffer }} certificateOf
 * @property {Deployment} sidecars of client, server and permissive
 * @property {() => Promise<void>} close
 */

/**
 * Three sidecars of a plane and the upstreams they are tried with: client's (plaintext outbound) calls server's
 * (strict) by mTLS, which calls upstreams that answer, refuse, reset, hang; and one in permissive mode.
 * @param {{ target: Target, index: number, plane: DataPlane, tool: Tool, scripts: string, certificates: string, folder: string,
 *   envoyProfile: EnvoyProfile, nodeCpus: number, signal: AbortSignal }} options
 *   index: of a start that no other has; certificates: a folder with those of SERVICES
 * @returns {Promise<Rig>}
 */
export async function createRig({ target, index, plane, tool, scripts, certificates, folder, signal, ...options }) {
  const at = target.addressesFor(index, NAMES)
  const certificateOf = (/** @type {string} */ name) => ({
    cert: readFileSync(`${certificates}/${name}.pem`),
    key: readFileSync(`${certificates}/${name}-key.pem`),
  })
  /** @type {(() => unknown)[]} */
  const closers = []
  const close = async () => {
    for (const closer of closers.toReversed()) await closer()
  }
  const serve = async (/** @type {net.Server} */ server, /** @type {string} */ address, port = PORTS.application) => {
    /** @type {Set<net.Socket>} */
    const sockets = new Set()
    server.on('connection', socket => sockets.add(socket.on('close', () => sockets.delete(socket))))
    await new Promise((resolve, reject) => server.once('error', reject).listen(port, address, () => resolve(null)))
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  }
  try {
    let connections = 0
    await serve(
      http.createServer(echoAs('a')).on('connection', () => connections++),
      at.a,
    )
    await serve(http.createServer(echoAs('b')), at.b)
    await serve(
      http.createServer(() => {}),
      at.slow,
    )
    await serve(
      net.createServer(socket => void socket.once('data', () => socket.resetAndDestroy())),
      at.rude,
    )
    await serve(
      net.createServer(socket => void socket.once('data', () => socket.end())),
      at.quiet,
    )
    /** @type {Record<string, unknown>[]} */
    const negotiated = []
    const observe = (/** @type {string} */ group) =>
      createObserver({ ...certificateOf('server'), ca: readFileSync(`${certificates}/ca.pem`) }, group, negotiated)
    await serve(observe(TLS.group), at.observer, PORTS.inbound)
    await serve(observe('P-256'), at.p256, PORTS.inbound)

    const full = await target.deploy([createFull(at.full, folder)], folder)
    closers.push(() => full.remove())
    await full.processes[0].waitUntilReady(signal)
    closers.push(await fillBacklog(at.full, signal))

    const specs = createModels(at, certificates).map(model => {
      const sidecarFolder = path.join(folder, model.service)
      return plane.createSidecar?.({ ...options, model, tool, scripts, folder: sidecarFolder, cpuCores: null })
    })
    const sidecars = await target.deploy(/** @type {ProcessSpec[]} */ (specs), folder)
    closers.push(() => sidecars.remove())
    await Promise.all(sidecars.processes.map(p => p.waitUntilReady(signal)))
    return { addresses: at, countConnections: () => connections, negotiated, certificateOf, sidecars, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Answers what it got, and who it is. `/status/N` answers with that status.
 * @param {string} name
 * @returns {http.RequestListener}
 */
function echoAs(name) {
  return (request, response) => {
    const status = Number(/^\/status\/(\d+)/.exec(request.url ?? '')?.[1] ?? 200)
    const { 'x-nonce': nonce, 'x-long': long } = request.headers
    response.writeHead(status, {
      'x-upstream': name,
      'x-path': request.url,
      'x-method': request.method,
      ...(nonce ? { 'x-nonce': nonce } : {}),
      ...(long ? { 'x-long': long } : {}),
    })
    request.pipe(response)
  }
}

/**
 * A TLS server that takes one group only, notes what each connection negotiated by the client's preferences,
 * and ends it after the answer.
 * @param {{ cert: Buffer, key: Buffer, ca: Buffer }} credentials
 * @param {string} ecdhCurve
 * @param {Record<string, unknown>[]} negotiated
 */
function createObserver(credentials, ecdhCurve, negotiated) {
  return tls
    .createServer({ ...credentials, ecdhCurve, requestCert: true, honorCipherOrder: false }, socket => {
      negotiated.push({
        version: socket.getProtocol(),
        suite: socket.getCipher().name,
        group: ecdhCurve,
        isResumed: socket.isSessionReused(),
        serverName: /** @type {any} */ (socket).servername,
      })
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'))
    })
    .on('tlsClientError', () => {})
}

/**
 * @param {string} address
 * @param {string} folder
 * @returns {ProcessSpec}
 */
function createFull(address, folder) {
  return {
    ...{ service: 'full', role: 'application', program: process.execPath, env: {}, folder, files: [] },
    argv: ['-e', STOPPED_LISTENER, address, `${PORTS.application}`],
    listens: [{ address, port: PORTS.application }],
    ...{ workers: 1, cpuCores: null, memoryLimitBytes: null, cpuSet: null, admin: null, image: null },
  }
}

/**
 * Connects until a connection is no longer taken.
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<() => void>} lets go
 */
async function fillBacklog(address, signal) {
  /** @type {net.Socket[]} */
  const sockets = []
  const isFull = () => {
    if (sockets.some(s => s.connecting)) return true
    sockets.push(net.connect(PORTS.application, address).on('error', () => {}))
    return false
  }
  await waitFor(isFull, { what: 'a backlog to be full', deadlineSeconds: FULL_SECONDS, intervalMs: 50, signal })
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/**
 * @param {Record<string, string>} at
 * @param {string} certificates
 * @returns {SidecarModel[]}
 */
function createModels(at, certificates) {
  const common = (/** @type {string} */ service, /** @type {string} */ name = service) => ({
    service,
    identity: identityOf(name),
    workers: 1,
    admin: { address: at[service], port: PORTS.admin },
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
      endpoints: hosts.map(host => ({ address: at[host], port: PORTS.application })),
      balancing: 'round-robin',
      mtls: null,
    })
  const secure = (/** @type {string} */ name, /** @type {string} */ host, accepted = 'server') =>
    /** @type {Cluster} */ ({
      name,
      endpoints: [{ address: at[host], port: PORTS.inbound }],
      balancing: 'round-robin',
      mtls: { serverName: 'server', acceptedIdentities: [identityOf(accepted)] },
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
      ...{ address: at[service], port: PORTS.inbound, mtls, routes: ROUTES },
      acceptedIdentities: [identityOf('client')],
    },
    outbound: null,
    clusters: [
      ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => plain(name, name)),
      plain('half', 'gone', 'a'),
    ],
  })
  return [
    {
      ...common('client'),
      inbound: null,
      outbound: {
        address: at.client,
        port: PORTS.outbound,
        routes: [to('stranger-only', 'wrong'), to('observed', 'observed'), to('p256', 'p256'), to(null, 'server')],
      },
      clusters: [
        secure('server', 'server'),
        secure('wrong', 'server', 'stranger'),
        secure('observed', 'observer'),
        secure('p256', 'p256'),
      ],
    },
    serving('server', 'strict'),
    serving('permissive', 'permissive'),
  ]
}
