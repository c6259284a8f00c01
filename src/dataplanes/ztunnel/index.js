import { createVersionBound } from '../../lib/version.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { createCompanions, createNodeProxy, createSidecar, HBONE_PORT, ISTIO, NODE } from './launch.js'

/** @import { DataPlane, DeployedProfile, ToolSpec } from '../../model/types.ts' */

const LEAN = 'lean'
// The program's own default (DEFAULT_WORKER_THREADS in src/config.rs of istio/ztunnel 1.30.3).
const ISTIO_WORKERS = 2

// DEFAULT_POOL_UNUSED_RELEASE_TIMEOUT (src/config.rs) of its tunnels; a connection in one is closed with that of the application.
const POOL_IDLE_SECONDS = 300

const CONFIGURED = 'Its configuration is in a file, where Istio has xDS; the kit is its certificate authority'
const COMMON = [
  'It is the proxy of one workload (dedicated mode), in a network namespace of its own, where a node of Istio has one for all',
  CONFIGURED,
]

/** Runs the agent that hands ztunnel the namespaces of pods: Node.js cannot pass file descriptors. @type {ToolSpec} */
const PYTHON = {
  name: 'python3',
  variable: 'PYTHON',
  image: null,
  package: 'python3',
  versionArgv: ['--version'],
  parseVersion: text => /^Python (\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  // The first version with socket.send_fds.
  ...createVersionBound('3.9'),
}

/** @type {Record<string, DeployedProfile>} */
const DEPLOYED = {
  [LEAN]: {
    isRedirected: true,
    isHeld: true,
    from: "ztunnel, the node proxy of Istio's ambient mode, with a thread for each CPU of its limit, and without a log of connections",
    deviations: COMMON,
  },
  [ISTIO]: {
    isRedirected: true,
    from: "ztunnel, the node proxy of Istio's ambient mode, with the 2 threads of its default and its log of connections",
    deviations: COMMON,
  },
  [NODE]: {
    isRedirected: true,
    isOfNode: true,
    runtime: PYTHON,
    from: "ztunnel, the node proxy of Istio's ambient mode: one process for all pods (shared mode), which the kit hands their network namespaces as Istio's CNI agent does",
    deviations: [
      CONFIGURED,
      'It runs as a user of its own with the capabilities that it needs, has no CPU limit, and logs no connections',
    ],
  },
}

/**
 * Lists the rows of the corpus that ztunnel fails: some in plaintext, too, and more in TLS by the traffic policy.
 * @type {NonNullable<DataPlane['findLacks']>}
 */
function findLacks({ tls, trafficPolicy }) {
  const why = 'it tries a refused connection no second time'
  const always = [
    { row: 'parity-answers', of: /^a refused connection, tried once more/, why },
    { row: 'parity-next-endpoint', why },
  ]
  if (tls === 'plaintext') return always
  const unlisted = {
    row: 'parity-handshakes',
    of: /identity.*: kept open, expected/,
    why: 'it completes the handshake with an identity that is not listed, and refuses it when it asks for a tunnel',
  }
  const openUpstreams = {
    row: 'parity-upstreams',
    of: /identity.*: refused, expected accepted$/,
    why: 'as a client it accepts the identity of the workload alone, whatever the policy',
  }
  const openForeignNames = ['parity-refusals', 'parity-permissive'].map(row => ({
    row,
    of: /identity.*: refused, expected accepted$/,
    why: 'it accepts SPIFFE identities of its own trust domain, and no other names',
  }))
  return [
    ...always,
    { row: 'parity-tls', why: 'it has no setting for suites and groups: as a server it takes P-256, too' },
    { row: 'parity-suites', why: 'it has no setting for suites, and two of it choose TLS_AES_256_GCM_SHA384' },
    { row: 'parity-protocol', why: 'it carries bytes in HTTP/2 CONNECT (HBONE)' },
    ...(trafficPolicy === 'listed' ? [unlisted] : [openUpstreams, ...openForeignNames]),
  ]
}

/** @type {DataPlane} */
export const ztunnel = {
  name: 'ztunnel',
  tool: {
    name: 'ztunnel',
    variable: 'ZTUNNEL',
    image: null,
    versionArgv: ['version'],
    // A build that is no release is known by the hash of its commit.
    parseVersion: text => /Version:"v?(\d+\.\d+\.\d+|[0-9a-f]{8}|unknown)/m.exec(text)?.[1] ?? null,
    wanted: 'of Istio 1.24 or newer',
    isAccepted: () => true,
    source: 'https://github.com/istio/ztunnel, or the image istio/ztunnel',
  },
  hasVariants: false,
  profiles: [LEAN, ISTIO, NODE],
  deployed: DEPLOYED,
  isCertified: true,
  carriesBytesOnly: true,
  tunnelPort: HBONE_PORT,
  countWorkers: ({ profile }) => (profile === ISTIO ? ISTIO_WORKERS : null),
  findIdleSeconds: () => POOL_IDLE_SECONDS,
  findUnsupported({ conditions: { tls, protocol, interception } }) {
    if (interception !== 'redirect') return 'ztunnel takes redirected connections only: --interception redirect'
    if (isPostQuantum(tls))
      return 'ztunnel has no setting for groups but a policy of its own (COMPLIANCE_POLICY), which builds with ring lack'
    if (tls === 'rsa-2048') return 'ztunnel makes its keys itself, and they are ECDSA P-256'
    return protocol === 'http/2' || protocol === 'grpc'
      ? `it carries bytes, whatever applications speak: give it http/1.1, or tcp beside planes that carry bytes, too`
      : null
  },
  findLacks,
  createSidecar,
  createCompanions,
  createNodeProxy,
  parseOverflows: null,
}
