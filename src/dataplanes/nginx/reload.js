import { renderConfig } from './config.js'
import { createSidecar } from './launch.js'

/**
 * nginx reads its configuration again at SIGHUP: new workers take the listening sockets, and the old ones end with their
 * last request.
 * @import { Reloads } from '../../model/types.ts'
 */

/** @type {Reloads} */
export const reloads = {
  createControl: null,

  setUp: () => [],

  createSidecar,

  change: ({ model, folder }) => [
    { kind: 'move', file: `${folder}/nginx.conf`, content: renderConfig(model) },
    { kind: 'signal', pidFile: `${folder}/nginx.pid`, signal: 'SIGHUP' },
  ],
}
