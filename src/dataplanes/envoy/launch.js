import { createSidecarProcess } from '../../model/processes.js'
import { renderBootstrap } from './config.js'
import { OVERFLOW_PATH } from './counters.js'
import { FLUSH_MS } from './features.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

/** @param {SidecarOptions} options @returns {ProcessSpec} */
export function createSidecar(options) {
  const { model, folder, profile } = options
  const flush = model.features['access-log'] ? ['--file-flush-interval-msec', `${FLUSH_MS}`] : []
  return createSidecarProcess(options, {
    argv: [
      ...['-c', `${folder}/envoy.json`, '--concurrency', `${model.workers}`, '--disable-hot-restart', '-l', 'error'],
      ...flush,
    ],
    files: [{ name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, profile), null, 2)}\n` }],
    admin: { ...model.admin, path: OVERFLOW_PATH },
  })
}
