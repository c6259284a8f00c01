import { renderConfig } from './config.js'

/**
 * @import { ProcessSpec, SidecarOptions } from '../../model/types.ts'
 */

/**
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar({ model, folder, tool, cpuCores }) {
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv: ['-c', `${folder}/nginx.conf`, '-e', 'stderr'],
    env: {},
    folder,
    files: [{ name: 'nginx.conf', content: renderConfig(model) }],
    scripts: [],
    credentials: [model.trust.caPath, model.trust.certificatePath, model.trust.keyPath],
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers: model.workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: { ...model.admin, path: '/' },
    image: tool.image ?? null,
  }
}
