import { createSidecarProcess } from '../../model/processes.js'
import { renderConfig } from './config.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

const HERE = '/proc/self/cwd'

/**
 * Creates a Caddy that reads its configuration from its only file.
 * @param {SidecarOptions} options
 * @param {{ hasAdmin?: boolean }} [config] hasAdmin: with an open administration port, which takes configurations while it serves; false by
 *   default
 * @returns {ProcessSpec}
 * @throws {BenchError} if the model has a limit that some plane cannot have
 */
export function createSidecar(options, config) {
  const { model, folder } = options
  return createSidecarProcess(options, {
    argv: ['run', '--config', `${folder}/caddy.json`],
    // Caddy writes to its working directory: the folder of its configuration may be read-only.
    env: { GOMAXPROCS: `${model.workers}`, XDG_DATA_HOME: HERE, XDG_CONFIG_HOME: HERE },
    files: [{ name: 'caddy.json', content: `${JSON.stringify(renderConfig(model, config), null, 2)}\n` }],
    // All threads of a program in Go accept at one socket.
    workers: 1,
    admin: null,
  })
}
