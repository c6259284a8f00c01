import { createSidecarProcess } from '../../model/processes.js'
import { renderConfig } from './config.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

/**
 * Creates the process of an nginx sidecar, which logs to stderr also before it has read its configuration.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 * @throws {BenchError} if the model has a limit that some plane cannot have
 */
export function createSidecar(options) {
  const { model, folder } = options
  return createSidecarProcess(options, {
    argv: ['-c', `${folder}/nginx.conf`, '-e', 'stderr'],
    files: [{ name: 'nginx.conf', content: renderConfig(model) }],
    admin: { ...model.admin, path: '/' },
  })
}
