import { createFileControl } from '../../model/file-control.js'
import { renderBootstrap } from './config.js'
import { createSidecar } from './launch.js'
import { renderRouteConfig } from './routes.js'
import { TYPE } from './shared.js'
import { OWN_SECRET, renderCertificate } from './tls.js'

/** Envoy watches a folder, and reads a file that is moved there; it does not notice a file that is written in place. */
/** @import { Control, SidecarOptions } from '../../model/types.ts' */

const FOLDER = 'routes'

export const fileControl = createFileControl({
  estimateNeeds,

  createSidecar: options => {
    const { model, profile, folder, isRotated } = options
    const name = chooseFileName(options)
    const source = {
      resource_api_version: 'V3',
      path_config_source: { path: `${folder}/${name}`, watched_directory: { path: `${folder}/${FOLDER}` } },
    }
    const sources = isRotated ? { certificate: source } : { outbound: source }
    return {
      ...createSidecar(options),
      files: [
        { name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, profile, sources), null, 2)}\n` },
        { name, content: renderFile(options, 0) },
      ],
    }
  },

  commit: (options, version) => [
    { kind: 'move', file: `${options.folder}/${chooseFileName(options)}`, content: renderFile(options, version) },
  ],
})

/**
 * Estimates the needs of a sidecar. Its private memory was measured with 1.40.0 and one worker at 0 and 1000 routes; workers share it.
 * @type {NonNullable<Control['estimateNeeds']>}
 */
export function estimateNeeds({ configuredServices, workers }) {
  return { sidecarBytes: 22e6 + 75e3 * configuredServices, controlBytes: 0, threads: 11 + workers, inotifyInstances: 1 }
}

/** @param {SidecarOptions} options */
function chooseFileName({ isRotated }) {
  return `${FOLDER}/${isRotated ? 'certificate' : 'outbound'}.json`
}

/**
 * Renders the routes or, for a sidecar whose certificate is rotated, that certificate.
 * @param {SidecarOptions} options
 * @param {number} version
 */
function renderFile({ model, isRotated }, version) {
  const resource = isRotated
    ? {
        '@type': `${TYPE}envoy.extensions.transport_sockets.tls.v3.Secret`,
        name: OWN_SECRET,
        tls_certificate: renderCertificate(model.trust),
      }
    : { '@type': `${TYPE}envoy.config.route.v3.RouteConfiguration`, ...renderRouteConfig(model, 'outbound') }
  return `${JSON.stringify({ version_info: `${version}`, resources: [resource] })}\n`
}
