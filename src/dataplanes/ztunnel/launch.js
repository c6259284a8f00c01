import { uniqueBy } from '../../lib/group-by.js'
import { createProcess, createSidecarProcess } from '../../model/processes.js'
import { KIT_NODE, KIT_PYTHON, NODE_AGENT, NODE_PROXY, parseSpiffeId } from '../../model/sidecar-contract.js'
import { NAMESPACE, renderConfig, renderNodeConfig } from './config.js'

/** @import { ProcessSpec, SidecarModel, SidecarOptions } from '../../model/types.ts' */

export const ISTIO = 'istio'
/** One proxy for all pods of the node, as ambient mode has it. */
export const NODE = 'node'
/** The port at which ztunnel takes bytes in HTTP/2 CONNECT over mTLS (HBONE). Its ports are fixed. */
export const HBONE_PORT = 15008
const PORTS = { outbound: 15001, plaintext: 15006, hbone: HBONE_PORT }
// The authority listens at loopback, which only processes of its own namespace reach.
const AUTHORITY = { address: '127.0.0.1', port: 15012 }
// A secret token would protect nothing: only processes in the namespace of the proxy reach the authority.
const TOKEN = 'of-this-proxy'
// A relative path, in the folder in which it runs: the path of a Unix socket has at most 107 bytes.
const SOCKET = 'pods.sock'
// The agent opens this port once the proxy has taken every pod.
const HANDOVER = { address: '127.0.0.1', port: 15030 }
const READINESS_PORT = 15021

/**
 * Creates a ztunnel of one workload (dedicated mode), which needs the authority of createCompanions().
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 * @throws {BenchError} for a limit or route of the model that some plane cannot have
 * @throws {TypeError} if an identity of the model is no SPIFFE ID in the form of Kubernetes
 */
export function createSidecar(options) {
  const { model, folder, profile } = options
  const { trust, service, identity, workers } = model
  const { serviceAccount } = parseSpiffeId(identity)
  return createSidecarProcess(options, {
    argv: [],
    env: {
      PROXY_MODE: 'dedicated',
      PROXY_WORKLOAD_INFO: `${NAMESPACE}/${service}/${serviceAccount}`,
      ...renderEnvironment({ model, folder, workers, isLogged: profile === ISTIO }),
    },
    files: [{ name: 'ztunnel.yaml', content: renderConfig(model) }],
    credentials: [trust.caPath],
    listens: Object.values(PORTS).map(port => ({ address: '0.0.0.0', port })),
    // All threads accept at one socket.
    workers: 1,
    redirects: chooseRedirects(model),
    admin: null,
  })
}

/**
 * Creates the authority from which a ztunnel gets its certificate: it takes none from files.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec[]} the one process
 * @throws {TypeError} if the identity of the model is no SPIFFE ID in the form of Kubernetes
 */
export function createCompanions(options) {
  return [createAuthorityProcess(options.model.service, [options], `${options.folder}-authority`)]
}

/**
 * Creates the one proxy of a node, its authority, and the agent that hands it the namespaces of pods, as Istio's CNI agent does.
 * @param {SidecarOptions[]} options of each pod, at least one; the first also gives the proxy's program, workers and trust
 * @param {string} folder of the proxy and the agent
 * @returns {ProcessSpec[]} the authority, the agent and the proxy
 * @throws {TypeError} if an identity of a model is no SPIFFE ID in the form of Kubernetes
 */
export function createNodeProxy(options, folder) {
  const service = NODE_PROXY
  const [first] = options
  const models = options.map(({ model }) => model)
  const pods = models.map(model => ({
    service: model.service,
    redirects: chooseRedirects(model),
    ports: Object.values(PORTS),
  }))
  const identities = models.map(
    model => `${model.service} ${NAMESPACE} ${parseSpiffeId(model.identity).serviceAccount}`,
  )
  return [
    createAuthorityProcess(service, options, `${folder}-authority`),
    createProcess({
      service: NODE_AGENT,
      role: 'control',
      program: KIT_PYTHON,
      argv: ['src/control-planes/ztunnel/pods.py', SOCKET, `${HANDOVER.address}:${HANDOVER.port}`, ...identities],
      folder,
      listens: [HANDOVER],
      pods,
    }),
    createProcess({
      service,
      role: 'sidecar',
      program: first.tool.path,
      argv: [],
      env: {
        PROXY_MODE: 'shared',
        INPOD_UDS: SOCKET,
        ...renderEnvironment({ model: first.model, folder, workers: first.model.workers, isLogged: false }),
      },
      folder,
      files: [{ name: 'ztunnel.yaml', content: renderNodeConfig(models) }],
      credentials: [first.model.trust.caPath],
      listens: [{ address: '0.0.0.0', port: READINESS_PORT }],
      image: first.tool.image ?? null,
      pods,
    }),
  ]
}

/**
 * Renders the environment that both modes share.
 * @param {{ model: SidecarModel, folder: string, workers: number, isLogged: boolean }} options folder: of ztunnel.yaml; isLogged: it
 *   logs as by default
 * @throws {TypeError} if the identity is no SPIFFE ID in the form of Kubernetes
 */
function renderEnvironment({ model: { trust, identity }, folder, workers, isLogged }) {
  return {
    XDS_ADDRESS: '',
    LOCAL_XDS_PATH: `${folder}/ztunnel.yaml`,
    CA_ADDRESS: `https://${AUTHORITY.address}:${AUTHORITY.port}`,
    CA_ROOT_CA: trust.caPath,
    ALT_CA_HOSTNAME: parseSpiffeId(identity).serviceAccount,
    AUTH_TOKEN: TOKEN,
    ISTIO_META_DNS_CAPTURE: 'false',
    IPV6_ENABLED: 'false',
    // ztunnel runs as a user that may not bind the addresses of clients.
    ENABLE_ORIG_SRC: 'false',
    ZTUNNEL_WORKER_THREADS: `${workers}`,
    // By default ztunnel logs each connection.
    ...(isLogged ? {} : { RUST_LOG: 'error,access=off' }),
  }
}

/**
 * Chooses the ports of the sidecar to which rules redirect connections that come in, and those that the application opens.
 * @param {SidecarModel} model
 * @returns outbound: null: the application's connections are not redirected
 */
function chooseRedirects({ inbound, outbound }) {
  return {
    // A load that calls the sidecar itself uses a port for each service: rules lead all to the one at which ztunnel listens.
    inbound: inbound ? PORTS.plaintext : PORTS.outbound,
    outbound: outbound?.redirectedPorts ? PORTS.outbound : null,
  }
}

/**
 * Creates the process of the kit's certificate authority, which listens at loopback beside the proxy.
 * @param {string} service the place at which it runs
 * @param {SidecarOptions[]} options of the workloads that it certifies, at least one; the first also gives the authority's key, without
 *   which it cannot start
 * @param {string} folder of its configuration
 * @throws {TypeError} if an identity is no SPIFFE ID in the form of Kubernetes
 */
function createAuthorityProcess(service, options, folder) {
  const [{ model, authorityKeyPath = '' }] = options
  const { trust } = model
  const certified = options.map(({ model: { identity } }) => ({
    identity,
    dnsName: parseSpiffeId(identity).serviceAccount,
  }))
  const configuration = {
    listen: AUTHORITY,
    authority: { certificatePath: trust.caPath, keyPath: authorityKeyPath },
    credentials: { certificatePath: trust.certificatePath, keyPath: trust.keyPath },
    certifies: uniqueBy(certified, names => names.identity),
    token: TOKEN,
  }
  return createProcess({
    service,
    role: 'control',
    program: KIT_NODE,
    argv: ['src/certificates/istio-ca/main.js', `${folder}/authority.json`],
    folder,
    files: [{ name: 'authority.json', content: `${JSON.stringify(configuration, null, 2)}\n` }],
    credentials: [trust.caPath, authorityKeyPath, trust.certificatePath, trust.keyPath],
    listens: [AUTHORITY],
    isAwaited: true,
  })
}
