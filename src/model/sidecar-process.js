import { assertLimits } from './limits.js'

/** @import { ProcessSpec, SidecarOptions } from './types.ts' */

/**
 * The process of a sidecar: what is the same whatever plane it is of, and what is the plane's own.
 * @param {SidecarOptions} options
 * @param {Pick<ProcessSpec, 'argv' | 'files' | 'admin'> & Partial<ProcessSpec>} own
 * @returns {ProcessSpec}
 * @throws {import('../lib/errors.js').BenchError} for a limit of the model that a plane cannot be given
 */
export function createSidecarProcess({ model, folder, tool, cpuCores }, { argv, files, admin, ...own }) {
  assertLimits(model)
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv,
    env: {},
    folder,
    files,
    scripts: [],
    credentials: [model.trust.caPath, model.trust.certificatePath, model.trust.keyPath],
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers: model.workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin,
    image: tool.image ?? null,
    ...own,
  }
}
