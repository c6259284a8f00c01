import { chunk } from 'simple-statistics'
import { BenchError } from '../../lib/errors.js'
import { PORTS } from '../../model/sidecar-contract.js'
import { createApplication } from '../../services/applications.js'
import { assignItems, drawItems, MEAN_SIZE } from '../../services/assign.js'
import {
  BATCH_SIDECARS,
  CONTROL,
  createBatch,
  createControlPlane,
  createMember,
  locateControl,
} from '../../services/control.js'
import { createServiceSidecarOptions, listReachableEndpoints } from '../../services/specs.js'

/** The processes of a rollout: control planes, copies of the first service's sidecar, and an application without one. Pure. */
/** @import { Arm, Conditions, Control, Endpoint, ProcessSpec, ReloadAction, Service, Topology } from '../../model/types.ts' */
/** @import { Batch, Chosen, Member, RolloutMember } from '../../services/control.js' */
/** @import { ArmServices } from '../../services/specs.js' */

const SIMULATED = 'simulated'
// Version 0 is the first configuration, version 1 its change: a sidecar has version 2 only after it has moved.
const MOVED_VERSION = 2

/** @typedef {Pick<Conditions, 'shards' | 'assignment' | 'sizes' | 'configuredServices' | 'isShardRemoved'>} Sharded */

/**
 * @typedef {object} Rollout
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
 * Lists the names that need an address, for `placesFor`.
 * @param {Topology} topology
 * @param {Pick<Conditions, 'sidecars' | 'simulated' | 'shards'>} options
 * @returns {{ application: string, controls: string[], sidecars: string[], simulated: string[] }} sidecars: with the
 *   simulated ones last; simulated: one name for the process that simulates all; []: none are simulated
 * @throws {BenchError} if the entry's service calls none
 */
export function listRolloutNames(topology, { sidecars, simulated, shards }) {
  const { client, server } = findEndServices(topology)
  const numberNames = (/** @type {string} */ name, /** @type {number | undefined} */ length) =>
    Array.from({ length: length ?? 0 }, (_, i) => `${name}-${i + 1}`)
  return {
    application: server.name,
    controls: shards === undefined ? [CONTROL] : numberNames(CONTROL, shards),
    sidecars: numberNames(client.name, sidecars),
    // The simulated sidecars, the last in the list, are one process.
    simulated: simulated ? [SIMULATED] : [],
  }
}

/**
 * Creates the processes of a rollout, and how each sidecar is configured.
 * @param {ArmServices & Chosen & { names: ReturnType<typeof listRolloutNames>, seed: number, isBatched?: boolean,
 *   everyMs?: number }} services seed: of the assignment to shards; isBatched: sidecars start in batches on one
 *   machine (default); everyMs: the interval between the starts of simulated sidecars
 * @returns {Rollout}
 * @throws {BenchError} if a shard is removed and no sidecar would move
 */
export function createRollout({ names, seed, isBatched = true, everyMs = 0, ...services }) {
  const { arm, control, topology, places, programs, folders, locate } = services
  const { client, server } = findEndServices(topology)
  const members = createMembers(services, { names, seed, client })
  const planes = names.controls.map(name => createControlPlane(services, name))
  const controls = planes.flatMap(plane => plane.control ?? [])
  const application = createApplication({
    service: server.name,
    kind: 'echo',
    // Routes lead to the inbound port of a sidecar; the application has none, so it listens there itself.
    listen: { address: places[server.name].listen, port: PORTS.inbound },
    next: null,
    runtime: programs.appRuntime,
    scripts: locate(folders.echo),
    folder: locate(folders.process),
  })
  const size = isBatched ? BATCH_SIDECARS : 1
  const simulatedFrom = members.length - (arm.conditions.simulated ?? 0)
  const simulated = members.slice(simulatedFrom)
  const batches = splitBatches(members.slice(0, simulatedFrom), size).map((batch, i) => ({
    spec: createSpec(batch, `${i + 1}`),
    members: batch,
  }))
  const moved = members.flatMap(({ moved }) => moved ?? [])
  if (arm.conditions.isShardRemoved && moved.length === 0)
    throw new BenchError(
      `no sidecar of ${members.length} moves when the last of ${names.controls.length} shards is removed: give more --sidecars`,
    )
  return {
    application,
    controls,
    reachable: listReachableEndpoints([application, ...controls], places),
    setUps: planes.map(({ setUp }) => setUp),
    parseRefusals: control.parseRefusals,
    // Simulated sidecars start last: they use the name of a real sidecar that has asked the control plane before them.
    batches:
      control.simulates && simulated.length > 0 ? [...batches, createSimulatedProcess(control.simulates)] : batches,
    moves: arm.conditions.isShardRemoved
      ? chunk(moved, size).map((batch, i) => ({ spec: createSpec(batch, `moved-${i + 1}`), members: batch }))
      : null,
  }

  /**
   * Creates the process of a batch, or of the one sidecar of a pod.
   * @param {Member[]} batch
   * @param {string} nameSuffix of the batch
   * @returns {ProcessSpec}
   */
  function createSpec(batch, nameSuffix) {
    const specs = batch.map(({ spec }) => spec)
    return isBatched
      ? createBatch({ name: `${client.name}s-${nameSuffix}`, folder: locate(folders.process), specs })
      : { ...specs[0], batchOf: 1 }
  }

  /**
   * Creates the process that simulates all simulated sidecars, as a batch of one member.
   * @param {NonNullable<Control['simulates']>} simulates
   */
  function createSimulatedProcess({ createProcess }) {
    const listen = { address: places[SIMULATED].listen, port: PORTS.outbound }
    const located = { ...locateControl(services, names.controls[0]), folder: locate(`${folders.process}/${SIMULATED}`) }
    const spec = createProcess({ ...located, listen, everyMs, names: simulated.map(({ name }) => name) })
    return { spec, members: [joinMembers(simulated, listen)] }
  }
}

/**
 * Creates the sidecars, each at its shard with its first configuration.
 * @param {ArmServices & Chosen} services
 * @param {{ names: ReturnType<typeof listRolloutNames>, seed: number, client: Service }} options
 * @returns {(Member & RolloutMember)[]} goBack: removes added services; moved: the sidecar at its new shard; absent:
 *   it stays
 */
function createMembers(services, { names, seed, client }) {
  const { arm, control } = services
  return assignMovingSidecars(names.sidecars, { conditions: arm.conditions, seed }).map(
    ({ name, shard, known, movesTo }) => {
      const service = { ...client, name, copyOf: client.name }
      const createSidecarAt = (
        /** @type {number} */ shard,
        /** @type {number} */ version,
        configuredServices = known,
      ) => {
        const conditions = { ...arm.conditions, configuredServices }
        const options = createServiceSidecarOptions(service, { ...services, arm: { ...arm, conditions } })
        return {
          ...createMember(control, { ...options, ...locateControl(services, names.controls[shard]) }, version),
          shard,
        }
      }
      const first = createSidecarAt(shard, 0)
      const bare = arm.conditions.areServicesRemoved ? createSidecarAt(shard, 0, 0) : null
      return {
        ...first,
        ...(bare && { ...bare, changeTo: first.changeTo, goBack: bare.changeTo }),
        ...(movesTo !== undefined && { moved: createSidecarAt(movesTo, MOVED_VERSION) }),
      }
    },
  )
}

/**
 * Splits sidecars into batches. No batch has both sidecars that stay and sidecars that move.
 * @param {(Member & RolloutMember)[]} members
 * @param {number} size the most sidecars in a batch
 * @returns {(Member & RolloutMember)[][]}
 */
function splitBatches(members, size) {
  return [members.filter(({ moved }) => !moved), members.filter(({ moved }) => moved)].flatMap(group =>
    chunk(group, size),
  )
}

/**
 * Assigns sidecars to shards, and again to one shard fewer if the last is removed.
 * @param {string[]} names of the sidecars
 * @param {{ conditions: Sharded, seed: number }} options
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
 * @param {{ conditions: Sharded, seed: number }} options seed: of the sizes of sidecars
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
 * @param {RolloutMember[]} members
 * @param {Endpoint} endpoint
 * @returns {RolloutMember}
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
 * @throws {BenchError} if it calls none
 */
function findEndServices({ services, entry }) {
  const client = /** @type {Service} */ (services.find(s => s.name === entry.service))
  const server = services.find(s => s.name === client.calls[0])
  if (!server) throw new BenchError(`${client.name} calls no service: a rollout needs a link such as pair, of two`)
  return { client, server }
}
