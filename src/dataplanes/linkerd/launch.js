import { renderMilliseconds } from '../../lib/units.js'
import { createProcess, createSidecarProcess } from '../../model/processes.js'
import { KIT_NODE, PORTS, parseSpiffeId, renderEndpoint } from '../../model/sidecar-contract.js'
import { listInboundPorts, renderTables } from './config.js'

/** @import { Endpoint, ProcessSpec, SidecarModel, SidecarOptions } from '../../model/types.ts' */

export const DEPLOYED = 'deployed'
// The control plane of a proxy listens at loopback, the only address at which the proxy speaks plaintext to it. Only processes of the
// proxy's own network namespace reach it.
const CONTROL = { address: '127.0.0.1', port: 8086 }
const SOCKET = 'workload.sock'
// The address of a listener that the model lacks.
const UNUSED = '127.0.0.1'
const HTTP2_WINDOW_BYTES = 1024 * 1024
// The proxy reads the trust anchors from its environment, as text: Linkerd's own image has such a launcher, too.
const LAUNCHER = 'LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS=$(cat "$1") exec "$0"'

/**
 * Creates the process spec of a proxy, which needs the control plane of createCompanions().
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 * @throws {BenchError} for a limit or route of the model that some plane cannot have
 * @throws {TypeError} if the identity of the model is no SPIFFE ID in the form of Kubernetes
 */
export function createSidecar(options) {
  const { model, folder, profile, tool } = options
  const { inbound, outbound, trust } = model
  const [inboundEndpoint, outboundEndpoint] = [inbound, outbound].map((listener, i) => ({
    address: listener?.address ?? UNUSED,
    port: listener?.port ?? [PORTS.inbound, PORTS.outbound][i],
  }))
  return createSidecarProcess(options, {
    program: '/bin/sh',
    argv: ['-c', LAUNCHER, tool.path, trust.caPath],
    env: renderEnvironment(options, {
      inboundEndpoint,
      outboundEndpoint,
      // ../NAME-control/workload.sock: relative, since the path of a Unix socket has at most 107 bytes.
      socket: `../${locateControlFolder(folder).split('/').at(-1)}/${SOCKET}`,
      isLean: profile !== DEPLOYED,
    }),
    files: [],
    credentials: [trust.caPath],
    listens: [inboundEndpoint, outboundEndpoint],
    admin: { ...model.admin, path: '/metrics' },
    // All threads accept at one socket.
    workers: 1,
    redirects: {
      // Without an inbound listener, this is the sidecar that the load calls: all its ports lead to the outbound listener.
      inbound: inbound ? inboundEndpoint.port : outboundEndpoint.port,
      outbound: outbound?.redirectedPorts ? outboundEndpoint.port : null,
    },
  })
}

/**
 * Renders the environment of a proxy, which is all of its own configuration but for the trust anchors, which LAUNCHER adds.
 * @param {SidecarOptions} options
 * @param {object} settings
 * @param {Endpoint} settings.inboundEndpoint at which it listens
 * @param {Endpoint} settings.outboundEndpoint at which it listens
 * @param {string} settings.socket the path of the workload API's Unix socket, relative to the proxy's folder
 * @param {boolean} settings.isLean with the kit's timeouts and HTTP/2 windows instead of the proxy's defaults
 * @returns {Record<string, string>} by the full name of each variable (`LINKERD2_PROXY_…`)
 * @throws {TypeError} if the identity of the model is no SPIFFE ID in the form of Kubernetes
 */
function renderEnvironment({ model }, { inboundEndpoint, outboundEndpoint, socket, isLean }) {
  const { service, identity, workers, admin } = model
  const control = renderEndpoint(CONTROL)
  const environment = {
    CORES: `${workers}`,
    CORES_MAX: `${workers}`,
    DESTINATION_SVC_ADDR: control,
    // Without networks no profiles are looked up: policies have the routes here.
    DESTINATION_PROFILE_NETWORKS: isLean ? '' : '10.0.0.0/8',
    POLICY_SVC_ADDR: control,
    POLICY_WORKLOAD: service,
    IDENTITY_SPIRE_WORKLOAD_API_ADDRESS: `unix:${socket}`,
    IDENTITY_SERVER_ID: identity,
    IDENTITY_SERVER_NAME: parseSpiffeId(identity).serviceAccount,
    INBOUND_LISTEN_ADDR: renderEndpoint(inboundEndpoint),
    OUTBOUND_LISTEN_ADDR: renderEndpoint(outboundEndpoint),
    ADMIN_LISTEN_ADDR: renderEndpoint(admin),
    INBOUND_DEFAULT_POLICY: 'deny',
    // The proxy is ready only once it has the policies of these ports.
    INBOUND_PORTS: listInboundPorts(model).join(','),
    // It takes each of these addresses for its own application's, and sends plaintext there: only its own is named.
    INBOUND_IPS: model.inbound ? inboundEndpoint.address : outboundEndpoint.address,
    ...(isLean ? renderLeanSettings(model) : {}),
  }
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [`LINKERD2_PROXY_${name}`, value]))
}

/**
 * Renders the settings of the lean profile. Timeouts of requests and idle connections are rounded up to whole seconds; the connect timeout
 * is in milliseconds.
 * @param {SidecarModel} model
 * @returns {Record<string, string>} by the name of each variable, without its prefix
 */
function renderLeanSettings({ timeouts }) {
  const connect = renderMilliseconds(timeouts.connectSeconds)
  const request = `${Math.ceil(timeouts.requestSeconds)}s`
  const idle = `${Math.ceil(timeouts.idleSeconds)}s`
  const windows = ['HTTP2', 'INBOUND_SERVER_HTTP2', 'OUTBOUND_SERVER_HTTP2'].flatMap(name =>
    ['STREAM', 'CONNECTION'].map(kind => [`${name}_INITIAL_${kind}_WINDOW_SIZE`, `${HTTP2_WINDOW_BYTES}`]),
  )
  return {
    LOG: 'error',
    OUTBOUND_DISABLE_INFORMATIONAL_HEADERS: 'true',
    INBOUND_CONNECT_TIMEOUT: connect,
    OUTBOUND_CONNECT_TIMEOUT: connect,
    INBOUND_HTTP_FAILFAST_TIMEOUT: request,
    OUTBOUND_TCP_FAILFAST_TIMEOUT: request,
    OUTBOUND_HTTP_FAILFAST_TIMEOUT: request,
    INBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT: idle,
    OUTBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT: idle,
    ...Object.fromEntries(windows),
  }
}

/**
 * Creates a proxy's control plane, which sends all configuration that is not in its environment.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec[]} the one process
 */
export function createCompanions({ model, folder, profile }) {
  const { service, identity, trust } = model
  const controlFolder = locateControlFolder(folder)
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

/** Locates the folder of a proxy's control plane, beside that of the proxy. @param {string} folder of the proxy */
function locateControlFolder(folder) {
  return `${folder}-control`
}
