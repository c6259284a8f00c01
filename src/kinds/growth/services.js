import { locateCertificateFiles, locateCertificates } from '../../model/certificate-files.js'
import { PORTS } from '../../model/sidecar-contract.js'
import { createApplication } from '../../services/applications.js'
import { createBatch, createControlOptions, createControlPlane } from '../../services/control.js'
import { createServiceSidecarOptions } from '../../services/sidecar-options.js'
import { listCopies } from '../../services/topology.js'
import { STEP_FORM, STEP_SIDECARS } from './plan.js'

/**
 * The processes of a growth. A step has the form of OSM's "scale and limits" (STEP_FORM): clients and servers, each with copies, and
 * all servers behind one split. Each server has one of the applications, which all steps share and which answer with their names. Pure.
 */
/** @import { Endpoint, ProcessSpec, ReloadAction, Service, SidecarModel, SidecarOptions, Topology } from '../../model/types.ts' */
/**
 * @import { ChosenControl } from '../../services/control.js'
 * @import { ArmServices } from '../../services/specs.js'
 */

/** The number of servers that each client must see. */
export const BACKENDS = STEP_FORM.servers
const APPLICATIONS = Array.from({ length: STEP_FORM.servers }, (_, i) => `backend-${i + 1}`)
const SPLIT_HOST = 'split.test'

/**
 * A sidecar, how it is enrolled, and the requests that show when it serves.
 * @typedef {object} GrownMember
 * @property {string} name
 * @property {Endpoint} endpoint to which requests are sent
 * @property {string} host of these requests
 * @property {number} backends that must answer through it before it counts as serving
 * @property {ReloadAction[]} enrolment actions before its start
 */

/**
 * A step: its sidecars are one process to deploy.
 * @typedef {object} GrowthStep
 * @property {number} sidecars of this step and all before
 * @property {ProcessSpec} spec
 * @property {GrownMember[]} members
 */

/**
 * All processes of a growth.
 * @typedef {object} Growth
 * @property {ProcessSpec[]} applications
 * @property {ProcessSpec | null} control null: no process hands out configurations
 * @property {ReloadAction[]} setUp of the control plane
 * @property {GrowthStep[]} steps
 */

/**
 * Lists the applications and sidecars that need an address.
 * @param {number} sidecars a multiple of STEP_SIDECARS
 * @returns {{ applications: string[], sidecars: string[] }}
 */
export function listGrowthNames(sidecars) {
  const services = createTopologies(sidecars).flatMap(topology => topology.services)
  return { applications: APPLICATIONS, sidecars: services.map(({ name }) => name) }
}

/**
 * Creates the processes of all steps.
 * @param {Omit<ArmServices, 'topology'> & ChosenControl & { link: Topology, sidecars: number }} options link: all sidecars have the
 *   certificates of its entry's service, which they read even without TLS; sidecars: a multiple of STEP_SIDECARS
 * @returns {Growth}
 * @throws {BenchError} as `createServiceSidecarOptions`; an Error if the sidecars of a step differ in the program or the number of
 *   arguments
 */
export function createGrowth({ link, sidecars, ...services }) {
  const { arm, folders, locate } = services
  const certificates = locate(locateCertificates(folders.certificates, arm.conditions.tls))
  const trust = locateCertificateFiles(link.entry.service, certificates)
  return {
    applications: createApplications(services),
    ...createControlPlane(services),
    steps: createTopologies(sidecars).map((topology, i) => createStep({ ...services, topology }, trust, i + 1)),
  }
}

/**
 * Creates the applications that all servers share.
 * @param {Omit<ArmServices, 'topology'>} services
 * @returns {ProcessSpec[]}
 */
function createApplications({ places, programs, folders, locate }) {
  return APPLICATIONS.map(name =>
    createApplication({
      service: name,
      kind: 'named',
      listen: { address: places[name].listen, port: PORTS.application },
      next: null,
      runtime: programs.appRuntime,
      scripts: locate(folders.echo),
      folder: locate(folders.process),
    }),
  )
}

/**
 * Creates a step from its topology.
 * @param {ArmServices & ChosenControl} services
 * @param {SidecarModel['trust']} trust the certificates of all sidecars
 * @param {number} number of the step, from 1 on
 * @returns {GrowthStep}
 * @throws {BenchError} as `createServiceSidecarOptions`; an Error if its sidecars differ in the program or the number of arguments
 */
function createStep(services, trust, number) {
  const { control, folders, locate, topology } = services
  const sidecars = topology.services.map(service => {
    const { model, ...sidecarOptions } = createGrownSidecarOptions(service, services)
    const options = { ...sidecarOptions, model: { ...model, trust }, ...createControlOptions(services) }
    return {
      spec: control.createSidecar(options),
      member: { ...createGrownMember(options.model), enrolment: control.enrol(options) },
    }
  })
  return {
    sidecars: number * STEP_SIDECARS,
    spec: createBatch({
      name: `step-${number}`,
      folder: locate(folders.process),
      specs: sidecars.map(({ spec }) => spec),
    }),
    members: sidecars.map(({ member }) => member),
  }
}

/**
 * Creates the topology of each step.
 * @param {number} sidecars of all steps: a multiple of STEP_SIDECARS
 * @returns {Topology[]}
 */
function createTopologies(sidecars) {
  return Array.from({ length: sidecars / STEP_SIDECARS }, (_, i) => createStepTopology(i + 1))
}

/**
 * Creates the topology of one step: its services, each with its copies, clients first.
 * @param {number} step its number, from 1 on
 * @returns {Topology}
 */
function createStepTopology(step) {
  const servers = Array.from({ length: STEP_FORM.servers }, (_, i) => `server-${step}-${i + 1}`)
  const clients = Array.from({ length: STEP_FORM.clients }, (_, i) => `client-${step}-${i + 1}`)
  return {
    name: `step-${step}`,
    services: [
      ...clients.flatMap(name => listCopies({ name, application: null, calls: servers }, STEP_FORM.copiesOfClient)),
      ...servers.flatMap(name => listCopies({ name, application: 'echo', calls: [] }, STEP_FORM.copiesOfServer)),
    ],
    entry: { service: clients[0], listener: 'outbound' },
  }
}

/**
 * Creates the options of a sidecar: a client has one more route, which splits over all servers; a server has one of the shared
 * applications.
 * @param {Service} service of the sidecar
 * @param {ArmServices} services
 * @returns {SidecarOptions}
 * @throws {BenchError} as `createServiceSidecarOptions`
 */
function createGrownSidecarOptions(service, services) {
  const options = createServiceSidecarOptions(service, services)
  const { model } = options
  if (model.outbound && service.calls.length > 0) {
    const split = service.calls.map(cluster => ({ cluster, weight: 1 }))
    const routes = [...model.outbound.routes, { host: SPLIT_HOST, pathPrefix: '/', headers: {}, split }]
    return { ...options, model: { ...model, outbound: { ...model.outbound, routes } } }
  }
  // Each client calls all servers, in the order of their applications.
  const [client] = services.topology.services
  const application = APPLICATIONS[client.calls.indexOf(service.copyOf ?? service.name)]
  const endpoints = [{ address: services.places[application].listen, port: PORTS.application }]
  const clusters = model.clusters.map(c => (c.name === 'application' ? { ...c, endpoints } : c))
  return { ...options, model: { ...model, clusters } }
}

/**
 * Creates the requests by which a sidecar is probed: a server at its inbound port, a client through its split, until each backend has
 * answered.
 * @param {SidecarModel} model that has connections of at least one direction
 * @returns {Omit<GrownMember, 'enrolment'>}
 */
function createGrownMember({ service: name, inbound, outbound }) {
  const { address, port } = /** @type {Endpoint} */ (inbound ?? outbound)
  const [host, backends] = inbound ? [name, 1] : [SPLIT_HOST, BACKENDS]
  return { name, endpoint: { address, port }, host, backends }
}
