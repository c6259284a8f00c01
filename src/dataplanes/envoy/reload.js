import { renderBootstrap, renderRoutes } from './config.js'
import { createSidecar } from './launch.js'

/**
 * Envoy watches a folder, and takes the routes of a file that is moved there (its route discovery service, from the
 * file system); a file written in place it does not notice.
 * @import { ReloadOptions, Reloads } from '../../model/types.ts'
 */

/** @type {Reloads} */
export const reloads = {
  createControl: null,

  setUp: () => [],

  createSidecar: options => {
    const { model, folder, profile } = options
    const spec = createSidecar(options)
    const routes = routesFileOf(options)
    return {
      ...spec,
      files: [
        {
          name: 'envoy.json',
          content: `${JSON.stringify(renderBootstrap(model, profile, `${folder}/routes`), null, 2)}\n`,
        },
        { name: 'routes/outbound.json', content: routes(0) },
      ],
    }
  },

  change: (options, version) => [
    { kind: 'move', file: `${options.folder}/routes/outbound.json`, content: routesFileOf(options)(version) },
  ],
}

/** @param {ReloadOptions} options */
function routesFileOf({ model }) {
  return (/** @type {number} */ version) => `${JSON.stringify(renderRoutes(model, version))}\n`
}
