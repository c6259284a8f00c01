import { HERE, renderMilliseconds } from './directives.js'

/** One port for TLS and plaintext: nginx's stream module passes each connection to one of two sockets of the same nginx. */
/** @import { SidecarModel } from '../../model/types.ts' */
/** @import { Directive } from './directives.js' */

// Debian loads the module through this file. An nginx that was built with the module has no such file.
export const STREAM_MODULE = '/etc/nginx/modules-enabled/*-mod-stream.conf'
export const INSPECT_SECONDS = 5

/**
 * Renders a port that takes plaintext and TLS (mTLS mode PERMISSIVE): nginx looks at the first bytes of a connection, and passes
 * it to one of two sockets. main: blocks beside `http`; listens: `listen` lines of the plaintext and the TLS socket.
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {SidecarModel} model
 * @returns {{ main: Directive[], listens: string[] }}
 */
export function renderPassage({ address, port }, { timeouts, carriesGrpc }) {
  const http2 = carriesGrpc ? ' http2' : ''
  const [plaintext, tls] = ['plaintext', 'tls'].map(name => `unix:${HERE}/${name}.sock`)
  return {
    main: [
      `include ${STREAM_MODULE}`,
      [
        'stream',
        ['upstream plaintext', `server ${plaintext}`],
        ['upstream tls', `server ${tls}`],
        ['map $ssl_preread_protocol $passage', '"" plaintext', 'default tls'],
        [
          'server',
          `listen ${address}:${port} reuseport`,
          ...['ssl_preread on', `preread_timeout ${INSPECT_SECONDS}s`, 'proxy_pass $passage'],
          `proxy_timeout ${renderMilliseconds(timeouts.idleSeconds)}`,
        ],
      ],
    ],
    listens: [`listen ${plaintext}${http2}`, `listen ${tls} ssl${http2}`],
  }
}
