import { listByteListeners } from '../../model/byte-listeners.js'
import { listenAt, milliseconds, renderBackend, renderEntry } from './connections.js'

/** The sections of a sidecar that carries bytes. */
/** @import { SidecarModel } from '../../model/types.ts' @import { Section } from './connections.js' */

/** Renders defaults, the frontends of each route and a backend for each cluster. @param {SidecarModel} model @returns {Section[]} */
export function renderTcpSections(model) {
  const { clusters, retries, timeouts } = model
  const idle = milliseconds(timeouts.idleSeconds)
  const listeners = listByteListeners(model).flatMap(({ cluster, direction, ...listener }) => {
    const way = [`default_backend ${cluster.name}`]
    return direction === 'inbound'
      ? renderEntry(model, { ...listener, way })
      : [[`frontend ${listener.name}`, ...listenAt(listener), ...way]]
  })
  return [
    [
      'defaults',
      'mode tcp',
      `timeout connect ${milliseconds(timeouts.connectSeconds)}`,
      ...[`timeout client ${idle}`, `timeout server ${idle}`],
      ...[`retries ${retries}`, 'option redispatch 1'],
    ],
    ...listeners,
    ...clusters.map(cluster => renderBackend(model, cluster, {})),
  ]
}
