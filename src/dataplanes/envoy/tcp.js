import { extension, seconds } from './shared.js'

/** The filter of a listener that carries bytes to one cluster. */
/** @import { SidecarModel } from '../../model/types.ts' @import { ByteListener } from '../../model/byte-listeners.js' */

/** @param {SidecarModel} model @param {ByteListener} listener */
export function renderTcpProxy({ retries, timeouts }, { name, cluster }) {
  return extension('envoy.filters.network.tcp_proxy', 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    stat_prefix: name,
    cluster: cluster.name,
    max_connect_attempts: retries + 1,
    idle_timeout: seconds(timeouts.idleSeconds),
  })
}
