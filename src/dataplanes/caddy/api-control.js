import { createFileControl } from '../../model/file-control.js'
import { createSidecar } from './launch.js'

/** @import { SidecarOptions } from '../../model/types.ts' */

/** Caddy takes a whole configuration at its administration port, and ends the servers of the one before. */
export const apiControl = createFileControl({
  name: 'api',
  createSidecar: createSidecarWithAdmin,
  commit: options => [
    {
      kind: 'request',
      endpoint: options.model.admin,
      method: 'POST',
      path: '/load',
      body: createSidecarWithAdmin(options).files[0].content,
    },
  ],
})

/**
 * Creates a Caddy whose administration port is open. Its first file is its configuration.
 * @param {SidecarOptions} options
 * @throws {BenchError} as `createSidecar`
 */
function createSidecarWithAdmin(options) {
  return createSidecar(options, { hasAdmin: true })
}
