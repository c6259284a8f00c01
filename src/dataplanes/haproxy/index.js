import { findGroupLack } from '../../lib/openssl-conf.js'
import { createVersionBound } from '../../lib/version.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { parseOverflows } from './counters.js'
import { fileControl } from './file-control.js'
import { createSidecar } from './launch.js'

/** @import { DataPlane } from '../../model/types.ts' */

/** @type {DataPlane} */
export const haproxy = {
  name: 'haproxy',
  systemFiles: ['/etc/ssl/openssl.cnf'],
  tool: {
    name: 'haproxy',
    variable: 'HAPROXY',
    image: 'haproxy:2.6.12',
    package: 'haproxy',
    versionArgv: ['-vv'],
    parseVersion: text => /^HAProxy version (\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
    parseLibrary: text => /^Running on OpenSSL version : ([^\s()]+(?: [\d.]+\w?)?).*\n/m.exec(text)?.[1] ?? null,
    ...createVersionBound('2.6'),
  },
  hasVariants: false,
  profiles: [],
  countWorkers: () => null,
  findIdleSeconds: ({ timeouts }) => Math.min(timeouts.requestSeconds, timeouts.idleSeconds),
  findUnsupported({ conditions: { protocol, tls }, version, library }) {
    const lack = isPostQuantum(tls) ? findGroupLack({ name: 'HAProxy', variable: 'HAPROXY', version, library }) : null
    if (lack) return lack
    return protocol === 'grpc'
      ? 'gRPC: in HAProxy 2.6 one call holds up others over their connection, and one whose answer begins before its request has ended stops'
      : null
  },
  findLacks,
  createSidecar,
  controls: [fileControl],
  parseOverflows,
}

/**
 * Lists the rows of the corpus that HAProxy fails; []: in HTTP/1.1 or TCP it fails none, unless TLS has listed identities.
 * @type {NonNullable<DataPlane['findLacks']>}
 */
function findLacks({ tls, protocol, trafficPolicy }) {
  // Source: HAProxy's http_return_srv_error (src/http_ana.c); with HTTP/2, every request counts as a later one.
  const late = {
    row: 'parity-connect-timeout',
    why: 'where a connection times out, it answers only the first request of a connection, and in HTTP/2 none',
  }
  const unnamed = {
    row: 'parity-tls',
    why: 'it sends no server name (SNI) where identities are listed: it would verify that name instead',
  }
  const silent = {
    row: 'parity-handshakes',
    of: /identity/,
    why: 'it closes the connection of an identity that is not listed when the handshake has ended, without an alert',
  }
  const isListed = tls !== 'plaintext' && trafficPolicy === 'listed'
  return [...(protocol === 'http/2' ? [late] : []), ...(isListed ? [unnamed, silent] : [])]
}
