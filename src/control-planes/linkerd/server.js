import { createPrivateKey, X509Certificate } from 'node:crypto'
import { rmSync } from 'node:fs'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/**
 * The control plane of one of Linkerd's proxies: the policies of its connections, the endpoints of the services that it calls,
 * and its certificate, by the interfaces that Linkerd and SPIFFE publish. Its answers come from fixed tables: each stream gets one
 * message and stays open, as nothing changes later.
 */

const PROTOS = ['destination.proto', 'inbound.proto', 'outbound.proto', 'workload.proto']
const FOLDER = new URL('.', import.meta.url).pathname
// A workload sends this header with the value `true`; a page in a browser cannot (SPIFFE Workload Endpoint, 6.3).
const SPIFFE_HEADER = 'workload.spiffe.io'

/**
 * The messages to answer with, in camel case of the .proto files' names; bytes in base64.
 * @typedef {object} Tables
 * @property {{ address?: string, port?: number, policy: object }[]} outbound the first entry whose address and port are those to which
 *   a connection was opened is its policy; an entry without an address, or a port, matches any
 * @property {Record<string, object>} destinations the update of each service, by its path; others are answered as unknown
 * @property {{ port?: number, server: object }[]} inbound the first entry with the port of a listener is its policy; without one: any
 */

/**
 * @typedef {object} Workload
 * @property {string} identity a SPIFFE id
 * @property {string} certificatePem
 * @property {string} keyPem
 * @property {string} authorityPem the certificate by which the proxy checks its peers
 */

/**
 * Serves the policies at a port and the certificate at a Unix socket, until it is closed. Another workload is refused.
 * @param {{ workload: string, tables: Tables, credentials: Workload }} options workload: the name by which the proxy identifies itself
 * @param {{ address: string, port: number, socket: string }} endpoint port 0: any that is free; socket: its path, which is replaced
 * @returns {Promise<{ port: number, close: () => void }>} port: that it listens at
 * @throws if it cannot listen there
 */
export async function serveControlPlane({ workload, tables, credentials }, { address, port, socket }) {
  const { io, SpiffeWorkloadAPI } = loadServices()
  const policies = createGate(tables.inbound.flatMap(({ port }) => port ?? []))
  const control = createControlServer(io.linkerd.proxy, { workload, tables, policies })
  const certified = createWorkloadServer(SpiffeWorkloadAPI, { credentials, policies })
  // A socket that a killed process left cannot be bound again.
  rmSync(socket, { force: true })
  const [boundPort] = await Promise.all([bind(control, `${address}:${port}`), bind(certified, `unix:${socket}`)])
  return {
    port: boundPort,
    close: () => {
      control.forceShutdown()
      certified.forceShutdown()
    },
  }
}

/**
 * Creates the server of policies and endpoints.
 * @param {any} interfaces of Linkerd, by package
 * @param {{ workload: string, tables: Tables, policies: ReturnType<typeof createGate> }} options policies: passes each port whose policy
 *   was sent
 */
function createControlServer({ destination, inbound, outbound }, { workload, tables, policies }) {
  const control = new grpc.Server()
  control.addService(destination.Destination.service, {
    Get: createStreamHandler(({ path }) => tables.destinations[path] ?? { noEndpoints: { exists: false } }),
    // An empty profile: routes come with the policies.
    GetProfile: createStreamHandler(() => ({})),
  })
  control.addService(outbound.OutboundPolicies.service, {
    Watch: createStreamHandler(({ addr, sourceWorkload }) => {
      assertWorkload(sourceWorkload, workload)
      const target = { address: renderAddress(addr?.ip?.ipv4 ?? 0), port: addr?.port ?? 0 }
      const entry = tables.outbound.find(
        ({ address = target.address, port = target.port }) => address === target.address && port === target.port,
      )
      return entry?.policy ?? refuse(`no policy for ${target.address}:${target.port}`)
    }),
  })
  control.addService(inbound.InboundServerPolicies.service, {
    WatchPort: createStreamHandler(({ port, workload: caller }) => {
      assertWorkload(caller, workload)
      const entry = tables.inbound.find(entry => (entry.port ?? port) === port) ?? refuse(`no server at port ${port}`)
      policies.pass(port)
      return entry.server
    }),
  })
  return control
}

/**
 * Creates the server of the certificate.
 * @param {any} SpiffeWorkloadAPI the interface
 * @param {{ credentials: Workload, policies: Pick<ReturnType<typeof createGate>, 'passed'> }} options policies: it waits for these
 */
function createWorkloadServer(SpiffeWorkloadAPI, { credentials, policies }) {
  const server = new grpc.Server()
  server.addService(SpiffeWorkloadAPI.service, {
    // A proxy with a certificate accepts connections, and refuses them on a port whose policy it lacks: the certificate comes last.
    FetchX509SVID: createStreamHandler(async (_, metadata) => {
      if (`${metadata.get(SPIFFE_HEADER)[0]}` !== 'true')
        throw Object.assign(new Error(`a request without the header ${SPIFFE_HEADER}: true`), {
          code: grpc.status.INVALID_ARGUMENT,
        })
      await policies.passed
      return { svids: [encodeCredentials(credentials)] }
    }),
  })
  return server
}

/**
 * Loads the gRPC services of the .proto files.
 * @returns {any} the constructors of clients, nested by package; `service` of each is the definition for `addService`
 */
export function loadServices() {
  const options = { includeDirs: [FOLDER], longs: Number, defaults: false }
  return grpc.loadPackageDefinition(loadSync(PROTOS, options))
}

/**
 * @param {grpc.Server} server
 * @param {string} endpoint an address and port, or `unix:` and a path
 * @returns {Promise<number>} the bound port
 * @throws if it cannot bind
 */
function bind(server, endpoint) {
  return new Promise((resolve, reject) =>
    server.bindAsync(endpoint, grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
}

/**
 * Creates the handler of a stream, which sends one message and leaves the stream open until its caller ends it.
 * @param {(request: any, metadata: grpc.Metadata) => object | Promise<object>} find returns the message; an error with a gRPC `code`
 *   that it throws ends the stream
 * @returns {grpc.handleServerStreamingCall<any, any>}
 */
function createStreamHandler(find) {
  return async call => {
    try {
      call.write(await find(call.request, call.metadata))
    } catch (error) {
      call.emit('error', error)
    }
  }
}

/**
 * Creates a gate: `passed` resolves when `pass` has been called with each of the ports; at once if there are none.
 * @param {number[]} ports
 */
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

/**
 * Throws an error that gRPC answers as NOT_FOUND.
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  throw Object.assign(new Error(message), { code: grpc.status.NOT_FOUND })
}

/**
 * Throws an error that gRPC answers as NOT_FOUND if the caller is another workload.
 * @param {string | undefined} caller
 * @param {string} workload
 */
function assertWorkload(caller, workload) {
  if (caller !== workload) refuse(`the workload "${caller}" asks, and this is the control plane of "${workload}"`)
}

/**
 * Encodes an X509SVID of workload.proto, whose certificates and PKCS #8 key are DER.
 * @param {Workload} credentials
 */
function encodeCredentials({ identity, certificatePem, keyPem, authorityPem }) {
  return {
    spiffeId: identity,
    x509Svid: new X509Certificate(certificatePem).raw,
    x509SvidKey: createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' }),
    bundle: new X509Certificate(authorityPem).raw,
  }
}

/**
 * Renders an address from its number, in which the first byte is the highest.
 * @param {number} ipv4
 */
function renderAddress(ipv4) {
  return [24, 16, 8, 0].map(shift => (ipv4 >>> shift) & 255).join('.')
}
