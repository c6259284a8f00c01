import { createFileControl } from '../../model/file-control.js'
import { renderBootstrap } from './config.js'
import { createSidecar, estimateSidecarNeeds } from './launch.js'
import { renderRouteConfig } from './routes.js'
import { TYPE } from './shared.js'
import { OWN_SECRET, renderCertificate } from './tls.js'

/** @import { SidecarOptions } from '../../model/types.ts' */

const FOLDER = 'routes'

/** Envoy watches a folder, and reads a file that is moved there; it does not notice a file that is written in place. */
export const fileControl = createFileControl({
  estimateNeeds: estimateSidecarNeeds,

  createSidecar: options => {
    const { model, profile, folder, isRotated } = options
    const name = chooseWatchedFile(options)
    const source = {
      resource_api_version: 'V3',
      path_config_source: { path: `${folder}/${name}`, watched_directory: { path: `${folder}/${FOLDER}` } },
    }
    const sources = isRotated ? { certificate: source } : { outbound: source }
    return {
      ...createSidecar(options),
      files: [
        { name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, profile, sources), null, 2)}\n` },
        { name, content: renderWatchedFile(options, 0) },
      ],
    }
  },

  commit: (options, version) => {
    const file = `${options.folder}/${chooseWatchedFile(options)}`
    return [{ kind: 'move', file, content: renderWatchedFile(options, version) }]
  },
})

/** Chooses the file that Envoy watches: its path in the sidecar's folder. @param {SidecarOptions} options */
function chooseWatchedFile({ isRotated }) {
  return `${FOLDER}/${isRotated ? 'certificate' : 'outbound'}.json`
}

/**
 * Renders the file of a version: the outbound routes or, for a sidecar whose certificate is rotated, that certificate.
 * @param {SidecarOptions} options
 * @param {number} version 0: the first
 * @returns {string} the JSON of a DiscoveryResponse of Envoy's v3 API
 */
function renderWatchedFile({ model, isRotated }, version) {
  const resource = isRotated
    ? {
        '@type': `${TYPE}envoy.extensions.transport_sockets.tls.v3.Secret`,
        name: OWN_SECRET,
        tls_certificate: renderCertificate(model.trust),
      }
    : { '@type': `${TYPE}envoy.config.route.v3.RouteConfiguration`, ...renderRouteConfig(model, 'outbound') }
  return `${JSON.stringify({ version_info: `${version}`, resources: [resource] })}\n`
}
