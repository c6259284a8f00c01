import { listByteListeners } from './byte-listeners.js'
import { assertLimits } from './limits.js'

/** Processes as plain data. Pure. @import { ControlOptions, ProcessSpec, SidecarOptions } from './types.ts' */

/**
 * Fills in defaults: one worker, no limits, and nothing to read.
 * @param {Pick<ProcessSpec, 'service' | 'role' | 'program' | 'argv' | 'folder' | 'listens'> & Partial<ProcessSpec>} own
 * @returns {ProcessSpec}
 */
export function createProcess({ service, role, program, argv, folder, listens, ...own }) {
  return {
    service,
    role,
    program,
    argv,
    env: {},
    folder,
    files: [],
    scripts: [],
    credentials: [],
    listens,
    workers: 1,
    cpuCores: null,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: null,
    image: null,
    ...own,
  }
}

/**
 * Makes the process of a sidecar of any plane from the plane's own parts.
 * @param {SidecarOptions} options @param {Pick<ProcessSpec, 'argv' | 'files' | 'admin'> & Partial<ProcessSpec>} own
 * @throws {import('../lib/errors.js').BenchError} for a limit of the model that a plane cannot be given
 */
export function createSidecarProcess({ model, folder, tool, cpuCores }, own) {
  assertLimits(model)
  const { service, trust, workers, inbound, outbound } = model
  const isRedirected = [inbound, outbound].some(listener => listener?.redirectedPorts)
  const listeners = model.carriesBytes ? listByteListeners(model) : [inbound, outbound]
  const portOf = (/** @type {typeof inbound | typeof outbound} */ l) => (l?.redirectedPorts ? l.port : null)
  return createProcess({
    service,
    role: 'sidecar',
    program: tool.path,
    folder,
    credentials: [trust.caPath, trust.certificatePath, trust.keyPath],
    listens: listeners.flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers,
    cpuCores,
    image: tool.image ?? null,
    ...(isRedirected && { redirects: { inbound: portOf(inbound), outbound: portOf(outbound) } }),
    ...own,
  })
}

/**
 * Makes the process of a control plane of any plane from the plane's own parts.
 * @param {ControlOptions} options @param {Pick<ProcessSpec, 'argv'> & Partial<ProcessSpec>} own
 */
export function createControlProcess({ control, controlTool, folder }, own) {
  return createProcess({
    service: 'mesh',
    role: 'control',
    program: controlTool.path,
    folder,
    listens: [control],
    image: controlTool.image ?? null,
    ...own,
  })
}
