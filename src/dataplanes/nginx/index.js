import { findGroupLack } from '../../lib/openssl-conf.js'
import { createVersionBound } from '../../lib/version.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { fileControl } from './file-control.js'
import { createSidecar } from './launch.js'

/** @import { DataPlane } from '../../model/types.ts' */

/** @type {DataPlane} */
export const nginx = {
  name: 'nginx',
  systemFiles: ['/etc/nginx/modules-enabled', '/usr/lib/nginx/modules', '/etc/ssl/openssl.cnf'],
  tool: {
    name: 'nginx',
    variable: 'NGINX',
    image: 'nginx:1.22.1',
    // The second package holds nginx's stream module, which tells TLS from plaintext at one port.
    package: 'nginx-light libnginx-mod-stream',
    versionArgv: ['-V'],
    parseVersion: text => /^nginx version: nginx\/(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
    parseLibrary: text => /^built with (?:.*running with )?([^\s()]+(?: [\d.]+\w?)?).*\n/m.exec(text)?.[1] ?? null,
    ...createVersionBound('1.22'),
  },
  hasVariants: false,
  profiles: [],
  countWorkers: () => null,
  findIdleSeconds: ({ timeouts }) => Math.min(timeouts.requestSeconds, timeouts.idleSeconds),
  findUnsupported({ conditions: { protocol, interception, tls }, version, library }) {
    const lack = isPostQuantum(tls) ? findGroupLack({ name: 'nginx', variable: 'NGINX', version, library }) : null
    if (lack) return lack
    if (protocol === 'http/2') return 'HTTP/2 between sidecars: nginx speaks HTTP/1.1 only to upstreams'
    if (interception !== 'redirect') return null
    return 'nginx does not ask which address a redirected connection meant (SO_ORIGINAL_DST)'
  },
  findLacks,
  createSidecar,
  controls: [fileControl],
  parseOverflows,
}

/**
 * Lists the rows of the corpus that nginx fails; []: in plaintext, unless the protocol is HTTP/1.1.
 * @type {NonNullable<DataPlane['findLacks']>}
 */
function findLacks({ tls, protocol, trafficPolicy }) {
  const early = { row: 'parity-early-answers', why: 'it sends no more of a request once the answer has begun' }
  const silent = {
    row: 'parity-handshakes',
    of: protocol === 'tcp' ? /: closed without an alert, expected/ : /: kept open, expected/,
    why: 'it ends the handshake with a refused peer, and closes the connection at its first request',
  }
  const unlisted = {
    row: 'parity-upstreams',
    of: /identity.*: accepted, expected refused$/,
    why: 'as a client it accepts every identity of the DNS name that it called: nginx compares no other name of an upstream',
  }
  return [
    ...(protocol === 'http/1.1' ? [early] : []),
    ...(tls === 'plaintext' ? [] : [silent]),
    ...(tls !== 'plaintext' && trafficPolicy === 'listed' ? [unlisted] : []),
  ]
}

/**
 * Counts connections that nginx accepted and closed at once, because a worker had reached its limit of connections
 * (ngx_http_stub_status_module, "accepts" and "handled").
 * @param {string} text the answer of stub_status
 * @returns {number} 0 also if the text is no such answer
 */
function parseOverflows(text) {
  const [, accepts, handled] = /^ (\d{1,15}) (\d{1,15}) \d/m.exec(text) ?? []
  return accepts === undefined ? 0 : Number(accepts) - Number(handled)
}
