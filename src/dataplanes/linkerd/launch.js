import { createProcess, createSidecarProcess } from '../../model/processes.js'
import { KIT_NODE, PORTS, parseSpiffeId, renderEndpoint } from '../../model/sidecar-contract.js'
import { listInboundPorts, renderTables } from './config.js'

/** @import { Endpoint, ProcessSpec, SidecarOptions } from '../../model/types.ts' */

export const DEPLOYED = 'deployed'
// Its control plane listens at loopback, which only processes of its own namespace reach: a proxy speaks plaintext to it only
// at such an address.
const CONTROL = { address: '127.0.0.1', port: 8086 }
const SOCKET = 'workload.sock'
const NOWHERE = '127.0.0.1'
const HTTP2_WINDOW_BYTES = 1024 * 1024
// The proxy reads the trust anchors from its environment, as text: Linkerd's own image has such a launcher, too.
const LAUNCHER = 'LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS=$(cat "$1") exec "$0"'

/**
 * Creates a proxy. The folder of its control plane (createCompanions) is beside its own.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar(options) {
  const { model, folder, profile, tool } = options
  const { inbound, outbound, trust } = model
  const [into, out] = [inbound, outbound].map((listener, i) => ({
    address: listener?.address ?? NOWHERE,
    port: listener?.port ?? [PORTS.inbound, PORTS.outbound][i],
  }))
  return createSidecarProcess(options, {
    program: '/bin/sh',
    argv: ['-c', LAUNCHER, tool.path, trust.caPath],
    env: renderEnvironment(options, {
      into,
      out,
      socket: `../${renderControlFolder(folder)}/${SOCKET}`,
      isLean: profile !== DEPLOYED,
    }),
    files: [],
    credentials: [trust.caPath],
    listens: [into, out],
    admin: { ...model.admin, path: '/metrics' },
    // All threads accept at one socket.
    workers: 1,
    redirects: {
      // A load that calls the sidecar itself uses a port for each service: rules lead all to the one at which it listens.
      inbound: inbound ? into.port : out.port,
      outbound: outbound?.redirectedPorts ? out.port : null,
    },
  })
}

/**
 * Renders the environment of a proxy, which is all of its own configuration. Timeouts of requests and idle connections are
 * rounded up to whole seconds; the connect timeout is in milliseconds.
 * @param {SidecarOptions} options
 * @param {{ into: Endpoint, out: Endpoint, socket: string, isLean: boolean }} options into, out: where it listens; socket: of
 *   the workload API; isLean: with the kit's timeouts and HTTP/2 windows instead of the proxy's defaults
 * @returns {Record<string, string>} by the full name of each variable (`LINKERD2_PROXY_…`)
 */
function renderEnvironment({ model }, { into, out, socket, isLean }) {
  const { service, identity, workers, admin, timeouts } = model
  const [control, connect] = [renderEndpoint(CONTROL), `${Math.round(timeouts.connectSeconds * 1000)}ms`]
  const [request, idle] = [timeouts.requestSeconds, timeouts.idleSeconds].map(seconds => `${Math.ceil(seconds)}s`)
  /** @type {Record<string, string>} */
  const lean = {
    LOG: 'error',
    OUTBOUND_DISABLE_INFORMATIONAL_HEADERS: 'true',
    INBOUND_CONNECT_TIMEOUT: connect,
    OUTBOUND_CONNECT_TIMEOUT: connect,
    INBOUND_HTTP_FAILFAST_TIMEOUT: request,
    OUTBOUND_TCP_FAILFAST_TIMEOUT: request,
    OUTBOUND_HTTP_FAILFAST_TIMEOUT: request,
    INBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT: idle,
    OUTBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT: idle,
    ...Object.fromEntries(
      ['HTTP2', 'INBOUND_SERVER_HTTP2', 'OUTBOUND_SERVER_HTTP2'].flatMap(name =>
        ['STREAM', 'CONNECTION'].map(kind => [`${name}_INITIAL_${kind}_WINDOW_SIZE`, `${HTTP2_WINDOW_BYTES}`]),
      ),
    ),
  }
  const environment = {
    CORES: `${workers}`,
    CORES_MAX: `${workers}`,
    DESTINATION_SVC_ADDR: control,
    // Without networks no profiles are looked up: policies have the routes here.
    ...(isLean ? { DESTINATION_PROFILE_NETWORKS: '' } : { DESTINATION_PROFILE_NETWORKS: '10.0.0.0/8' }),
    POLICY_SVC_ADDR: control,
    POLICY_WORKLOAD: service,
    IDENTITY_SPIRE_WORKLOAD_API_ADDRESS: `unix:${socket}`,
    IDENTITY_SERVER_ID: identity,
    IDENTITY_SERVER_NAME: parseSpiffeId(identity).serviceAccount,
    INBOUND_LISTEN_ADDR: renderEndpoint(into),
    OUTBOUND_LISTEN_ADDR: renderEndpoint(out),
    ADMIN_LISTEN_ADDR: renderEndpoint(admin),
    INBOUND_DEFAULT_POLICY: 'deny',
    // The proxy is ready only once it has the policies of these ports.
    INBOUND_PORTS: listInboundPorts(model).join(','),
    // Only its own address: it takes another one for its own application's, and sends plaintext there.
    INBOUND_IPS: model.inbound ? into.address : out.address,
    ...(isLean ? lean : {}),
  }
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [`LINKERD2_PROXY_${name}`, value]))
}

/**
 * Creates a proxy's control plane, which sends all configuration that is not in its environment.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec[]}
 */
export function createCompanions({ model, folder, profile }) {
  const { service, identity, trust } = model
  const controlFolder = `${folder}-control`
  const configuration = {
    listen: { ...CONTROL, socket: SOCKET },
    workload: service,
    credentials: {
      identity,
      certificatePath: trust.certificatePath,
      keyPath: trust.keyPath,
      authorityPath: trust.caPath,
    },
    tables: renderTables(model, { isDeployed: profile === DEPLOYED }),
  }
  return [
    createProcess({
      service,
      role: 'control',
      program: KIT_NODE,
      argv: ['src/control-planes/linkerd/main.js', `${controlFolder}/control.json`],
      folder: controlFolder,
      files: [{ name: 'control.json', content: `${JSON.stringify(configuration, null, 2)}\n` }],
      credentials: [trust.caPath, trust.certificatePath, trust.keyPath],
      listens: [CONTROL],
      isAwaited: true,
    }),
  ]
}

/** Renders the name of the folder of a proxy's control plane. @param {string} folder */
function renderControlFolder(folder) {
  return `${folder.slice(folder.lastIndexOf('/') + 1)}-control`
}
