import { isPostQuantum } from '../../model/sidecar-contract.js'
import { createCompanions, createSidecar, DEPLOYED } from './launch.js'

/** @import { DataPlane, DeployedProfile, Lack } from '../../model/types.ts' */

const LEAN = 'lean'
// Without a maximum it has the minimum of its chart, whatever its CPU limit (linkerd2-proxy/src/rt.rs of v2.360.0).
const DEPLOYED_WORKERS = 1

// DEFAULT_{IN,OUT}BOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT (linkerd/app/src/env.rs of v2.360.0).
const DEPLOYED_IDLE_SECONDS = 3

const IDENTITY_REFUSED = /identity.*: refused, expected accepted$/

const COMMON = [
  "The kit is its control plane, beside each proxy, where Linkerd has one for a cluster; its certificates come over SPIFFE's Workload API",
]

/** @type {Record<string, DeployedProfile>} */
const PROFILES = {
  [LEAN]: {
    isRedirected: true,
    isHeld: true,
    from: "Linkerd's proxy, with a thread for each CPU of its limit, and HTTP/1.1 carried as such",
    deviations: COMMON,
  },
  [DEPLOYED]: {
    isRedirected: true,
    from: "Linkerd's proxy, with its one thread, its own limits and timeouts, and HTTP/1.1 carried in HTTP/2 between proxies",
    deviations: [
      ...COMMON,
      "Limits and times are the program's own defaults: the variables of Linkerd's chart are not set",
    ],
  },
}

/** @type {DataPlane} */
export const linkerd = {
  name: 'linkerd',
  tool: {
    name: 'linkerd2-proxy',
    variable: 'LINKERD2_PROXY',
    image: null,
    // It has no such option, but prints its version in its first line, before it fails for lack of a configuration.
    versionArgv: ['--version'],
    // A build that is no release is known by the hash of its commit; one outside of a repository has neither.
    parseVersion: text => {
      const [, version = null, hash] = /linkerd2_proxy: \w+ (\S+) \(([0-9a-f]*)\)/.exec(text) ?? []
      return version?.startsWith('0.0.0') ? hash || version : version
    },
    wanted: 'of release v2.360 or newer',
    isAccepted: () => true,
    source: 'https://github.com/linkerd/linkerd2-proxy, or the image cr.l5d.io/linkerd/proxy',
  },
  hasVariants: false,
  profiles: [LEAN, DEPLOYED],
  deployed: PROFILES,
  features: ['authorization'],
  routesAtCaller: true,
  countWorkers: ({ profile }) => (profile === DEPLOYED ? DEPLOYED_WORKERS : null),
  findIdleSeconds: ({ profile, timeouts }) => (profile === DEPLOYED ? DEPLOYED_IDLE_SECONDS : timeouts.idleSeconds),
  findUnsupported({ conditions: { interception, tls } }) {
    if (interception !== 'redirect') return 'linkerd takes redirected connections only: --interception redirect'
    if (isPostQuantum(tls))
      return 'linkerd has no setting for groups: two of it choose X25519MLKEM768 with --tls ecdsa-p256 already'
    return tls === 'rsa-2048' ? 'linkerd verifies no signatures of RSA, only ECDSA' : null
  },
  findLacks,
  createSidecar,
  createCompanions,
  parseOverflows: null,
}

/**
 * Lists the rows of the corpus that Linkerd's proxy fails: some in plaintext, too, and more in TLS by the traffic policy.
 * @type {NonNullable<DataPlane['findLacks']>}
 */
function findLacks({ tls, protocol, trafficPolicy }) {
  const why = 'it tries a refused connection no second time'
  const retried = { row: 'parity-answers', of: /^a refused connection, tried once more/, why }
  if (protocol === 'tcp')
    return [retried, { row: 'parity-next-endpoint', why }, ...(tls === 'plaintext' ? [] : listTunnelLacks())]
  return [
    retried,
    ...(protocol === 'grpc' ? listGrpcLacks() : listHttpLacks()),
    {
      row: 'parity-answers',
      of: /^(a host in capitals|the host DIRECT)/,
      why: 'it compares the hosts of routes as they are written: one in capitals is another',
    },
    ...(tls === 'plaintext' ? listPlaintextLacks() : listTlsLacks({ isOpen: trafficPolicy === 'open' })),
  ]
}

/** @returns {Lack[]} */
function listPlaintextLacks() {
  return [{ row: 'parity-tls', why: 'as a server it speaks mTLS to every peer that begins it' }]
}

/** @returns {Lack[]} */
function listHttpLacks() {
  return [
    {
      row: 'parity-answers',
      of: /^an upstream that (refuses|resets|closes without an answer): status 50[02], expected 503$/,
      why: 'it answers 502 where a connection fails, and 500 where one ends without an answer',
    },
  ]
}

/** @returns {Lack[]} */
function listGrpcLacks() {
  const why = 'it tells failures of calls by other codes of gRPC'
  return [
    { row: 'parity-answers', of: /: (status 500, expected (404|503)|a 503 without a reason)$/, why },
    { row: 'parity-connect-timeout', why },
  ]
}

/**
 * Lists the rows that it fails over mTLS with requests and gRPC calls.
 * @param {{ isOpen: boolean }} options isOpen: any identity is accepted
 * @returns {Lack[]}
 */
function listTlsLacks({ isOpen }) {
  const late = 'it tells a peer that it does not take so when that sends a request, and not in the handshake'
  const policy =
    'it knows SPIFFE identities by their whole names alone: where any is accepted, it asks for no certificate'
  return [
    {
      row: 'parity-refusals',
      of: /: answered 403, expected refused$/,
      why: 'it answers 403 to peers that it does not take',
    },
    {
      row: 'parity-handshakes',
      of: isOpen ? /^no certificate: kept open/ : /^(no certificate|.*identity.*): kept open/,
      why: late,
    },
    {
      row: 'parity-tls',
      why: 'it has no setting for suites and groups: as a server it takes P-256, too, and two of it choose X25519MLKEM768',
    },
    { row: 'parity-suites', why: 'it has no setting for suites' },
    {
      row: 'parity-permissive',
      of: isOpen ? /^no certificate/ : /^(no certificate|.*identity.*), .*: accepted, expected refused$/,
      why: 'where it takes plaintext it takes every peer of the mesh, and peers without a certificate',
    },
    ...(isOpen
      ? [
          { row: 'parity-refusals', of: /^no certificate.*: accepted, expected refused$/, why: policy },
          {
            row: 'parity-upstreams',
            of: IDENTITY_REFUSED,
            why: 'as a client it accepts the identity of the workload alone, whatever the policy',
          },
        ]
      : []),
  ]
}

/** Lists the rows that it fails over mTLS with bytes. @returns {Lack[]} */
function listTunnelLacks() {
  const why =
    'it carries bytes over mTLS to its own kind alone: behind a header, at one port, with a protocol name of its own'
  return [
    ...['parity-refusals', 'parity-permissive', 'parity-upstreams'].map(row => ({ row, of: IDENTITY_REFUSED, why })),
    ...['parity-handshakes', 'parity-tls', 'parity-protocol'].map(row => ({ row, why })),
  ]
}
