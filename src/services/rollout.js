import { BenchError } from '../lib/errors.js'
import { PORTS } from '../model/sidecar-contract.js'
import { createApplication } from './applications.js'
import { createBatch } from './batches.js'
import { describeSidecar } from './specs.js'

/**
 * The processes of a rollout: one control plane, as many copies of the first service's sidecar as the arm asks for, and
 * the application that their routes lead to. It has no sidecar: what is measured is how a configuration comes to one. Pure.
 * @import { Control, ControlOptions, Endpoint, Place, ProcessSpec, ReloadAction, Service, SidecarOptions, Topology } from '../model/types.ts'
 * @import { ArmServices } from './specs.js'
 */

/** Sidecars that are started together, in one cgroup. */
export const BATCH_SIDECARS = 40
export const CONTROL = 'mesh'
const CONTROL_PORT = 6070

/**
 * A sidecar, and how each version of its configuration comes to it: each has a route to a host of its own, in the place of
 * that of the version before.
 * @typedef {object} Member
 * @property {string} name
 * @property {Endpoint} endpoint of its listener
 * @property {ReloadAction[]} enrolment before it starts
 * @property {(version: number) => { host: string, stage: ReloadAction[], commit: ReloadAction[] }} changeTo
 */

/**
 * @typedef {object} Rollout
 * @property {ProcessSpec} application
 * @property {ProcessSpec | null} control null: nothing has to run
 * @property {ReloadAction[]} setUp of the control plane
 * @property {{ spec: ProcessSpec, members: Member[] }[]} batches
 */

/**
 * The names that need an address.
 * @param {Topology} topology
 * @param {number} sidecars
 */
export function listRolloutNames(topology, sidecars) {
  const { client, server } = findEnds(topology)
  return { application: server.name, sidecars: Array.from({ length: sidecars }, (_, i) => `${client.name}-${i + 1}`) }
}

/**
 * @param {ArmServices & { control: Control, sidecars: string[] }} services control: of the arm's plane; sidecars: their names
 * @returns {Rollout}
 */
export function createRollout({ control, sidecars, ...services }) {
  const { topology, places, programs, folders, locate, scriptFiles } = services
  const { client, server } = findEnds(topology)
  /** @type {Pick<ControlOptions, 'control' | 'scriptFiles'>} */
  const given = { control: { address: places[CONTROL].listen, port: CONTROL_PORT }, scriptFiles }
  const controlled = (/** @type {SidecarOptions} */ options) => ({ ...options, ...given })
  const made = sidecars.map(name => {
    const options = describeSidecar({ ...client, name, copyOf: client.name }, services)
    const first = controlled(withRouteTo(hostOf(0), options))
    return { options, spec: control.createSidecar(first), enrolment: control.enrol(first) }
  })
  const [{ options }] = made
  const own = controlled({ ...options, folder: locate(`${folders.own}/${CONTROL}`) })
  return {
    application: createApplication({
      service: server.name,
      kind: 'echo',
      // Where the sidecar would listen, which the routes lead to.
      listen: { address: places[server.name].listen, port: PORTS.inbound },
      next: null,
      runtime: programs.appRuntime,
      scripts: locate(folders.echo),
      folder: locate(folders.own),
    }),
    control: control.createProcess?.(own) ?? null,
    setUp: control.setUp(own),
    batches: chunk(made, BATCH_SIDECARS).map((batch, i) => ({
      spec: createBatch({
        name: `${client.name}s-${i + 1}`,
        folder: locate(folders.own),
        specs: batch.map(({ spec }) => spec),
      }),
      members: batch.map(({ enrolment, options }) => ({
        name: options.model.service,
        endpoint: endpointOf(options),
        enrolment,
        changeTo(version) {
          const changed = controlled(withRouteTo(hostOf(version), options))
          return { host: hostOf(version), stage: control.stage(changed), commit: control.commit(changed, version) }
        },
      })),
    })),
  }
}

/** The host that only one version routes. @param {number} version */
export function hostOf(version) {
  return `version-${version}.test`
}

/**
 * @param {string} host
 * @param {SidecarOptions} options
 * @returns {SidecarOptions}
 */
function withRouteTo(host, options) {
  const outbound = outboundOf(options)
  const routes = [...outbound.routes, { ...outbound.routes[0], host }]
  return { ...options, model: { ...options.model, outbound: { ...outbound, routes } } }
}

/** @param {SidecarOptions} options */
function outboundOf({ model }) {
  return /** @type {NonNullable<SidecarOptions['model']['outbound']>} */ (model.outbound)
}

/** @param {SidecarOptions} options */
function endpointOf(options) {
  const { address, port } = outboundOf(options)
  return { address, port }
}

/**
 * The first service, and the one that it calls.
 * @param {Topology} topology
 * @returns {{ client: Service, server: Service }}
 * @throws {BenchError} where it calls none
 */
function findEnds({ services, entry }) {
  const client = /** @type {Service} */ (services.find(s => s.name === entry.service))
  const server = services.find(s => s.name === client.calls[0])
  if (!server) throw new BenchError(`${client.name} calls no service: a rollout needs a link such as pair, of two`)
  return { client, server }
}

/**
 * @template T
 * @param {T[]} items
 * @param {number} size
 */
function chunk(items, size) {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
