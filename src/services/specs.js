import { locateAuthorityKey, locateCertificates, locateCredentials } from '../lib/certificate-files.js'
import { BenchError } from '../lib/errors.js'
import { isRedirected } from '../model/arms.js'
import { hasUpstreamCalls, hasUpstreamTls } from '../model/pipeline-traffic.js'
import { createProcess } from '../model/processes.js'
import { hasChunks } from '../model/requests.js'
import { GENERATOR, KIT_NODE, NODE_PROXY, PORTS } from '../model/sidecar-contract.js'
import { findSidecarTool } from '../model/tools.js'
import { listPaths } from '../model/traffic.js'
import { createApplication } from './applications.js'
import { chooseControl, createControlPlane, createMember, createRotatedMember, locateControl } from './control.js'
import { createModel, findNextHop } from './topology.js'

/**
 * The processes of an arm. Pure.
 * @import { Arm, DataPlane, DeployedProfile, EndingStep, Endpoint, Place, ProcessSpec, Programs, Service, SidecarOptions, Topology, TrafficPolicy } from '../model/types.ts'
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
 * @property {{ endpoint: Endpoint, host: string, client: string | null }} server its own endpoint, past its client's sidecar, and the
 *   service that calls it, null: the load does
 */

/**
 * Creates the processes of an arm, except its control plane.
 * @param {ArmServices} services
 * @returns {{ specs: ProcessSpec[], controlled: Controlled | null, ending: Ending | null }} controlled: null: no
 *   sidecar is changed under load; ending: null: none ends in the window; the processes of both are also in specs
 */
export function createSpecs(services) {
  const { arm, topology, programs } = services
  const { createSidecar, createCompanions } = programs.planes[arm.plane]
  const entry = /** @type {Service} */ (topology.services.find(({ name }) => name === topology.entry.service))
  const controlled = arm.conditions.changesPerMinute === null ? null : createControlledSidecar(entry, services)
  /** @type {Ending | null} */
  let ending = null
  const pipeline = findPipeline(programs, arm)
  // A pipeline that answers by itself gets no application.
  const isCalled = !pipeline || hasUpstreamCalls(pipeline)
  const isOfNode = hasNodeProxy(programs.planes, arm)
  const nodeProxy = isOfNode ? createNodeProxy(services, { isCalled }) : []
  const specs = topology.services.flatMap(service => {
    /** @type {ProcessSpec[]} */
    const processes = service.application && isCalled ? [createApplicationSpec(service, services)] : []
    // Without sidecars, rules that redirect nothing make the kernel track connections as in the other arms.
    const noRedirects = { inbound: null, outbound: null }
    if (!createSidecar && isRedirected(arm.conditions)) for (const spec of processes) spec.redirects = noRedirects
    if (createSidecar && !isOfNode) {
      const isControlled = controlled !== null && service === entry
      const options = createServiceSidecarOptions(service, services)
      const spec = isControlled ? controlled.member.spec : createSidecar(options)
      processes.push(...(createCompanions?.(options) ?? []))
      if (arm.conditions.ending && service === topology.services.at(-1)) {
        ending = createEnding(spec, { service, controlled, ...services })
        processes.push(ending.spec)
      } else if (isCalled) processes.push({ ...spec, passages: countPassages(service) })
      else processes.push(spec)
    }
    return processes.map(spec => ({ ...spec, copyOf: service.copyOf ?? service.pairOf }))
  })
  const neighbour = createNeighbour(services)
  return { specs: [...specs, ...nodeProxy, ...(neighbour ? [neighbour] : [])], controlled, ending }
}

/**
 * Creates the processes of a proxy that serves all pods.
 * @param {ArmServices} services
 * @param {{ isCalled: boolean }} options isCalled: requests reach the applications
 * @returns {ProcessSpec[]} []: the plane has no such proxy
 */
function createNodeProxy(services, { isCalled }) {
  const { arm, topology, programs, folders, locate } = services
  const options = topology.services.map(service => createServiceSidecarOptions(service, services))
  const folder = locate(`${folders.process}/${NODE_PROXY}`)
  const specs = programs.planes[arm.plane].createNodeProxy?.(options, folder) ?? []
  return specs.map(({ pods, ...spec }) => ({
    ...spec,
    ...(pods && {
      pods: pods.map((pod, i) => {
        const service = topology.services[i]
        return {
          ...pod,
          copyOf: service.copyOf ?? service.pairOf,
          ...(isCalled && { passages: countPassages(service) }),
        }
      }),
    }),
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

/**
 * Says whether one proxy serves all pods of an arm.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {boolean}
 */
export function hasNodeProxy(planes, arm) {
  return findDeployedProfile(planes, arm)?.isOfNode === true
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
const LOAD_TIMES = 16

/**
 * Chooses the CPU request of a process. A neighbour requests what it burns. Applications request all CPUs, and the
 * load many times as much: it stands for clients elsewhere, and a load that waits for a CPU starts requests late.
 * Beside a neighbour, a baseline without sidecars has the same weights as the arms with sidecars.
 * @param {Pick<Arm, 'conditions'>} arm
 * @param {{ role: ProcessSpec['role'], cpus: number }} options cpus: of the machine
 * @returns {number | undefined} cores; undefined: the default, as the conditions have no request and no neighbour
 */
export function chooseCpuRequest({ conditions: { cpuRequestCores, neighbourCores } }, { role, cpus }) {
  if (cpuRequestCores === undefined && neighbourCores === undefined) return undefined
  if (role === 'neighbour') return neighbourCores
  if (role === 'generator') return LOAD_TIMES * cpus
  return role === 'sidecar' ? (cpuRequestCores ?? cpus) : cpus
}

/**
 * Creates the end of a sidecar: by its plane's graceful steps, if it has them and the conditions do not say
 * `sigterm`; else by SIGTERM.
 * @param {ProcessSpec} spec of the sidecar
 * @param {ArmServices & { service: Service, controlled: Controlled | null }} services
 * @returns {Ending}
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
  const notice = (arm.conditions.ending === 'told' && controlled?.leave(endpoint.address)) || null
  return { spec: { ...endingSpec, ends: true }, notice, steps, server: { endpoint, host: copyOf, client } }
}

/**
 * Counts the workers of a sidecar: as the experiment says, else as the plane says, else one for each CPU of its CPU
 * limit, its pod or the machine.
 * @param {Pick<Arm, 'plane' | 'profile' | 'cpuLimitCores' | 'conditions'>} arm
 * @param {{ cpus: number, planes: Programs['planes'] }} options cpus: of the machine
 * @returns {number} at least 1
 */
export function countWorkers({ plane, profile, cpuLimitCores, conditions }, { cpus, planes }) {
  const workersOfPlane = planes[plane].countWorkers({ profile, cpus, cpuLimitCores })
  return conditions.workers ?? workersOfPlane ?? Math.max(1, Math.ceil(cpuLimitCores ?? conditions.podCpuCores ?? cpus))
}

/**
 * Lists the endpoints of processes that others can reach, without those for use inside of a pod.
 * @param {ProcessSpec[]} specs
 * @param {Record<string, Place>} places
 * @returns {Endpoint[]} as others reach them
 */
export function listReachableEndpoints(specs, places) {
  return specs.flatMap(({ service, listens }) =>
    listens
      .filter(({ address }) => address === places[service].listen)
      .map(({ port }) => ({ address: places[service].reach, port })),
  )
}

/**
 * Creates the application of a service.
 * @param {Service} service that has an application
 * @param {ArmServices} services
 * @returns {ProcessSpec}
 */
function createApplicationSpec(service, { arm, places, programs, folders, locate }) {
  const { name, application } = service
  const { hasSidecars } = arm
  const hops = { places, hasSidecars, isRedirected: isRedirected(arm.conditions) }
  const kind = /** @type {NonNullable<Service['application']>} */ (application)
  const isGrpc = arm.conditions.protocol === 'grpc'
  const { requests } = arm.load
  // The last application echoes a POST, or gives the answers that the kinds of requests name.
  const echoOrAnswer = kind === 'echo' && requests ? 'answer' : kind
  const pipeline = findPipeline(programs, arm)
  const hasTls = pipeline !== undefined && hasUpstreamTls(pipeline)
  const certificates = locate(locateCertificates(folders.certificates, arm.conditions.tls))
  const address = places[name][hasSidecars ? 'inside' : 'listen']
  // Scripts with fixed upstream ports call 127.0.0.1: the application listens there, in the same network namespace.
  const [listen = { address, port: PORTS.application }, ...others] =
    pipeline?.document.upstream?.ports?.map(port => ({ address: '127.0.0.1', port })) ?? []
  return createApplication({
    service: name,
    kind: isGrpc ? `grpc-${echoOrAnswer}` : hasTls ? 'tls-echo' : echoOrAnswer,
    requests,
    listen,
    others,
    // The application has the certificate of its service, as its sidecar has.
    ...(hasTls && { credentials: locateCredentials(name, certificates) }),
    next: application === 'forward' ? findNextHop(service, hops) : null,
    runtime: isServedByNode(arm) ? programs.tools.node : programs.appRuntime,
    scripts: locate(folders.echo),
    folder: locate(folders.process),
  })
}

/**
 * Says whether Node serves an arm's applications: Pipy cannot write an answer in chunks, and crashes if a gRPC call
 * is cancelled.
 * @param {Pick<Arm, 'load' | 'conditions'>} arm
 * @returns {boolean}
 */
export function isServedByNode({ load, conditions }) {
  return conditions.protocol === 'grpc' || hasChunks(load)
}

/**
 * Creates the options of a service's sidecar.
 * @param {Service} service
 * @param {ArmServices} services
 * @returns {SidecarOptions}
 * @throws {BenchError} if its plane names no program
 */
export function createServiceSidecarOptions(
  service,
  { arm, topology, places, programs, folders, locate, scriptFiles, ...services },
) {
  const { trafficPolicy, cpus } = services
  const { tls, protocol, configuredServices, features, changed } = arm.conditions
  const { tool, carriesBytesOnly } = programs.planes[arm.plane]
  const certificates = locate(locateCertificates(folders.certificates, tls))
  if (tool === null) throw new BenchError(`the plane ${arm.plane} has sidecars and names no program for them`)
  return {
    model: createModel(topology, {
      service,
      places,
      workers: countWorkers(arm, { cpus, planes: programs.planes }),
      trafficPolicy,
      certificates,
      tls,
      protocol: carriesBytesOnly ? 'tcp' : protocol,
      configuredServices,
      features,
      isRedirected: isRedirected(arm.conditions),
      paths: arm.load.traffic === undefined ? [] : listPaths(arm.load.requests ?? []),
      streamsAnswers: hasChunks(arm.load),
      // To see a certificate change, the prober connects with the identity of the load.
      client: arm.load.hasCertificate || changed === 'certificate' ? GENERATOR : null,
    }),
    folder: locate(`${folders.process}/${service.name}`),
    tool: findSidecarTool(programs.tools, { tool, variant: arm.variant }),
    scripts: locate(folders.scripts),
    scriptFiles,
    pipeline: findPipeline(programs, arm),
    profile: arm.profile,
    cpuLimitCores: arm.cpuLimitCores,
    authorityKeyPath: locateAuthorityKey(certificates),
  }
}

/**
 * Finds the pipeline of an arm.
 * @param {ArmServices['programs']} programs
 * @param {Arm} arm
 * @returns {NonNullable<Programs['pipelines']>[string] | undefined} undefined: its variant is no folder with a
 *   pipeline.yaml
 */
function findPipeline({ pipelines }, { variant }) {
  return pipelines?.[variant ?? '']
}

/**
 * Creates a sidecar that is changed under load, in its routes or its certificate, with its control plane.
 * @param {Service} service whose sidecar it is
 * @param {ArmServices} services
 * @returns control, setUp: of the control plane (createControlPlane); member: the sidecar; leave: creates the change
 *   after which the sidecar no longer calls an address
 */
function createControlledSidecar(service, services) {
  const withControl = { ...services, ...chooseControl(services.programs, services.arm) }
  const options = { ...createServiceSidecarOptions(service, services), ...locateControl(withControl) }
  const { changed, tls } = services.arm.conditions
  const certificates = services.locate(locateCertificates(services.folders.certificates, tls))
  const member =
    changed === 'certificate'
      ? createRotatedMember(withControl.control, options, certificates)
      : createMember(withControl.control, options)
  return {
    ...createControlPlane(withControl),
    member,
    /** Creates the change after which the sidecar no longer calls an address. @param {string} address */
    leave(address) {
      const clusters = options.model.clusters.map(cluster => {
        return { ...cluster, endpoints: cluster.endpoints.filter(e => e.address !== address) }
      })
      return createMember(withControl.control, { ...options, model: { ...options.model, clusters } }).changeTo(1)
    },
  }
}

/** @typedef {Record<string, Pick<DataPlane, 'deployed' | 'profiles'>>} Planes by name */

/**
 * Finds the profile of an arm that configures sidecars as a mesh deploys them. An arm without a profile has the
 * plane's first.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {DeployedProfile | undefined} undefined: the profile is the kit's own
 */
export function findDeployedProfile(planes, { plane, profile }) {
  const { deployed, profiles } = planes[plane]
  return deployed?.[profile ?? profiles[0]]
}

/**
 * Lists the profiles of arms that configure sidecars as a mesh deploys them, for the manifest.
 * @param {Planes} planes
 * @param {Pick<Arm, 'plane' | 'profile'>[]} arms
 * @returns {{ plane: string, from: DeployedProfile['from'], deviations: DeployedProfile['deviations'] }[]} each once;
 *   []: no arm has one
 */
export function listDeployedProfiles(planes, arms) {
  const names = [...new Set(arms.map(renderProfileName))]
  return names.flatMap(name => {
    const arm = arms.find(candidate => renderProfileName(candidate) === name)
    const deployed = arm && findDeployedProfile(planes, arm)
    return deployed ? [{ plane: name, from: deployed.from, deviations: deployed.deviations }] : []
  })
}

/**
 * Renders the name of an arm's profile: `plane:profile`, or `plane` alone for its first profile (null).
 * @param {Pick<Arm, 'plane' | 'profile'>} arm
 * @returns {string}
 */
export function renderProfileName({ plane, profile }) {
  return profile === null ? plane : `${plane}:${profile}`
}
