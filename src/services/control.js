import { credentialsOf, nextCertificateOf } from '../lib/certificate-files.js'
import { BenchError } from '../lib/errors.js'
import { GENERATOR, PORTS } from '../model/sidecar-contract.js'
import { trustOf } from './topology.js'

/** The control plane of an arm, and the sidecars that it configures: one under load, or many. Pure. */
/** @import { Arm, Control, ControlOptions, DataPlane, Endpoint, ProcessSpec, Programs, ReloadAction, SidecarOptions, Tool, ToolSpec } from '../model/types.ts' */
/** @import { ArmServices } from './specs.js' */

export const CONTROL = 'mesh'

/** @typedef {{ control: Control, controlTool: Tool }} Chosen a control plane, and its program */

/**
 * A sidecar, and how each version of its configuration comes to it: each has a route to a host of its own, in the place of
 * that of the version before.
 * @typedef {object} Member
 * @property {string} name
 * @property {ProcessSpec} spec
 * @property {ReloadAction[]} enrolment before it starts
 * @property {{ endpoint: Endpoint, host: string }} first its listener, and the host that its first configuration has alone
 * @property {(version: number) => Version} changeTo
 */

/**
 * endpoint: of the sidecar's listener; certificate: that it must show to be in effect; credentials: of the peer who looks.
 * @typedef {{ endpoint: Endpoint, host: string, stage: ReloadAction[], commit: ReloadAction[],
 *   certificate?: string, credentials?: ReturnType<typeof credentialsOf> }} Version
 */

/** Finds an arm's own, else the first. @param {Pick<DataPlane, 'controls'>} plane @param {Pick<Arm, 'control'>} arm */
export function findControl({ controls = [] }, arm) {
  return controls.find(({ name }) => name === arm.control) ?? controls[0]
}

/** @param {Pick<Programs, 'planes' | 'tools'>} programs @param {Arm} arm @returns {Chosen} */
export function chooseControl({ planes, tools }, arm) {
  const plane = planes[arm.plane]
  const control = /** @type {Control} */ (findControl(plane, arm))
  const { name } = /** @type {ToolSpec} */ (control.tool ?? plane.tool)
  return { control, controlTool: tools[name] }
}

/**
 * Finds the address of a control plane for its sidecars, and what it hands out.
 * @param {Pick<ArmServices, 'places' | 'scriptFiles'> & Pick<Chosen, 'controlTool'>} services
 * @param {string} [name] of one control plane among several @returns {Omit<ControlOptions, 'folder'>}
 */
export function locateControl({ places, scriptFiles, controlTool }, name = CONTROL) {
  return { control: { address: places[name].reach, port: PORTS.control }, controlTool, scriptFiles }
}

/**
 * Makes the control plane of an arm, within its limits.
 * @param {Omit<ArmServices, 'topology'> & Chosen} services @param {string} [name] of one control plane among several
 * @returns {{ control: ProcessSpec | null, setUp: ReloadAction[] }} control: null: nothing has to run
 */
export function createControlPlane({ control, ...services }, name = CONTROL) {
  const { arm, folders, locate, places } = services
  const { controlCpuLimitCores, controlMemoryBytes } = arm.conditions
  const located = { ...locateControl(services, name), folder: locate(`${folders.process}/${name}`) }
  const process = control.createProcess?.({ ...located, control: { ...located.control, address: places[name].listen } })
  return {
    control: process
      ? {
          ...process,
          service: name,
          cpuLimitCores: controlCpuLimitCores ?? null,
          memoryLimitBytes: controlMemoryBytes ?? null,
        }
      : null,
    setUp: control.setUp(located),
  }
}

/**
 * @param {Control} control @param {SidecarOptions & ControlOptions} options
 * @param {number} [firstVersion] of its configuration @returns {Member}
 * @throws {BenchError} for a sidecar without routes
 */
export function createMember(control, options, firstVersion = 0) {
  const { service: name, outbound } = options.model
  if (outbound === null) throw new BenchError(`${name} calls nobody: it has no routes to change`)
  const { address, port, routes } = outbound
  const hostOf = (/** @type {number} */ version) => `version-${version}.test`
  const withRouteTo = (/** @type {string} */ host) => {
    const model = { ...options.model, outbound: { ...outbound, routes: [...routes, { ...routes[0], host }] } }
    return { ...options, model }
  }
  const endpoint = { address, port }
  const first = { endpoint, host: hostOf(firstVersion) }
  const initial = withRouteTo(first.host)
  return {
    name,
    spec: control.createSidecar(initial),
    enrolment: control.enrol(initial),
    first,
    changeTo(version) {
      const host = hostOf(version)
      const changed = withRouteTo(host)
      return { endpoint, host, stage: control.stage(changed), commit: control.commit(changed, version) }
    },
  }
}

/**
 * Makes a sidecar whose certificate is changed for a second one of its service, and back.
 * @param {Control} control @param {SidecarOptions & ControlOptions} options @param {string} certificates their folder
 * @returns {Member} @throws {BenchError} for a sidecar that shows nobody its certificate
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
      const trust = trustOf(certificates, version % 2 === 1 ? nextCertificateOf(name) : name)
      const changed = { ...rotated, model: { ...model, trust } }
      return {
        endpoint,
        host: name,
        certificate: trust.certificatePath,
        credentials: credentialsOf(GENERATOR, certificates),
        stage: control.stage(changed),
        commit: control.commit(changed, version),
      }
    },
  }
}

/**
 * A sidecar; shard: the place of its control plane among them; moved: the same at the shard to which it moves; standsFor: the
 * number of simulated sidecars that have their configuration with it; goBack: the change by which it knows no more services than at its start.
 * @typedef {Omit<Member, 'spec'> & { goBack?: Member['changeTo'], shard: number, moved?: Member & { shard: number }, standsFor?: number }} RolloutMember
 */

/** Sidecars that are started together. @typedef {{ spec: ProcessSpec, members: RolloutMember[] }} Batch */

/** Sidecars that are started together, in one cgroup. */
export const BATCH_SIDECARS = 40

/**
 * Makes a batch one process to start: xargs starts each of its sidecars once, from a file with all their arguments. They
 * share the cgroup and the log of the batch.
 * @param {{ name: string, folder: string, specs: ProcessSpec[] }} batch folder: above those of the sidecars
 * @returns {ProcessSpec} @throws where their command lines are not of one program and one length, which xargs needs
 */
export function createBatch({ name, folder, specs }) {
  const [{ program, argv, ...first }] = specs
  if (specs.some(spec => spec.program !== program || spec.argv.length !== argv.length))
    throw new Error(`the sidecars of ${name} are not started alike: ${program} with ${argv.length} arguments`)
  const list = `${name}.args`
  return {
    ...first,
    service: name,
    batchOf: specs.length,
    program: 'xargs',
    argv: ['-0', '-a', `${folder}/${list}`, '-n', `${argv.length}`, '-P', `${specs.length}`, program],
    folder,
    files: [
      { name: list, content: specs.map(spec => spec.argv.map(arg => `${arg}\0`).join('')).join('') },
      ...specs.flatMap(spec =>
        spec.files.map(file => ({ ...file, name: `${spec.folder.slice(folder.length + 1)}/${file.name}` })),
      ),
    ],
    credentials: [...new Set(specs.flatMap(spec => spec.credentials))],
    listens: specs.flatMap(spec => spec.listens),
    admin: null,
  }
}
