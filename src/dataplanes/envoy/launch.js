import { renderBootstrap } from './config.js'
import { OVERFLOW_PATH } from './counters.js'

/**
 * @import { ProcessSpec, SidecarOptions } from '../../model/types.ts'
 */

/**
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar({ model, folder, tool, envoyProfile, nodeCpus, hasOwnWorkers, cpuCores }) {
  // OSM 1.1 gave no --concurrency: as many workers as the node has CPUs, whatever the cap.
  const workers = envoyProfile === 'osm-1.1' && !hasOwnWorkers ? nodeCpus : model.workers
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv: ['-c', `${folder}/envoy.json`, '--concurrency', `${workers}`, '--disable-hot-restart', '-l', 'error'],
    env: {},
    folder,
    files: [{ name: 'envoy.json', content: `${JSON.stringify(renderBootstrap(model, envoyProfile), null, 2)}\n` }],
    scripts: [],
    credentials: Object.values(model.trust),
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: { ...model.admin, path: OVERFLOW_PATH },
    image: tool.image ?? null,
  }
}
