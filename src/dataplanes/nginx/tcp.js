import { listByteListeners } from '../../model/byte-listeners.js'
import { HERE, time } from './directives.js'
import { findCertificateName, listenAt, renderClientTls, renderServerTls } from './listeners.js'
import { INSPECT_SECONDS, STREAM_MODULE } from './passage.js'
import { escapeText } from './routes.js'
import { renderUpstream } from './upstream.js'

/** A sidecar that carries bytes: nginx's stream module. */
/** @import { SidecarModel } from '../../model/types.ts' @import { ByteListener } from '../../model/byte-listeners.js' */
/** @import { Directive } from './directives.js' */

// Nothing listens there: the stream module can refuse an identity only by sending its connection nowhere.
const NOWHERE = 'nowhere'

/** Renders the blocks beside `http` that carry bytes. @param {SidecarModel} model @returns {Directive[]} */
export function renderStream(model) {
  const { timeouts, retries, clusters } = model
  return [
    `include ${STREAM_MODULE}`,
    [
      'stream',
      `proxy_connect_timeout ${time(timeouts.connectSeconds)}`,
      `proxy_timeout ${time(timeouts.idleSeconds)}`,
      'proxy_half_close on',
      `proxy_next_upstream ${retries > 0 ? 'on' : 'off'}`,
      `proxy_next_upstream_tries ${retries + 1}`,
      [`upstream ${NOWHERE}`, `server unix:${HERE}/${NOWHERE}.sock`],
      ...clusters.map(cluster => renderUpstream(cluster, retries)),
      ...listByteListeners(model).flatMap(byteListener =>
        byteListener.direction === 'inbound' ? renderEntry(model, byteListener) : renderExit(model, byteListener),
      ),
    ],
  ]
}

/** @param {SidecarModel} model @param {ByteListener} listener @returns {Directive[]} */
function renderExit(model, { cluster: { name, mtls }, ...listener }) {
  const tls = mtls ? ['proxy_ssl on', ...renderClientTls(model, findCertificateName(mtls))] : []
  return [['server', `${listenAt(listener)} reuseport`, ...tls, `proxy_pass ${name}`]]
}

/** Renders the servers of an inbound listener; a permissive one hands TLS to a second. @param {SidecarModel} model @param {ByteListener} listener @returns {Directive[]} */
function renderEntry(model, { name, cluster, ...listener }) {
  const { mtls, acceptedIdentities } = /** @type {NonNullable<SidecarModel['inbound']>} */ (model.inbound)
  const listen = `${listenAt(listener)} reuseport`
  if (mtls === 'disabled') return [['server', listen, `proxy_pass ${cluster.name}`]]
  const accepted = acceptedIdentities?.map(identity => `"~^CN=${escapeText(identity)}\\z" ${cluster.name}`)
  const maps = accepted ? [[`map $ssl_client_s_dn $${name}_to`, `default ${NOWHERE}`, ...accepted]] : []
  const strict = (/** @type {string} */ at) => [
    'server',
    at,
    ...renderServerTls(model),
    `proxy_pass ${accepted ? `$${name}_to` : cluster.name}`,
  ]
  if (mtls === 'strict') return [...maps, strict(`${listenAt(listener)} ssl reuseport`)]
  const passage = `unix:${HERE}/${name}.sock`
  return [
    ...maps,
    [`upstream ${name}_tls`, `server ${passage}`],
    [`map $ssl_preread_protocol $${name}_passage`, `"" ${cluster.name}`, `default ${name}_tls`],
    ['server', listen, 'ssl_preread on', `preread_timeout ${INSPECT_SECONDS}s`, `proxy_pass $${name}_passage`],
    strict(`listen ${passage} ssl`),
  ]
}
