import { createPrivateKey, X509Certificate } from 'node:crypto'
import { rmSync } from 'node:fs'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/**
 * The control plane of one of Linkerd's proxies: the policies of its connections, the endpoints of the services that it calls,
 * and its certificate, by the interfaces that Linkerd and SPIFFE publish. Answers are those of a table; a stream stays open
 * behind its first message, as nothing changes.
 */

const PROTOS = ['destination.proto', 'inbound.proto', 'outbound.proto', 'workload.proto']
const FOLDER = new URL('.', import.meta.url).pathname
// The proof that a request comes from a workload, and from no page in a browser (SPIFFE Workload Endpoint, 6.3).
const SPIFFE_HEADER = 'workload.spiffe.io'

/**
 * Messages are written as the interfaces name them, in camel case; bytes in base64.
 * @typedef {object} Tables
 * @property {{ address?: string, port?: number, policy: object }[]} outbound the first entry whose address and port are those that a
 *   connection meant; an entry without one of them takes any
 * @property {Record<string, object>} destinations updates by the path of the service
 * @property {{ port?: number, server: object }[]} inbound as outbound, by port
 */

/**
 * @typedef {object} Workload
 * @property {string} identity
 * @property {string} certificatePem
 * @property {string} keyPem
 * @property {string} authorityPem
 */

/**
 * Serves until it is closed.
 * @param {{ workload: string, tables: Tables, credentials: Workload }} options workload: the name by which the proxy asks
 * @param {{ address: string, port: number, socket: string }} endpoint port 0: any that is free; socket: a path, of the certificate
 * @returns {Promise<{ port: number, close: () => void }>}
 */
export async function serveControlPlane({ workload, tables, credentials }, { address, port, socket }) {
  const { io, SpiffeWorkloadAPI } = loadServices()
  const { destination, inbound, outbound } = io.linkerd.proxy
  const policies = createGate(tables.inbound.flatMap(({ port }) => port ?? []))
  const control = new grpc.Server()
  control.addService(destination.Destination.service, {
    Get: answer(({ path }) => tables.destinations[path] ?? { noEndpoints: { exists: false } }),
    // A profile without routes: the policies have them.
    GetProfile: answer(() => ({})),
  })
  control.addService(outbound.OutboundPolicies.service, {
    Watch: answer(({ addr, sourceWorkload }) => {
      assertWorkload(sourceWorkload, workload)
      const target = { address: renderAddress(addr?.ip?.ipv4 ?? 0), port: addr?.port ?? 0 }
      const entry = tables.outbound.find(
        ({ address = target.address, port = target.port }) => address === target.address && port === target.port,
      )
      return entry?.policy ?? refuse(`no policy for ${target.address}:${target.port}`)
    }),
  })
  control.addService(inbound.InboundServerPolicies.service, {
    WatchPort: answer(({ port, workload: caller }) => {
      assertWorkload(caller, workload)
      const entry = tables.inbound.find(entry => (entry.port ?? port) === port) ?? refuse(`no server at port ${port}`)
      policies.pass(port)
      return entry.server
    }),
  })
  const certified = new grpc.Server()
  certified.addService(SpiffeWorkloadAPI.service, {
    // A proxy accepts connections once it is certified, and refuses those whose policy it does not have yet.
    FetchX509SVID: answer(async (_, metadata) => {
      if (`${metadata.get(SPIFFE_HEADER)[0]}` !== 'true')
        throw Object.assign(new Error(`a request without the header ${SPIFFE_HEADER}: true`), {
          code: grpc.status.INVALID_ARGUMENT,
        })
      await policies.passed
      return { svids: [encodeCredentials(credentials)] }
    }),
  })
  // A socket that a killed process left cannot be bound again.
  rmSync(socket, { force: true })
  const [bound] = await Promise.all([bind(control, `${address}:${port}`), bind(certified, `unix:${socket}`)])
  return {
    port: bound,
    close: () => {
      control.forceShutdown()
      certified.forceShutdown()
    },
  }
}

/** Loads the interfaces, whose constructors make clients. @returns {any} by the names of their packages */
export function loadServices() {
  const options = { includeDirs: [FOLDER], longs: Number, defaults: false }
  return grpc.loadPackageDefinition(loadSync(PROTOS, options))
}

/** @param {grpc.Server} server @param {string} where @returns {Promise<number>} the port */
function bind(server, where) {
  return new Promise((resolve, reject) =>
    server.bindAsync(where, grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
}

/**
 * Answers a stream with one message, and leaves it open until its caller ends it.
 * @param {(request: any, metadata: grpc.Metadata) => object | Promise<object>} find throws an error with a code of gRPC
 * @returns {grpc.handleServerStreamingCall<any, any>}
 */
function answer(find) {
  return async call => {
    try {
      call.write(await find(call.request, call.metadata))
    } catch (error) {
      call.emit('error', error)
    }
  }
}

/** Creates a gate that opens when each of some ports has passed. @param {number[]} ports */
function createGate(ports) {
  const missing = new Set(ports)
  let open = () => {}
  /** @type {Promise<void>} */
  const passed = new Promise(resolve => {
    open = resolve
  })
  const pass = (/** @type {number | undefined} */ port) => {
    if (port !== undefined) missing.delete(port)
    if (missing.size === 0) open()
  }
  pass(undefined)
  return { passed, pass }
}

/** @param {string} message @returns {never} */
function refuse(message) {
  throw Object.assign(new Error(message), { code: grpc.status.NOT_FOUND })
}

/** @param {string | undefined} caller @param {string} workload */
function assertWorkload(caller, workload) {
  if (caller !== workload) refuse(`the workload "${caller}" asks, and this is the control plane of "${workload}"`)
}

/** @param {Workload} credentials */
function encodeCredentials({ identity, certificatePem, keyPem, authorityPem }) {
  return {
    spiffeId: identity,
    x509Svid: new X509Certificate(certificatePem).raw,
    x509SvidKey: createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' }),
    bundle: new X509Certificate(authorityPem).raw,
  }
}

/** @param {number} ipv4 */
function renderAddress(ipv4) {
  return [24, 16, 8, 0].map(shift => (ipv4 >>> shift) & 255).join('.')
}
