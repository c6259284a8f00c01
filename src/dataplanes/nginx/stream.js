import { renderMilliseconds } from '../../lib/units.js'
import { listByteListeners } from '../../model/byte-listeners.js'
import { HERE } from './directives.js'
import { chooseCertificateName, renderClientTls, renderListen, renderServerTls } from './listeners.js'
import { escapePatternText } from './routes.js'
import { renderUpstream } from './upstream.js'

/** Blocks of nginx's stream module, which handles connections and not requests. */
/**
 * @import { ByteListener } from '../../model/byte-listeners.js'
 * @import { SidecarModel } from '../../model/types.ts'
 * @import { Directive } from './directives.js'
 */

// Debian loads the module through this file. An nginx that was built with the module has no such file.
const STREAM_MODULE = '/etc/nginx/modules-enabled/*-mod-stream.conf'
const INSPECT_SECONDS = 5
// Nothing listens there: the stream module can refuse an identity only by sending its connection nowhere.
const NOWHERE = 'nowhere'

/**
 * Renders a port that takes plaintext and TLS (mTLS mode PERMISSIVE) for requests: nginx looks at the first bytes of a connection, and
 * passes it to one of two sockets of the same nginx.
 * @param {NonNullable<SidecarModel['inbound']>} inbound
 * @param {SidecarModel} model
 * @returns {{ main: Directive[], listens: string[] }} main: directives beside `http`; listens: the `listen` lines of the plaintext and
 *   the TLS socket
 */
export function renderPermissivePort({ address, port }, { timeouts, carriesGrpc }) {
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

/**
 * Renders the listeners and upstreams of a sidecar that carries bytes.
 * @param {SidecarModel} model
 * @returns {Directive[]} beside `http`
 */
export function renderStream(model) {
  const { timeouts, retries, clusters } = model
  return [
    `include ${STREAM_MODULE}`,
    [
      'stream',
      `proxy_connect_timeout ${renderMilliseconds(timeouts.connectSeconds)}`,
      `proxy_timeout ${renderMilliseconds(timeouts.idleSeconds)}`,
      'proxy_half_close on',
      `proxy_next_upstream ${retries > 0 ? 'on' : 'off'}`,
      `proxy_next_upstream_tries ${retries + 1}`,
      [`upstream ${NOWHERE}`, `server unix:${HERE}/${NOWHERE}.sock`],
      ...clusters.map(cluster => renderUpstream(cluster, retries)),
      ...listByteListeners(model).flatMap(byteListener =>
        byteListener.direction === 'inbound'
          ? renderInboundServers(model, byteListener)
          : [renderOutboundServer(model, byteListener)],
      ),
    ],
  ]
}

/**
 * Renders the server of an outbound listener, which calls its cluster over mTLS if the cluster has it.
 * @param {SidecarModel} model
 * @param {ByteListener} listener
 * @returns {Directive}
 */
function renderOutboundServer(model, { cluster: { name, mtls }, ...listener }) {
  const tls = mtls ? ['proxy_ssl on', ...renderClientTls(model, { dnsName: chooseCertificateName(mtls) })] : []
  return ['server', `${renderListen(listener)} reuseport`, ...tls, `proxy_pass ${name}`]
}

/**
 * Renders the servers of an inbound listener, with the maps that they use. A permissive listener has a server that takes plaintext, and
 * hands TLS to a second.
 * @param {SidecarModel} model with an inbound listener
 * @param {ByteListener} listener
 * @returns {Directive[]}
 */
function renderInboundServers(model, { name, cluster, ...listener }) {
  const { mtls, acceptedIdentities } = /** @type {NonNullable<SidecarModel['inbound']>} */ (model.inbound)
  const listen = renderListen(listener)
  if (mtls === 'disabled') return [['server', `${listen} reuseport`, `proxy_pass ${cluster.name}`]]
  const accepted = acceptedIdentities?.map(identity => `"~^CN=${escapePatternText(identity)}\\z" ${cluster.name}`)
  const maps = accepted ? [[`map $ssl_client_s_dn $${name}_to`, `default ${NOWHERE}`, ...accepted]] : []
  const target = accepted ? `$${name}_to` : cluster.name
  const renderTlsServer = (/** @type {string} */ tlsListen) => [
    'server',
    tlsListen,
    ...renderServerTls(model),
    `proxy_pass ${target}`,
  ]
  if (mtls === 'strict') return [...maps, renderTlsServer(`${listen} ssl reuseport`)]
  const socket = `unix:${HERE}/${name}.sock`
  return [
    ...maps,
    [`upstream ${name}_tls`, `server ${socket}`],
    [`map $ssl_preread_protocol $${name}_passage`, `"" ${cluster.name}`, `default ${name}_tls`],
    [
      'server',
      `${listen} reuseport`,
      ...['ssl_preread on', `preread_timeout ${INSPECT_SECONDS}s`, `proxy_pass $${name}_passage`],
    ],
    renderTlsServer(`listen ${socket} ssl`),
  ]
}
