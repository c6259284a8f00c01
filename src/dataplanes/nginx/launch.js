import { createSidecarProcess } from '../../model/processes.js'
import { renderConfig } from './config.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

/**
 * Creates an nginx, which logs to stderr from its start.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar(options) {
  const { model, folder } = options
  return createSidecarProcess(options, {
    argv: ['-c', `${folder}/nginx.conf`, '-e', 'stderr'],
    files: [{ name: 'nginx.conf', content: renderConfig(model) }],
    admin: { ...model.admin, path: '/' },
  })
}
