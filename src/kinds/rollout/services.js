import { chunk } from 'simple-statistics'
import { BenchError } from '../../lib/errors.js'
import { PORTS } from '../../model/sidecar-contract.js'
import { createApplication } from '../../services/applications.js'
import { assignItems, drawItems, MEAN_SIZE } from '../../services/assign.js'
import {
  BATCH_SIDECARS,
  CONTROL,
  createBatch,
  createControlOptions,
  createControlPlane,
  createMember,
} from '../../services/control.js'
import { createServiceSidecarOptions } from '../../services/sidecar-options.js'
import { listReachableEndpoints } from '../../services/specs.js'

/** The processes of a rollout: control planes, copies of the first service's sidecar, and an application without one. Pure. */
/** @import { Conditions, Control, Endpoint, ProcessSpec, ReloadAction, Service, Topology } from '../../model/types.ts' */
/** @import { Batch, ChosenControl, Member, RolloutMember } from '../../services/control.js' */
/** @import { ArmServices } from '../../services/specs.js' */

const SIMULATED = 'simulated'
// Version 0 is the first configuration, version 1 its change: a sidecar has version 2 only after it has moved.
const MOVED_VERSION = 2

/** @typedef {Pick<Conditions, 'shards' | 'assignment' | 'sizes' | 'configuredServices' | 'isShardRemoved'>} ShardConditions */

/**
 * The processes of a rollout, and the way to configure its sidecars.
 * @typedef {object} RolloutSpecs
 * @property {ProcessSpec} application
 * @property {ProcessSpec[]} controls the control plane's shards; empty: no process hands out configurations
 * @property {ReloadAction[][]} setUps the actions for each shard before any sidecar is enrolled
 * @property {Endpoint[]} reachable of application and control planes, which must answer before sidecars start
 * @property {Control['parseRefusals']} parseRefusals finds refusals of sidecars in the log of a control plane
 * @property {Batch[]} batches of sidecars that start together, each of one if it is a pod; those that will move are in batches of
 *   their own, and one batch stands for all simulated ones
 * @property {Batch[] | null} moves the batches of those sidecars at their new shards; null: no shard is removed
 */

/**
 * Lists the names of processes that need an address, for `placesFor`.
 * @param {Topology} topology
 * @param {Pick<Conditions, 'sidecars' | 'simulated' | 'shards'>} options
 * @returns {{ application: string, controls: string[], sidecars: string[], simulated: string[] }} sidecars: with the
 *   simulated ones last; simulated: one name for the process that simulates all; []: none are simulated
 * @throws {BenchError} if the entry's service calls none
 */
export function listRolloutNames(topology, { sidecars, simulated, shards }) {
  const { client, server } = findClientAndServer(topology)
  const numberNames = (/** @type {string} */ name, /** @type {number | undefined} */ count) =>
    Array.from({ length: count ?? 0 }, (_, i) => `${name}-${i + 1}`)
  return {
    application: server.name,
    controls: shards === undefined ? [CONTROL] : numberNames(CONTROL, shards),
    sidecars: numberNames(client.name, sidecars),
    simulated: simulated ? [SIMULATED] : [],
  }
}

/**
 * Creates the processes of a rollout, and the actions by which each sidecar is configured.
 * @param {ArmServices & ChosenControl & { names: ReturnType<typeof listRolloutNames>, seed: number, isBatched?: boolean,
 *   everyMs?: number }} options seed: of the sizes of sidecars, by which they are assigned to shards; isBatched: sidecars start in
 *   batches on one machine (default); everyMs: the interval between the starts of simulated sidecars
 * @returns {RolloutSpecs}
 * @throws {BenchError} if the entry's service calls none, or a shard is removed and no sidecar would move; as `createShardMember`; an
 *   Error as `createBatch`
 */
export function createRolloutSpecs({ names, seed, isBatched = true, everyMs = 0, ...services }) {
  const { arm, control, topology, places, folders, locate } = services
  const { client, server } = findClientAndServer(topology)
  const members = createMembers(services, { names, seed, client })
  const realCount = members.length - (arm.conditions.simulated ?? 0)
  const moved = members.flatMap(member => member.moved ?? [])
  if (arm.conditions.isShardRemoved && moved.length === 0)
    throw new BenchError(
      `no sidecar of ${members.length} moves when the last of ${names.controls.length} shards is removed: give more --sidecars`,
    )
  const planes = names.controls.map(name => createControlPlane(services, name))
  const controls = planes.flatMap(plane => plane.control ?? [])
  const application = createPlainApplication(server, services)
  const size = isBatched ? BATCH_SIDECARS : 1
  const batchOptions = { isBatched, folder: locate(folders.process) }
  const realGroups = groupIntoBatches(members.slice(0, realCount), size)
  const simulatedOptions = { members: members.slice(realCount), controlName: names.controls[0], everyMs }
  return {
    application,
    controls,
    reachable: listReachableEndpoints([application, ...controls], places),
    setUps: planes.map(({ setUp }) => setUp),
    parseRefusals: control.parseRefusals,
    batches: [
      ...createSidecarBatches(realGroups, { ...batchOptions, prefix: `${client.name}s-` }),
      // Simulated sidecars start last: they use the name of a real sidecar that has asked the control plane before them.
      ...createSimulatedBatches(services, simulatedOptions),
    ],
    moves: arm.conditions.isShardRemoved
      ? createSidecarBatches(chunk(moved, size), { ...batchOptions, prefix: `${client.name}s-moved-` })
      : null,
  }
}

/**
 * Creates the application without a sidecar.
 * @param {Service} service
 * @param {ArmServices} services
 * @returns {ProcessSpec}
 */
function createPlainApplication({ name }, { places, programs, folders, locate }) {
  return createApplication({
    service: name,
    kind: 'echo',
    // Routes lead to the inbound port of a sidecar; the application has none, so it listens there itself.
    listen: { address: places[name].listen, port: PORTS.inbound },
    next: null,
    runtime: programs.appRuntime,
    scripts: locate(folders.echo),
    folder: locate(folders.process),
  })
}

/**
 * Creates the process of each batch, or of the one sidecar of each pod.
 * @param {(Member & { shard: number })[][]} groups the sidecars of each batch
 * @param {{ isBatched: boolean, folder: string, prefix: string }} options folder: the parent of the sidecars' folders; prefix: of
 *   the numbered names of batches
 * @returns {Batch[]}
 * @throws {Error} as `createBatch`
 */
function createSidecarBatches(groups, { isBatched, folder, prefix }) {
  return groups.map((members, i) => {
    const specs = members.map(({ spec }) => spec)
    const spec = isBatched ? createBatch({ name: `${prefix}${i + 1}`, folder, specs }) : { ...specs[0], batchOf: 1 }
    return { spec, members }
  })
}

/**
 * Creates the one process that simulates sidecars, as a batch of one member.
 * @param {ArmServices & ChosenControl} services
 * @param {{ members: RolloutMember[], controlName: string, everyMs: number }} options members: all that are simulated; everyMs: the
 *   interval between their starts
 * @returns {Batch[]} one; []: none are simulated, or the control plane has no simulated sidecars
 */
function createSimulatedBatches(services, { members, controlName, everyMs }) {
  const { control, places, folders, locate } = services
  if (!control.simulates || members.length === 0) return []
  const listen = { address: places[SIMULATED].listen, port: PORTS.outbound }
  const located = { ...createControlOptions(services, controlName), folder: locate(`${folders.process}/${SIMULATED}`) }
  const names = members.map(({ name }) => name)
  const spec = control.simulates.createProcess({ ...located, listen, everyMs, names })
  return [{ spec, members: [joinMembers(members, listen)] }]
}

/**
 * Creates the sidecars, each at its shard with its first configuration. If the services of the change are removed later, the first
 * configuration lacks them, and `goBack` returns to it.
 * @param {ArmServices & ChosenControl} services
 * @param {{ names: ReturnType<typeof listRolloutNames>, seed: number, client: Service }} options client: of which all are copies
 * @returns {(Member & RolloutMember)[]} goBack: absent: services stay; moved: the sidecar at its new shard; absent: it stays
 * @throws {BenchError} as `createShardMember`
 */
function createMembers(services, { names, seed, client }) {
  const { conditions } = services.arm
  return assignMovingSidecars(names.sidecars, { conditions, seed }).map(
    ({ name, shard, known: configuredServices, movesTo }) => {
      const shared = { service: { ...client, name, copyOf: client.name }, controls: names.controls }
      const first = createShardMember(services, { ...shared, shard, version: 0, configuredServices })
      const bare = conditions.areServicesRemoved
        ? createShardMember(services, { ...shared, shard, version: 0, configuredServices: 0 })
        : null
      const moved =
        movesTo === undefined
          ? null
          : createShardMember(services, { ...shared, shard: movesTo, version: MOVED_VERSION, configuredServices })
      return {
        ...first,
        ...(bare && { ...bare, changeTo: first.changeTo, goBack: bare.changeTo }),
        ...(moved && { moved }),
      }
    },
  )
}

/**
 * Creates a sidecar that a shard configures.
 * @param {ArmServices & ChosenControl} services
 * @param {{ service: Service, controls: string[], shard: number, version: number, configuredServices: number }} options controls: the
 *   names of all shards; version: of the configuration with which it starts; configuredServices: the number that it knows
 * @returns {Member & { shard: number }}
 * @throws {BenchError} as `createServiceSidecarOptions` and `createMember`
 */
function createShardMember(services, { service, controls, shard, version, configuredServices }) {
  const { arm, control } = services
  const conditions = { ...arm.conditions, configuredServices }
  const options = createServiceSidecarOptions(service, { ...services, arm: { ...arm, conditions } })
  const member = createMember(control, { ...options, ...createControlOptions(services, controls[shard]) }, version)
  return { ...member, shard }
}

/**
 * Splits sidecars into batches. No batch has both sidecars that stay and sidecars that move.
 * @param {(Member & RolloutMember)[]} members
 * @param {number} size the most sidecars in a batch
 * @returns {(Member & RolloutMember)[][]} those that stay first
 */
function groupIntoBatches(members, size) {
  return [members.filter(({ moved }) => !moved), members.filter(({ moved }) => moved)].flatMap(group =>
    chunk(group, size),
  )
}

/**
 * Assigns sidecars to shards, and a second time to one shard fewer if the last is removed.
 * @param {string[]} names of the sidecars
 * @param {{ conditions: ShardConditions, seed: number }} options
 * @returns {{ name: string, shard: number, known: number, movesTo?: number }[]} known: as of `assignSidecars`;
 *   movesTo: the new shard; absent: the sidecar does not move
 */
export function assignMovingSidecars(names, { conditions, seed }) {
  const assigned = assignSidecars(names, { conditions, seed })
  if (!conditions.isShardRemoved) return assigned
  const reassigned = assignSidecars(names, {
    conditions: { ...conditions, shards: Number(conditions.shards) - 1 },
    seed,
  })
  return assigned.map((sidecar, i) =>
    reassigned[i].shard === sidecar.shard ? sidecar : { ...sidecar, movesTo: reassigned[i].shard },
  )
}

/**
 * Assigns sidecars to shards by an algorithm of `balance`; by default round-robin, to one shard.
 * @param {string[]} names of the sidecars
 * @param {{ conditions: ShardConditions, seed: number }} options seed: of the sizes of sidecars
 * @returns {{ name: string, shard: number, known: number }[]} known: the number of other services that a sidecar
 *   knows, in proportion to its size
 */
export function assignSidecars(names, { conditions, seed }) {
  const { shards = 1, assignment = 'round-robin', sizes = 'equal', configuredServices } = conditions
  const items = drawItems({ count: names.length, sizes, seed })
  const assigned = assignItems(assignment, { items, shards })
  return items.map(({ id, size }, i) => ({
    name: names[i],
    shard: Number(assigned.get(id)),
    known: Math.round((configuredServices * size) / MEAN_SIZE),
  }))
}

/**
 * Joins simulated sidecars into one member, which is probed at one endpoint for all.
 * @param {RolloutMember[]} members at least one
 * @param {Endpoint} endpoint
 * @returns {RolloutMember} its actions are those of all
 */
function joinMembers(members, endpoint) {
  return {
    name: SIMULATED,
    shard: 0,
    standsFor: members.length,
    enrolment: members.flatMap(({ enrolment }) => enrolment),
    first: { endpoint, host: members[0].first.host },
    changeTo(version) {
      const changes = members.map(({ changeTo }) => changeTo(version))
      return {
        endpoint,
        host: changes[0].host,
        stage: changes.flatMap(({ stage }) => stage),
        commit: changes.flatMap(({ commit }) => commit),
      }
    },
  }
}

/**
 * Finds the entry's service and the first service that it calls.
 * @param {Topology} topology
 * @returns {{ client: Service, server: Service }}
 * @throws {BenchError} if the entry's service calls none
 */
function findClientAndServer({ services, entry }) {
  const client = /** @type {Service} */ (services.find(s => s.name === entry.service))
  const server = services.find(s => s.name === client.calls[0])
  if (!server) throw new BenchError(`${client.name} calls no service: a rollout needs a link such as pair, of two`)
  return { client, server }
}
