import { isRedirected } from '../model/arms.js'
import { locateCertificates } from '../model/certificate-files.js'
import { hasUpstreamCalls } from '../model/pipeline-traffic.js'
import { createProcess } from '../model/processes.js'
import { KIT_NODE, NODE_PROXY, PORTS } from '../model/sidecar-contract.js'
import { findArmPipeline } from '../model/tools.js'
import { createServiceApplication } from './applications.js'
import {
  chooseControl,
  createControlOptions,
  createControlPlane,
  createMember,
  createRotatedMember,
} from './control.js'
import { hasNodeProxy } from './profiles.js'
import { createServiceSidecarOptions } from './sidecar-options.js'

/**
 * The processes of an arm. Pure.
 * @import { Arm, EndingStep, Endpoint, Place, ProcessSpec, Programs, Service, Topology, TrafficPolicy } from '../model/types.ts'
 * @import { Version } from './control.js'
 */

/**
 * @typedef {object} ServiceFolders
 * @property {string} process of the processes' files
 * @property {string} scripts that Pipy runs as a sidecar
 * @property {string} echo of the applications' scripts
 * @property {string} certificates of all key types
 */

/**
 * @typedef {object} ArmServices
 * @property {Arm} arm
 * @property {Topology} topology
 * @property {Record<string, Place>} places
 * @property {Pick<Programs, 'planes' | 'tools' | 'appRuntime' | 'pipelines'>} programs
 * @property {ServiceFolders} folders
 * @property {(folder: string) => string} locate gives the path of a folder as processes see it
 * @property {Record<string, string>} scriptFiles the texts of the folder of scripts, by their path in it: for control planes that hand
 *   them out, and sidecars that have them among their own files
 * @property {TrafficPolicy} trafficPolicy
 * @property {number} cpus of the machine
 */

/**
 * A sidecar whose configuration is changed while it serves, with its control plane.
 * @typedef {ReturnType<typeof createControlledSidecar>} Controlled
 */

/**
 * The end of a sidecar in the window.
 * @typedef {object} Ending
 * @property {ProcessSpec} spec of its process
 * @property {Version | null} notice the change, made before, by which its client stops calling it; null: the client gets none
 * @property {EndingStep[]} steps
 * @property {{ endpoint: Endpoint, host: string, client: string | null }} server endpoint: of the ending sidecar itself, with the
 *   host to ask for; client: the service that calls it; null: the load does
 */

/**
 * Creates the processes of an arm, except its control plane.
 * @param {ArmServices} services
 * @returns {{ specs: ProcessSpec[], controlled: Controlled | null, ending: Ending | null }} controlled: null: no
 *   sidecar is changed under load; ending: null: none ends in the window; the processes of both are also in specs
 * @throws {BenchError} if the plane names no program for its sidecars, the arm has a feature that the kit does not know, or the sidecar
 *   that is to be changed has no connections of the kind that the change concerns
 * @throws {Error} as the plane's `createSidecar`, `createCompanions` or `createNodeProxy`
 */
export function createSpecs(services) {
  const { arm, topology, programs } = services
  const entry = /** @type {Service} */ (topology.services.find(({ name }) => name === topology.entry.service))
  const controlled = arm.conditions.changesPerMinute === null ? null : createControlledSidecar(entry, services)
  const pipeline = findArmPipeline(programs, arm)
  // A pipeline that answers by itself gets no application.
  const isCalled = !pipeline || hasUpstreamCalls(pipeline)
  const nodeProxy = hasNodeProxy(programs.planes, arm) ? createNodeProxySpecs(services, { isCalled }) : []
  const neighbour = createNeighbour(services)
  const context = { ...services, controlled, isCalled }
  const created = topology.services.map(service => createServiceProcesses(service, context))
  return {
    specs: [...created.flatMap(({ specs }) => specs), ...nodeProxy, ...(neighbour ? [neighbour] : [])],
    controlled,
    // The last sidecar is the one that ends.
    ending: created.at(-1)?.ending ?? null,
  }
}

// Without sidecars, rules that redirect nothing make the kernel track connections as in the other arms.
const NO_REDIRECTS = { inbound: null, outbound: null }

/**
 * Creates the application of a service, and its own sidecar with the companions, if the plane has one for each service.
 * @param {Service} service
 * @param {ArmServices & { controlled: Controlled | null, isCalled: boolean }} services controlled: the sidecar of the entry; isCalled:
 *   requests reach the applications
 * @returns {{ specs: ProcessSpec[], ending: Ending | null }} specs: []: the service has neither; ending: null: the sidecar does not end in
 *   the window
 * @throws {Error} as `createSpecs`
 */
function createServiceProcesses(service, { controlled, isCalled, ...services }) {
  const { arm, topology, programs } = services
  const { createSidecar, createCompanions } = programs.planes[arm.plane]
  const copyOf = service.copyOf ?? service.pairOf
  const applications = service.application && isCalled ? [createServiceApplication(service, services)] : []
  if (!createSidecar || hasNodeProxy(programs.planes, arm)) {
    const rules = !createSidecar && isRedirected(arm.conditions) && { redirects: NO_REDIRECTS }
    return { specs: applications.map(spec => ({ ...spec, ...rules, copyOf })), ending: null }
  }
  const options = createServiceSidecarOptions(service, services)
  const isControlled = controlled !== null && service.name === topology.entry.service
  const sidecar = isControlled ? controlled.member.spec : createSidecar(options)
  const isEnding = arm.conditions.ending !== undefined && service === topology.services.at(-1)
  const ending = isEnding ? createEnding(sidecar, { ...services, service, controlled }) : null
  const servingSidecar = isCalled ? { ...sidecar, passages: countPassages(service) } : sidecar
  const specs = [...applications, ...(createCompanions?.(options) ?? []), ending?.spec ?? servingSidecar]
  return { specs: specs.map(spec => ({ ...spec, copyOf })), ending }
}

/**
 * Creates the proxy that serves all pods, and the processes that it needs.
 * @param {ArmServices} services
 * @param {{ isCalled: boolean }} options isCalled: requests reach the applications
 * @returns {ProcessSpec[]} []: the plane has no such proxy
 * @throws {BenchError} as `createServiceSidecarOptions`
 * @throws {Error} as the plane's `createNodeProxy`
 */
function createNodeProxySpecs(services, { isCalled }) {
  const { arm, topology, programs, folders, locate } = services
  const options = topology.services.map(service => createServiceSidecarOptions(service, services))
  const folder = locate(`${folders.process}/${NODE_PROXY}`)
  const specs = programs.planes[arm.plane].createNodeProxy?.(options, folder) ?? []
  // A spec with pods has one for each service, in their order.
  const servicePods = topology.services.map(service => ({
    copyOf: service.copyOf ?? service.pairOf,
    ...(isCalled && { passages: countPassages(service) }),
  }))
  return specs.map(({ pods, ...spec }) => ({
    ...spec,
    ...(pods && { pods: pods.map((pod, i) => ({ ...pod, ...servicePods[i] })) }),
  }))
}

/**
 * Counts how often a request passes a service's sidecar: once inbound to an application, once outbound to a callee.
 * @param {Service} service
 * @returns {number} 0 to 2
 */
function countPassages({ application, calls }) {
  return (application ? 1 : 0) + (calls.length > 0 ? 1 : 0)
}

/** The service name of the process that burns CPU beside the services. */
export const NEIGHBOUR = 'neighbour'

/**
 * Creates the process that burns CPU beside the services.
 * @param {ArmServices} services
 * @returns {ProcessSpec | null} null: the conditions have no neighbour
 */
function createNeighbour({ arm, folders, locate }) {
  const { neighbourCores } = arm.conditions
  if (neighbourCores === undefined) return null
  return createProcess({
    service: NEIGHBOUR,
    role: 'neighbour',
    program: KIT_NODE,
    argv: ['src/node/neighbour.js', `${neighbourCores}`],
    folder: locate(`${folders.process}/${NEIGHBOUR}`),
    listens: [],
    workers: 0,
  })
}

/** The CPU request of the load, as a multiple of the machine's CPUs. */
const LOAD_REQUEST_TIMES = 16

/**
 * Chooses the CPU request of a process. A neighbour requests what it burns, and a sidecar what the conditions say. All others request all
 * CPUs, as does a sidecar without a request of its own. The load requests LOAD_REQUEST_TIMES as much: it stands for clients elsewhere, and
 * a load that waits for a CPU starts requests late. Beside a neighbour, a baseline without sidecars has the same weights as the other arms.
 * @param {Pick<Arm, 'conditions'>} arm
 * @param {{ role: ProcessSpec['role'], cpus: number }} options cpus: of the machine
 * @returns {number | undefined} cores; undefined: the default, as the conditions have no request and no neighbour
 */
export function chooseCpuRequest({ conditions: { cpuRequestCores, neighbourCores } }, { role, cpus }) {
  if (cpuRequestCores === undefined && neighbourCores === undefined) return undefined
  if (role === 'neighbour') return neighbourCores
  if (role === 'generator') return LOAD_REQUEST_TIMES * cpus
  return role === 'sidecar' ? (cpuRequestCores ?? cpus) : cpus
}

/**
 * Creates the end of a sidecar: by its plane's graceful steps, if it has them and the conditions do not say
 * `sigterm`; else by SIGTERM.
 * @param {ProcessSpec} spec of the sidecar
 * @param {ArmServices & { service: Service, controlled: Controlled | null }} services
 * @returns {Ending} notice: null: the conditions do not say `told`, or no sidecar is changed
 * @throws {BenchError} as `createMember`, for the notice
 */
function createEnding(spec, { service, controlled, arm, topology, places, programs }) {
  const { name, copyOf = name } = service
  const { endGracefully } = programs.planes[arm.plane]
  /** @type {ReturnType<NonNullable<typeof endGracefully>>} */
  const { steps, spec: endingSpec } =
    arm.conditions.ending !== 'sigterm' && endGracefully
      ? endGracefully(spec)
      : { spec, steps: [{ kind: 'signal', signal: 'SIGTERM' }] }
  const client = topology.services.find(({ calls }) => calls.includes(copyOf))?.name ?? null
  const endpoint = { address: places[name].reach, port: PORTS.inbound }
  const notice = arm.conditions.ending === 'told' ? (controlled?.createRemoval(endpoint.address) ?? null) : null
  return { spec: { ...endingSpec, ends: true }, notice, steps, server: { endpoint, host: copyOf, client } }
}

/**
 * Lists the endpoints that processes have at the `listen` address of their place. Others, such as those for use inside of a pod, are left
 * out.
 * @param {ProcessSpec[]} specs of services that have a place
 * @param {Record<string, Place>} places
 * @returns {Endpoint[]} as other places reach them; []: there are none
 */
export function listReachableEndpoints(specs, places) {
  return specs.flatMap(({ service, listens }) =>
    listens
      .filter(({ address }) => address === places[service].listen)
      .map(({ port }) => ({ address: places[service].reach, port })),
  )
}

/**
 * Creates a sidecar that is changed under load, in its routes or its certificate, with its control plane.
 * @param {Service} service whose sidecar it is
 * @param {ArmServices} services
 * @returns control, setUp: of the control plane (createControlPlane); member: the sidecar; createRemoval: creates version 1, after which
 *   the sidecar no longer calls an address (throws as `createMember`)
 * @throws {BenchError} if the plane names no program, the arm has a feature that the kit does not know, or the sidecar has no connections
 *   of the kind that the change concerns
 * @throws {Error} as `control.createSidecar`
 */
function createControlledSidecar(service, services) {
  const { control, controlTool } = chooseControl(services.programs, services.arm)
  const controlledServices = { ...services, control, controlTool }
  const options = { ...createServiceSidecarOptions(service, services), ...createControlOptions(controlledServices) }
  const { changed, tls } = services.arm.conditions
  const certificates = services.locate(locateCertificates(services.folders.certificates, tls))
  const member =
    changed === 'certificate' ? createRotatedMember(control, options, certificates) : createMember(control, options)
  return {
    ...createControlPlane(controlledServices),
    member,
    createRemoval: (/** @type {string} */ address) => {
      const clusters = options.model.clusters.map(cluster => ({
        ...cluster,
        endpoints: cluster.endpoints.filter(endpoint => endpoint.address !== address),
      }))
      return createMember(control, { ...options, model: { ...options.model, clusters } }).changeTo(1)
    },
  }
}
