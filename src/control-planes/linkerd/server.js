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
 * The messages to answer with, as proto-loader takes them: the fields of the .proto files in camelCase, bytes in base64.
 * @typedef {object} Tables
 * @property {{ address?: string, port?: number, policy: object }[]} outbound policies by the destination of a connection: the first
 *   match counts, and an entry without an address, or a port, matches any
 * @property {Record<string, object>} destinations the update of each service, by its path; others are answered as unknown
 * @property {{ port?: number, server: object }[]} inbound policies by the port of a listener: the first match counts, and an entry
 *   without a port matches any
 */

/**
 * @typedef {object} Workload
 * @property {string} identity a SPIFFE id
 * @property {string} certificatePem
 * @property {string} keyPem
 * @property {string} authorityPem the certificate by which the proxy checks its peers
 */

/**
 * Serves policies and endpoints at a port and the certificate at a Unix socket, until it is closed. Requests for policies of another
 * workload are refused; the certificate is sent once the policy of each inbound port in the tables has been.
 * @param {{ workload: string, tables: Tables, credentials: Workload }} options workload: the name by which the proxy identifies itself
 * @param {{ address: string, port: number, socket: string }} endpoint port 0: any that is free; socket: a path; a file there is removed
 * @returns {Promise<{ port: number, close: () => void }>} port: the bound one
 * @throws {Error} if it cannot listen at one of them (the other is then closed), or cannot remove what is at the path
 */
export async function serveControlPlane({ workload, tables, credentials }, { address, port, socket }) {
  const { io, SpiffeWorkloadAPI } = loadServices()
  const sentPolicies = createPortTracker(tables.inbound.flatMap(entry => entry.port ?? []))
  const policyServer = createPolicyServer(io.linkerd.proxy, { workload, tables, sentPolicies })
  const workloadServer = createWorkloadServer(SpiffeWorkloadAPI, { credentials, sentPolicies })
  // A socket that a killed process left cannot be bound again.
  rmSync(socket, { force: true })
  const close = () => {
    policyServer.forceShutdown()
    workloadServer.forceShutdown()
  }
  const binding = [bindServer(policyServer, `${address}:${port}`), bindServer(workloadServer, `unix:${socket}`)]
  try {
    const [boundPort] = await Promise.all(binding)
    return { port: boundPort, close }
  } catch (error) {
    await Promise.allSettled(binding)
    close()
    throw error
  }
}

/**
 * Creates the server of policies and endpoints. The policy services answer NOT_FOUND to another workload, and for a destination or port
 * without a policy. Destination checks no workload: it answers an unknown path with no endpoints, and any with an empty profile.
 * @param {any} interfaces of Linkerd, by package
 * @param {{ workload: string, tables: Tables, sentPolicies: ReturnType<typeof createPortTracker> }} options sentPolicies: gets each port
 *   whose policy was sent
 */
function createPolicyServer({ destination, inbound, outbound }, { workload, tables, sentPolicies }) {
  const server = new grpc.Server()
  server.addService(destination.Destination.service, {
    Get: createStreamHandler(({ path }) => tables.destinations[path] ?? { noEndpoints: { exists: false } }),
    // An empty profile: routes come with the policies.
    GetProfile: createStreamHandler(() => ({})),
  })
  server.addService(outbound.OutboundPolicies.service, {
    Watch: createStreamHandler(({ addr, sourceWorkload }) => {
      assertWorkload(sourceWorkload, workload)
      return chooseOutboundPolicy(tables, { address: renderIpv4(addr?.ip?.ipv4 ?? 0), port: addr?.port ?? 0 })
    }),
  })
  server.addService(inbound.InboundServerPolicies.service, {
    WatchPort: createStreamHandler(({ port, workload: caller }) => {
      assertWorkload(caller, workload)
      const policy = chooseInboundPolicy(tables, port)
      sentPolicies.add(port)
      return policy
    }),
  })
  return server
}

/**
 * Chooses the policy of connections to a destination: that of the first entry that matches.
 * @param {Tables} tables
 * @param {{ address: string, port: number }} destination
 * @throws {Error} which gRPC answers as NOT_FOUND, if no entry matches
 */
function chooseOutboundPolicy(tables, destination) {
  const entry = tables.outbound.find(
    ({ address = destination.address, port = destination.port }) =>
      address === destination.address && port === destination.port,
  )
  return entry?.policy ?? throwNotFound(`no policy for ${destination.address}:${destination.port}`)
}

/**
 * Chooses the policy of connections to a port: that of the first entry that matches.
 * @param {Tables} tables
 * @param {number} port
 * @throws {Error} which gRPC answers as NOT_FOUND, if no entry matches
 */
function chooseInboundPolicy(tables, port) {
  const entry = tables.inbound.find(({ port: matchedPort = port }) => matchedPort === port)
  return entry?.server ?? throwNotFound(`no server at port ${port}`)
}

/**
 * Creates the server of the certificate. It answers INVALID_ARGUMENT to a request without SPIFFE's header, and lets others wait for the
 * policies. A certificate or key that cannot be parsed ends the stream with an error.
 * @param {any} SpiffeWorkloadAPI the interface
 * @param {{ credentials: Workload, sentPolicies: ReturnType<typeof createPortTracker> }} options sentPolicies: the certificate waits for
 *   these
 */
function createWorkloadServer(SpiffeWorkloadAPI, { credentials, sentPolicies }) {
  const server = new grpc.Server()
  server.addService(SpiffeWorkloadAPI.service, {
    // A proxy with a certificate accepts connections, and refuses them on a port whose policy it lacks: the certificate comes last.
    FetchX509SVID: createStreamHandler(async (_, metadata) => {
      if (`${metadata.get(SPIFFE_HEADER)[0]}` !== 'true')
        throw Object.assign(new Error(`a request without the header ${SPIFFE_HEADER}: true`), {
          code: grpc.status.INVALID_ARGUMENT,
        })
      await sentPolicies.complete
      return { svids: [encodeCredentials(credentials)] }
    }),
  })
  return server
}

/**
 * Loads the gRPC services of the .proto files beside this file.
 * @returns {any} the constructors of clients, nested by package; `service` of each is the definition for `addService`
 */
export function loadServices() {
  const options = { includeDirs: [FOLDER], longs: Number, defaults: false }
  return grpc.loadPackageDefinition(loadSync(PROTOS, options))
}

/**
 * Binds a server, which serves from then on.
 * @param {grpc.Server} server
 * @param {string} endpoint an address and port, or `unix:` and a path
 * @returns {Promise<number>} the bound port; without meaning for a path
 * @throws {Error} if it cannot bind
 */
function bindServer(server, endpoint) {
  return new Promise((resolve, reject) =>
    server.bindAsync(endpoint, grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
}

/**
 * Creates the handler of a stream, which sends one message and leaves the stream open until its caller ends it.
 * @param {(request: any, metadata: grpc.Metadata) => object | Promise<object>} createMessage an error that it throws ends the stream, with
 *   its gRPC `code`
 * @returns {grpc.handleServerStreamingCall<any, any>}
 */
function createStreamHandler(createMessage) {
  return async call => {
    try {
      call.write(await createMessage(call.request, call.metadata))
    } catch (error) {
      call.emit('error', error)
    }
  }
}

/**
 * Creates a tracker of ports: `complete` resolves when each of the ports has been added; at once if there are none. `add` ignores other
 * ports.
 * @param {number[]} ports
 */
function createPortTracker(ports) {
  const missing = new Set(ports)
  let resolveComplete = () => {}
  /** @type {Promise<void>} */
  const complete = new Promise(resolve => {
    resolveComplete = resolve
  })
  if (missing.size === 0) resolveComplete()
  const add = (/** @type {number} */ port) => {
    missing.delete(port)
    if (missing.size === 0) resolveComplete()
  }
  return { complete, add }
}

/**
 * Throws an error that gRPC answers as NOT_FOUND.
 * @param {string} message
 * @returns {never}
 * @throws {Error} always
 */
function throwNotFound(message) {
  throw Object.assign(new Error(message), { code: grpc.status.NOT_FOUND })
}

/**
 * Asserts that the caller is the workload of this control plane.
 * @param {string | undefined} caller
 * @param {string} workload
 * @throws {Error} which gRPC answers as NOT_FOUND, if the caller is another
 */
function assertWorkload(caller, workload) {
  if (caller !== workload)
    throwNotFound(`the workload "${caller}" asks, and this is the control plane of "${workload}"`)
}

/**
 * Encodes an X509SVID of workload.proto, whose certificates and PKCS #8 key are DER.
 * @param {Workload} credentials
 * @throws {Error} if a certificate or the key cannot be parsed
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
 * Renders an IPv4 address.
 * @param {number} ipv4 the address as a number, its first byte the highest
 */
function renderIpv4(ipv4) {
  return [24, 16, 8, 0].map(shift => (ipv4 >>> shift) & 255).join('.')
}
