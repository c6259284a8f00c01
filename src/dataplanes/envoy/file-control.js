import { reloads } from './reload.js'

/**
 * Envoy's configuration from the file system as its control plane: nothing runs beside the sidecars, each watches a
 * folder of its own.
 * @import { Control } from '../../model/types.ts'
 */

/** @type {Control} */
export const fileControl = {
  name: 'files',

  findUnsupported: () => null,

  // Measured with 1.40.0, one worker: private memory at 0 and 1000 routes, which the workers share.
  needsOf: ({ configuredServices, workers }) => ({
    sidecarBytes: 22e6 + 75e3 * configuredServices,
    controlBytes: 0,
    threads: 11 + workers,
  }),

  createProcess: null,
  setUp: () => [],
  enrol: () => [],
  createSidecar: options => reloads.createSidecar(options),
  stage: () => [],
  commit: (options, version) => reloads.change(options, version),
}
