import { createFileControl } from '../../model/file-control.js'
import { renderBootstrap } from './config.js'
import { createSidecar } from './launch.js'
import { renderRouteConfig } from './routes.js'
import { TYPE } from './shared.js'

/** Envoy watches a folder, and takes the routes of a file that is moved there, not of one written in place. */
/** @import { Control, SidecarModel } from '../../model/types.ts' */

export const fileControl = createFileControl({
  needsOf,

  createSidecar: options => {
    const { model, folder, profile } = options
    const outbound = {
      resource_api_version: 'V3',
      path_config_source: { path: routesFileIn(folder), watched_directory: { path: `${folder}/routes` } },
    }
    return {
      ...createSidecar(options),
      files: [
        { name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, profile, { outbound }), null, 2)}\n` },
        { name: 'routes/outbound.json', content: renderRoutesFile(model, 0) },
      ],
    }
  },

  commit: ({ model, folder }, version) => [
    { kind: 'move', file: routesFileIn(folder), content: renderRoutesFile(model, version) },
  ],
})

/**
 * Measured with 1.40.0, one worker: private memory at 0 and 1000 routes, which the workers share.
 * @type {NonNullable<Control['needsOf']>}
 */
export function needsOf({ configuredServices, workers }) {
  return { sidecarBytes: 22e6 + 75e3 * configuredServices, controlBytes: 0, threads: 11 + workers, inotifyInstances: 1 }
}

/** @param {string} folder */
function routesFileIn(folder) {
  return `${folder}/routes/outbound.json`
}

/** @param {SidecarModel} model @param {number} version */
function renderRoutesFile(model, version) {
  const type = `${TYPE}envoy.config.route.v3.RouteConfiguration`
  const resources = [{ '@type': type, ...renderRouteConfig(model, 'outbound') }]
  return `${JSON.stringify({ version_info: `${version}`, resources })}\n`
}
