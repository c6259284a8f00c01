import { renderFiles } from './config.js'
import { createSidecar } from './launch.js'

/**
 * HAProxy reads its configuration again where a master watches over it: at SIGUSR2 the master starts another worker, which
 * is handed the listening sockets, and the old one ends with its last connection (HAProxy's Management Guide, 4).
 * @import { ReloadOptions, Reloads } from '../../model/types.ts'
 */

/** @type {Reloads} */
export const reloads = {
  createControl: null,

  setUp: () => [],

  createSidecar: options => {
    const spec = createSidecar(options)
    return { ...spec, argv: ['-W', ...spec.argv, '-p', pidFileOf(options)] }
  },

  change: options => [
    ...renderFiles(options.model, options.folder).map(({ name, content }) => ({
      kind: /** @type {const} */ ('move'),
      file: `${options.folder}/${name}`,
      content,
    })),
    { kind: 'signal', pidFile: pidFileOf(options), signal: 'SIGUSR2' },
  ],
}

/** @param {ReloadOptions} options */
function pidFileOf({ folder }) {
  return `${folder}/haproxy.pid`
}
