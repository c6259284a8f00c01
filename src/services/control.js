import { BenchError } from '../lib/errors.js'
import { locateCertificateFiles, locateCredentials, renderNextCertificateName } from '../model/certificate-files.js'
import { GENERATOR, PORTS } from '../model/sidecar-contract.js'

/**
 * Control planes of an arm, and the sidecars that they configure: one under load, or many. Pure.
 * @import { Arm, Control, ControlOptions, DataPlane, Endpoint, ProcessSpec, Programs } from '../model/types.ts'
 * @import { ReloadAction, SidecarOptions, Tool, ToolSpec } from '../model/types.ts'
 * @import { ArmServices } from './specs.js'
 */

/** The service name of an arm's control plane, if it has one. */
export const CONTROL = 'mesh'

/** @typedef {{ control: Control, controlTool: Tool }} ChosenControl a control plane, and its program */

/**
 * A sidecar whose configuration is changed in versions. Each version has a route to a host of its own, in place of that of the version
 * before, so that an answer for the host proves the version. In a rotation the routes stay, and the certificate proves it.
 * @typedef {object} Member
 * @property {string} name of its service
 * @property {ProcessSpec} spec
 * @property {ReloadAction[]} enrolment actions that give the control plane the sidecar's first configuration, before the sidecar starts
 * @property {{ endpoint: Endpoint, host: string }} first its listener, and the host to ask for the first configuration
 * @property {(version: number) => Version} changeTo creates the change to a version
 */

/**
 * A change of a sidecar's configuration.
 * @typedef {object} Version
 * @property {Endpoint} endpoint the sidecar's listener
 * @property {string} host requests to it get a 200 once the change is in effect; in a rotation before that, too
 * @property {ReloadAction[]} stage hands the change over
 * @property {ReloadAction[]} commit puts it into effect
 * @property {string} [certificate] the path of the one that is shown from then on; absent: it stays the same
 * @property {ReturnType<typeof locateCredentials>} [credentials] of the client that checks the certificate; absent if `certificate` is
 */

/**
 * Finds the control plane of an arm.
 * @param {Pick<DataPlane, 'controls'>} plane
 * @param {Pick<Arm, 'control'>} arm
 * @returns {Control | undefined} the plane's first if the arm names none, or one that the plane lacks; undefined: the plane has none
 */
export function findControl({ controls = [] }, arm) {
  return controls.find(({ name }) => name === arm.control) ?? controls[0]
}

/**
 * Chooses an arm's control plane (findControl), with its own program or that of the plane.
 * @param {Pick<Programs, 'planes' | 'tools'>} programs whose tools include that program
 * @param {Arm} arm of a plane that has a control plane
 * @returns {ChosenControl}
 */
export function chooseControl({ planes, tools }, arm) {
  const plane = planes[arm.plane]
  const control = /** @type {Control} */ (findControl(plane, arm))
  const { name } = /** @type {ToolSpec} */ (control.tool ?? plane.tool)
  return { control, controlTool: tools[name] }
}

/**
 * Creates the options of sidecars that a control plane configures: its address as they reach it, its program, and the
 * scripts that it hands out.
 * @param {Pick<ArmServices, 'places' | 'scriptFiles'> & Pick<ChosenControl, 'controlTool'>} services
 * @param {string} [name] of one control plane among several; absent: the arm has one
 * @returns {Omit<ControlOptions, 'folder'>} without `folder`, which differs from sidecar to sidecar
 */
export function createControlOptions({ places, scriptFiles, controlTool }, name = CONTROL) {
  return { control: { address: places[name].reach, port: PORTS.control }, controlTool, scriptFiles }
}

/**
 * Creates the process of an arm's control plane, with the CPU and memory limits of the arm's conditions, if any, and the actions that set
 * it up.
 * @param {Omit<ArmServices, 'topology'> & ChosenControl} services
 * @param {string} [name] of one control plane among several; absent: the arm has one
 * @returns {{ control: ProcessSpec | null, setUp: ReloadAction[] }} control: null: no process has to run; setUp:
 *   actions once it runs; []: there are none
 */
export function createControlPlane({ control, ...services }, name = CONTROL) {
  const { arm, folders, locate, places } = services
  const { controlCpuLimitCores, controlMemoryBytes } = arm.conditions
  const options = { ...createControlOptions(services, name), folder: locate(`${folders.process}/${name}`) }
  const listen = { ...options.control, address: places[name].listen }
  const process = control.createProcess?.({ ...options, control: listen })
  const limits = { cpuLimitCores: controlCpuLimitCores ?? null, memoryLimitBytes: controlMemoryBytes ?? null }
  return {
    control: process ? { ...process, service: name, ...limits } : null,
    setUp: control.setUp(options),
  }
}

/**
 * Creates a sidecar whose routes are changed. Behind those of the model, version N has a copy of the first with the host `version-N.test`.
 * @param {Control} control
 * @param {SidecarOptions & ControlOptions} options
 * @param {number} [firstVersion] with which it starts; 0 by default
 * @returns {Member}
 * @throws {BenchError} if the sidecar has no outbound connections, and so no routes to change
 * @throws {Error} as `control.createSidecar`
 */
export function createMember(control, options, firstVersion = 0) {
  const { service: name, outbound } = options.model
  if (outbound === null) throw new BenchError(`${name} calls nobody: it has no routes to change`)
  const { address, port, routes } = outbound
  const renderVersionHost = (/** @type {number} */ version) => `version-${version}.test`
  const addRouteTo = (/** @type {string} */ host) => {
    const model = { ...options.model, outbound: { ...outbound, routes: [...routes, { ...routes[0], host }] } }
    return { ...options, model }
  }
  const endpoint = { address, port }
  const first = { endpoint, host: renderVersionHost(firstVersion) }
  const initial = addRouteTo(first.host)
  return {
    name,
    spec: control.createSidecar(initial),
    enrolment: control.enrol(initial),
    first,
    changeTo(version) {
      const host = renderVersionHost(version)
      const changed = addRouteTo(host)
      return { endpoint, host, stage: control.stage(changed), commit: control.commit(changed, version) }
    },
  }
}

/**
 * Creates a sidecar whose certificate is changed: odd versions have the second certificate of its service, even ones the first.
 * @param {Control} control
 * @param {SidecarOptions & ControlOptions} options
 * @param {string} certificates the folder of certificates
 * @returns {Member}
 * @throws {BenchError} if the sidecar has no inbound connections, and so shows its certificate to no client
 * @throws {Error} as `control.createSidecar`
 */
export function createRotatedMember(control, { model, ...options }, certificates) {
  const { service: name, inbound } = model
  if (inbound === null) throw new BenchError(`nobody calls ${name}: it shows its certificate to no client`)
  const endpoint = { address: inbound.address, port: inbound.port }
  const rotated = { ...options, isRotated: true, model }
  return {
    name,
    spec: control.createSidecar(rotated),
    enrolment: control.enrol(rotated),
    first: { endpoint, host: name },
    changeTo(version) {
      const certificate = version % 2 === 1 ? renderNextCertificateName(name) : name
      const trust = locateCertificateFiles(certificate, certificates)
      const changed = { ...rotated, model: { ...model, trust } }
      return {
        endpoint,
        host: name,
        certificate: trust.certificatePath,
        credentials: locateCredentials(GENERATOR, certificates),
        stage: control.stage(changed),
        commit: control.commit(changed, version),
      }
    },
  }
}

/**
 * @typedef {object} RolloutPart
 * @property {Member['changeTo']} [goBack] creates the change back to the services of its start; absent: it keeps those that it gets
 * @property {number} shard the index of its control plane
 * @property {Member & { shard: number }} [moved] the same sidecar at the shard to which it moves; absent: it stays
 * @property {number} [standsFor] the simulated sidecars for which it stands; absent: it is a real one
 */
/** A sidecar of a rollout. @typedef {Omit<Member, 'spec'> & RolloutPart} RolloutMember */

/** Sidecars that are started together, as one process. @typedef {{ spec: ProcessSpec, members: RolloutMember[] }} Batch */

/** The most sidecars in a batch. */
export const BATCH_SIDECARS = 40

/**
 * Creates one process that starts a batch: xargs starts each of its sidecars once, from a file with all their
 * arguments. They share the cgroup and the log of the batch, which has no administration port; limits, image and the like are those of the
 * first spec.
 * @param {{ name: string, folder: string, specs: ProcessSpec[] }} batch folder: the parent of the sidecars' folders; specs: at least one
 * @returns {ProcessSpec}
 * @throws {Error} if their programs, or the numbers of their arguments, differ: xargs cannot start these
 */
export function createBatch({ name, folder, specs }) {
  const [{ program, argv, ...first }] = specs
  if (specs.some(spec => spec.program !== program || spec.argv.length !== argv.length))
    throw new Error(`the sidecars of ${name} are not started alike: ${program} with ${argv.length} arguments`)
  const argumentFile = `${name}.args`
  const renderArguments = (/** @type {ProcessSpec} */ spec) => spec.argv.map(argument => `${argument}\0`).join('')
  const renderSubfolder = (/** @type {ProcessSpec} */ spec) => spec.folder.slice(folder.length + 1)
  return {
    ...first,
    service: name,
    batchOf: specs.length,
    program: 'xargs',
    argv: ['-0', '-a', `${folder}/${argumentFile}`, '-n', `${argv.length}`, '-P', `${specs.length}`, program],
    folder,
    files: [
      { name: argumentFile, content: specs.map(renderArguments).join('') },
      ...specs.flatMap(spec => spec.files.map(file => ({ ...file, name: `${renderSubfolder(spec)}/${file.name}` }))),
    ],
    credentials: [...new Set(specs.flatMap(spec => spec.credentials))],
    listens: specs.flatMap(spec => spec.listens),
    admin: null,
  }
}
