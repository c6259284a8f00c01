import { locateCertificates } from '../../lib/certificate-files.js'
import { PORTS } from '../../model/sidecar-contract.js'
import { createApplication } from '../../services/applications.js'
import { createBatch, createControlPlane, locateControl } from '../../services/control.js'
import { createServiceSidecarOptions } from '../../services/specs.js'
import { copyService, locateCertificateFiles } from '../../services/topology.js'
import { FORM, STEP_SIDECARS } from './plan.js'

/**
 * The processes of a growth. A step has the form of OSM's "scale and limits": 2 clients of 5 copies, and 5 servers of 2 copies behind
 * one split. The servers of all steps share five applications, each of which answers with its name. Pure.
 */
/** @import { Endpoint, ProcessSpec, ReloadAction, Service, SidecarModel, SidecarOptions, Topology } from '../../model/types.ts' */
/**
 * @import { Chosen } from '../../services/control.js'
 * @import { ArmServices } from '../../services/specs.js'
 */

/** The number of servers that each client must see. */
export const BACKENDS = FORM.servers
const APPLICATIONS = Array.from({ length: FORM.servers }, (_, i) => `backend-${i + 1}`)
const SPLIT_HOST = 'split.test'

/**
 * A sidecar.
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
 * Lists the names that need an address, for `placesFor`.
 * @param {number} sidecars a multiple of STEP_SIDECARS
 * @returns {{ applications: string[], sidecars: string[] }}
 */
export function listGrowthNames(sidecars) {
  const services = createTopologies(sidecars).flatMap(topology => topology.services)
  return { applications: APPLICATIONS, sidecars: services.map(({ name }) => name) }
}

/**
 * Creates the processes of all steps.
 * @param {Omit<ArmServices, 'topology'> & Chosen & { link: Topology, sidecars: number }} services link: all sidecars
 *   have the certificates of its entry's service, which they read even without TLS; sidecars: a multiple of
 *   STEP_SIDECARS
 * @returns {Growth}
 */
export function createGrowth({ link, sidecars, ...rest }) {
  const { arm, control, places, programs, folders, locate } = rest
  const certificates = locate(locateCertificates(folders.certificates, arm.conditions.tls))
  const trust = locateCertificateFiles(certificates, link.entry.service)
  const applications = APPLICATIONS.map(name =>
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
  const createdSteps = createTopologies(sidecars).map(topology => {
    const services = { ...rest, topology }
    return topology.services.map(service => {
      const { model, ...sidecar } = createGrownOptions(service, services)
      const options = { ...sidecar, model: { ...model, trust }, ...locateControl(rest) }
      return {
        spec: control.createSidecar(options),
        member: { ...createGrowthMember(options.model), enrolment: control.enrol(options) },
      }
    })
  })
  return {
    applications,
    ...createControlPlane(rest),
    steps: createdSteps.map((step, i) => ({
      sidecars: (i + 1) * STEP_SIDECARS,
      spec: createBatch({
        name: `step-${i + 1}`,
        folder: locate(folders.process),
        specs: step.map(({ spec }) => spec),
      }),
      members: step.map(({ member }) => member),
    })),
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
  const servers = Array.from({ length: FORM.servers }, (_, i) => `server-${step}-${i + 1}`)
  const clients = Array.from({ length: FORM.clients }, (_, i) => `client-${step}-${i + 1}`)
  return {
    name: `step-${step}`,
    services: [
      ...clients.flatMap(name => copyService({ name, application: null, calls: servers }, FORM.copiesOfClient)),
      ...servers.flatMap(name => copyService({ name, application: 'echo', calls: [] }, FORM.copiesOfServer)),
    ],
    entry: { service: clients[0], listener: 'outbound' },
  }
}

/**
 * Creates the options of a sidecar: a client has a route that splits over all servers; a server has one of the shared
 * applications.
 * @param {Service} service of the sidecar
 * @param {ArmServices} services
 * @returns {SidecarOptions}
 */
function createGrownOptions(service, services) {
  const options = createServiceSidecarOptions(service, services)
  const { model } = options
  if (model.outbound && service.calls.length > 0) {
    const split = service.calls.map(cluster => ({ cluster, weight: 1 }))
    const routes = [...model.outbound.routes, { host: SPLIT_HOST, pathPrefix: '/', headers: {}, split }]
    return { ...options, model: { ...model, outbound: { ...model.outbound, routes } } }
  }
  const [client] = services.topology.services
  const application = APPLICATIONS[client.calls.indexOf(service.copyOf ?? service.name)]
  const endpoints = [{ address: services.places[application].listen, port: PORTS.application }]
  const clusters = model.clusters.map(c => (c.name === 'application' ? { ...c, endpoints } : c))
  return { ...options, model: { ...model, clusters } }
}

/**
 * Creates the requests by which a sidecar is probed: a server at its inbound port, a client through its split.
 * @param {SidecarModel} model
 * @returns {Omit<GrownMember, 'enrolment'>}
 */
function createGrowthMember({ service: name, inbound, outbound }) {
  const { address, port } = /** @type {Endpoint} */ (inbound ?? outbound)
  const [host, backends] = inbound ? [name, 1] : [SPLIT_HOST, BACKENDS]
  return { name, endpoint: { address, port }, host, backends }
}
