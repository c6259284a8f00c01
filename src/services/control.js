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
 * endpoint: of the sidecar's listener; certificate: that it must show to be in effect, and what the peer who looks shows.
 * @typedef {{ endpoint: Endpoint, host: string, stage: ReloadAction[], commit: ReloadAction[],
 *   certificate?: { path: string, peer: ReturnType<typeof credentialsOf> } }} Version
 */

/**
 * Finds the control of an arm: the one that it names, else the first.
 * @param {Pick<DataPlane, 'controls'>} plane @param {Pick<Arm, 'control'>} arm
 */
export function findControl({ controls = [] }, arm) {
  return controls.find(({ name }) => name === arm.control) ?? controls[0]
}

/**
 * Chooses the control plane of an arm that has one, and its program.
 * @param {Pick<Programs, 'planes' | 'tools'>} programs @param {Arm} arm @returns {Chosen}
 */
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
  const { controlCapCores, controlMemoryBytes } = arm.conditions
  const own = { ...locateControl(services, name), folder: locate(`${folders.own}/${name}`) }
  const process = control.createProcess?.({ ...own, control: { ...own.control, address: places[name].listen } })
  return {
    control: process
      ? { ...process, service: name, cpuCores: controlCapCores ?? null, memoryLimitBytes: controlMemoryBytes ?? null }
      : null,
    setUp: control.setUp(own),
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
      const certificate = { path: trust.certificatePath, peer: credentialsOf(GENERATOR, certificates) }
      return {
        endpoint,
        host: name,
        certificate,
        stage: control.stage(changed),
        commit: control.commit(changed, version),
      }
    },
  }
}
