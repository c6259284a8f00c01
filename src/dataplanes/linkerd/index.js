import { isPostQuantum } from '../../model/sidecar-contract.js'
import { findLacks } from './lacks.js'
import { createCompanions, createSidecar, DEPLOYED } from './launch.js'

/** @import { DataPlane, DeployedProfile } from '../../model/types.ts' */

const LEAN = 'lean'
// Without a maximum it has the minimum of its chart, whatever its limit (linkerd2-proxy/src/rt.rs of v2.360.0).
const DEPLOYED_WORKERS = 1

// DEFAULT_{IN,OUT}BOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT (linkerd/app/src/env.rs of v2.360.0).
const DEPLOYED_IDLE_SECONDS = 3

const COMMON = [
  "The kit is its control plane, beside each proxy, where Linkerd has one for a cluster; its certificates come over SPIFFE's Workload API",
]

/** @type {Record<string, DeployedProfile>} */
const PROFILES = {
  [LEAN]: {
    ...{ isRedirected: true, isHeld: true },
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
    // A build that is no release is known by the hash of its commit.
    parseVersion: text => {
      const [, version, hash] = /linkerd2_proxy: \w+ (\S+) \(([0-9a-f]{7,})\)/.exec(text) ?? []
      return version && !version.startsWith('0.0.0') ? version : (hash ?? null)
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
  keepsIdleSeconds: ({ profile, timeouts }) => (profile === DEPLOYED ? DEPLOYED_IDLE_SECONDS : timeouts.idleSeconds),
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
