import { createFileControl } from '../../model/file-control.js'
import { createSidecar } from './launch.js'

/** @import { SidecarOptions } from '../../model/types.ts' */

/** Caddy takes a whole configuration at its administration port, and ends the servers of the one before. */
export const apiControl = createFileControl({
  name: 'api',
  createSidecar: createOpenSidecar,
  commit: options => [
    {
      kind: 'request',
      endpoint: options.model.admin,
      method: 'POST',
      path: '/load',
      body: createOpenSidecar(options).files[0].content,
    },
  ],
})

/**
 * Creates a sidecar with an open administration port, which takes configurations while it serves.
 * @param {SidecarOptions} options
 */
function createOpenSidecar(options) {
  return createSidecar(options, { hasAdmin: true })
}
