import { renderBootstrap } from './config.js'
import { OVERFLOW_PATH } from './counters.js'
import { FLUSH_MS } from './features.js'

/**
 * @import { ProcessSpec, SidecarOptions } from '../../model/types.ts'
 */

/**
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar({ model, folder, tool, profile, cpuCores }) {
  const flush = model.features['access-log'] ? ['--file-flush-interval-msec', `${FLUSH_MS}`] : []
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv: [
      ...['-c', `${folder}/envoy.json`, '--concurrency', `${model.workers}`, '--disable-hot-restart', '-l', 'error'],
      ...flush,
    ],
    env: {},
    folder,
    files: [{ name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, profile), null, 2)}\n` }],
    scripts: [],
    credentials: [model.trust.caPath, model.trust.certificatePath, model.trust.keyPath],
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers: model.workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: { ...model.admin, path: OVERFLOW_PATH },
    image: tool.image ?? null,
  }
}
