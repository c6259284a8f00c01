import { listFeatures } from '../../../model/features.js'
import { createSidecarProcess } from '../../../model/processes.js'
import { parseSpiffeId } from '../../../model/sidecar-contract.js'
import { renderFsmConfig } from './config.js'

/** The profile fsm: the sidecar scripts of FSM (Flomesh Service Mesh), or of osm-edge, which came before it. */
/** @import { Conditions, DeployedProfile, Entrance, ProcessSpec, SidecarOptions } from '../../../model/types.ts' */

export const FSM = 'fsm'
// FSM's Prometheus listener reads the metrics of Pipy itself from this port.
const ADMIN_PORT = 6060

/** @type {DeployedProfile} */
export const FSM_DEPLOYED = {
  isRedirected: true,
  from: 'the sidecar of FSM v1.5.1, or of osm-edge, with the scripts that FSM names and the defaults of its Helm chart',
  deviations: [
    'Its scripts and its configuration are in a folder: no repository sends changes, and none is told of its status',
    'Its keys are read from files at the start, where FSM has their text in the configuration',
    'It admits clients of every address, where FSM lists that of each pod',
    'At the entry, where FSM has the addresses of clients without mTLS, all clients are without',
    'The application listens at the address of its pod (localProxyMode PodIP), where the default is 127.0.0.1',
    'Certificates are ECDSA P-256 unless --tls rsa-2048 asks for those of FSM',
  ],
  scripts: {
    variable: 'FSM',
    folders: ['', 'pkg/sidecar/v1/providers/pipy/repo/codebase', 'pkg/sidecar/providers/pipy/repo/codebase'],
    file: 'modules/inbound-main.js',
    what: 'a checkout of flomesh-io/fsm or flomesh-io/osm-edge, or its folder codebase',
  },
}

// This script reads the configuration by FSM's own script (fsm-config.js), and replaces the paths of PEM files by their text.
const CONFIG_SCRIPT = `((
  config = pipy.solve('fsm-config.js'),
) => (
  config.Certificate && ['CertChain', 'PrivateKey', 'IssuingCA'].forEach(
    name => config.Certificate[name] = os.readFile(config.Certificate[name]).toString()
  ),
  config
))()
`

/**
 * Finds the reason why FSM's sidecar cannot have these conditions.
 * @param {{ conditions: Conditions, entrance: Entrance, version: string }} options version: of Pipy
 * @returns {string | null} a sentence; null: it can have them
 * @throws {BenchError} if the conditions name a feature that the kit does not know
 */
export function findUnsupportedFsm({ conditions, entrance: { modes, hasCertificate }, version }) {
  const { protocol, features, interception, changesPerMinute, sidecars } = conditions
  if (version.startsWith('2.')) return `the scripts of FSM need Pipy 1.5: this is ${version}`
  if (protocol === 'tcp')
    return 'the kit renders the configuration of FSM for ports declared http, and for none declared tcp'
  if (interception !== 'redirect')
    return 'the scripts of FSM take redirected connections only, at ports of all addresses: --interception redirect'
  if (changesPerMinute !== null || sidecars !== undefined)
    return "its configuration changes by FSM's own control plane, which the kit does not have"
  if (hasCertificate && modes.includes('permissive'))
    return 'its entry takes no mTLS: it tells clients without by their address, and takes all for such'
  const names = listFeatures(features)
  if (names.includes('access-log'))
    return 'its log goes to a collector over HTTP (remoteLogging) and nowhere else: without one it logs nothing'
  return names.length > 0 ? `the profile ${FSM} has features of its own: give features to pipy alone` : null
}

/**
 * Creates a sidecar as FSM starts it, with a folder instead of its repository.
 * @param {SidecarOptions} options scriptFiles: the codebase of FSM or osm-edge, with its config.js and main.js
 * @returns {ProcessSpec}
 * @throws {TypeError} if scriptFiles has no main.js, or the identity is no SPIFFE ID in the form of Kubernetes
 * @throws {BenchError} if the model has a limit that some plane cannot have
 */
export function createFsmSidecar(options) {
  const { model, folder, scriptFiles = {} } = options
  const { inbound, outbound, workers } = model
  const { 'config.js': configScript, 'config.json': _, ...scripts } = scriptFiles
  const { namespace, serviceAccount: name } = parseSpiffeId(model.identity)
  const config = renderFsmConfig(model, { isOsmEdge: scripts['main.js'].includes("'osm-stats'") })
  return createSidecarProcess(options, {
    argv: [
      ...['--log-level=error', `--admin-port=${ADMIN_PORT}`],
      // The entry point of FSM's image adds these options if the limit is 2 CPUs or more.
      ...(workers > 1 ? [`--threads=${workers}`, '--reuse-port'] : []),
      `${folder}/main.js`,
    ],
    env: {
      MESH_NAME: 'fsm',
      POD_NAMESPACE: namespace,
      POD_CONTROLLER_KIND: 'Deployment',
      SERVICE_ACCOUNT: name,
      POD_NAME: model.service,
    },
    files: [
      { name: 'config.json', content: `${JSON.stringify(config, null, 2)}\n` },
      { name: 'config.js', content: CONFIG_SCRIPT },
      { name: 'fsm-config.js', content: configScript },
      ...Object.entries(scripts).map(([name, content]) => ({ name, content })),
    ],
    listens: [inbound, outbound].flatMap(listener => (listener ? [{ address: '0.0.0.0', port: listener.port }] : [])),
    // Rules are set even if clients connect to the listener itself: without them, the kernel has no original port to return.
    redirects: { inbound: inbound?.port ?? null, outbound: outbound?.port ?? null },
    admin: null,
  })
}
