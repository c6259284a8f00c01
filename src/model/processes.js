import { z } from 'zod'
import { BenchError } from '../lib/errors.js'
import { listByteListeners } from './byte-listeners.js'
import { renderRouteName } from './routes.js'

/**
 * Processes as plain data. Pure.
 * @import { ControlOptions, ProcessSpec, Route, SidecarModel, SidecarOptions } from './types.ts'
 */

/**
 * Creates a process with defaults: one worker, no limits, and no environment, files, scripts, credentials, administration port
 * or image.
 * @param {Pick<ProcessSpec, 'service' | 'role' | 'program' | 'argv' | 'folder' | 'listens'> & Partial<ProcessSpec>} overrides
 * @returns {ProcessSpec}
 */
export function createProcess(overrides) {
  const unlimited = { cpuLimitCores: null, memoryLimitBytes: null, cpuSet: null }
  return {
    env: {},
    files: [],
    scripts: [],
    credentials: [],
    workers: 1,
    ...unlimited,
    admin: null,
    image: null,
    ...overrides,
  }
}

/**
 * Creates the process of a sidecar from its model; the overrides of its plane win.
 * @param {SidecarOptions} options
 * @param {Pick<ProcessSpec, 'argv' | 'files' | 'admin'> & Partial<ProcessSpec>} overrides
 * @returns {ProcessSpec}
 * @throws {BenchError} for a limit or route of the model that some plane cannot have
 */
export function createSidecarProcess({ model, folder, tool, cpuLimitCores }, overrides) {
  assertLimits(model)
  const { service, trust, workers, inbound, outbound } = model
  const isRedirected = [inbound, outbound].some(listener => listener?.redirectedPorts)
  const listeners = model.carriesBytes ? listByteListeners(model) : [inbound, outbound]
  const findRedirectPort = (/** @type {typeof inbound | typeof outbound} */ listener) =>
    listener?.redirectedPorts ? listener.port : null
  return createProcess({
    service,
    role: 'sidecar',
    program: tool.path,
    folder,
    credentials: [trust.caPath, trust.certificatePath, trust.keyPath],
    listens: listeners.flatMap(listener => (listener ? [{ address: listener.address, port: listener.port }] : [])),
    workers,
    cpuLimitCores,
    image: tool.image ?? null,
    ...(isRedirected && { redirects: { inbound: findRedirectPort(inbound), outbound: findRedirectPort(outbound) } }),
    ...overrides,
  })
}

/**
 * Creates the process of a control plane, as the service `mesh`; the overrides of its plane win.
 * @param {ControlOptions} options
 * @param {Pick<ProcessSpec, 'argv'> & Partial<ProcessSpec>} overrides
 * @returns {ProcessSpec}
 */
export function createControlProcess({ control, controlTool, folder }, overrides) {
  return createProcess({
    service: 'mesh',
    role: 'control',
    program: controlTool.path,
    folder,
    listens: [control],
    image: controlTool.image ?? null,
    ...overrides,
  })
}

// No plane can have a bucket or a circuit of size 0.
const count = z.int().min(1, 'at least 1 is needed')
const retryBudget = z.object({ share: z.number().min(0).max(1), minConcurrent: z.int().min(0) })
const ejection = z.object({
  consecutiveFailures: count,
  baseSeconds: count,
  maxShare: z.number().min(0).lt(1, 'less than 1 is needed, or no endpoint might be left'),
})
const direction = z.object({ routes: z.array(z.object({ limitPerSecond: count.optional() })) }).nullable()
const limits = z.object({
  inbound: direction,
  outbound: direction,
  clusters: z.array(
    z.object({ maxRequests: count.optional(), retryBudget: retryBudget.optional(), ejection: ejection.optional() }),
  ),
  features: z.object({
    'rate-limit': z.object({ perSecond: count }).optional(),
    'circuit-breaker': z.object({ maxRequests: count }).optional(),
    'retry-budget': retryBudget.optional(),
    'outlier-ejection': ejection.optional(),
  }),
})

/**
 * Asserts that every plane can have the limits and routes of a model. Those of a model without features are not checked.
 * @param {SidecarModel} model
 * @throws {BenchError} that names the first invalid limit or route
 */
function assertLimits(model) {
  // A lean sidecar may know thousands of clusters, and reads no limit of theirs.
  if (Object.keys(model.features).length === 0) return
  const issue = limits.safeParse(model).error?.issues[0]
  if (issue) throw new BenchError(`describe the sidecar of ${model.service}: ${issue.path.join('.')}: ${issue.message}`)
  for (const direction of /** @type {const} */ (['inbound', 'outbound'])) {
    const fault = findRouteFault(direction, model[direction]?.routes ?? [], model.features)
    if (fault) throw new BenchError(`describe the sidecar of ${model.service}: ${direction}.routes: ${fault}`)
  }
}

/**
 * Finds the reason why some plane cannot count or limit requests by these routes.
 * @param {'inbound' | 'outbound'} direction
 * @param {Route[]} routes
 * @param {SidecarModel['features']} features
 * @returns {string | null} null: all can, or the features neither count nor limit by route
 */
function findRouteFault(direction, routes, { metrics, 'rate-limit': limit }) {
  if (!metrics && !limit) return null
  /** @type {Set<string>} */
  const names = new Set()
  for (const route of routes) {
    const name = renderRouteName(direction, route)
    if (names.has(name)) return `two are counted as ${name}: give one another host, path or header`
    names.add(name)
  }
  // Envoy would make a bucket of that route for each host, and other planes share one.
  const isShared = limit && routes.some(({ host, limitPerSecond }) => host === null && limitPerSecond !== undefined)
  return isShared && routes.some(({ host }) => host !== null)
    ? 'a route for any host has a limit beside routes with a host: limit those with a host only'
    : null
}
