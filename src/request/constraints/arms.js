import { isRedirected } from '../../model/arms.js'
import { findUnsupportedFeatures, listFeatures } from '../../model/features.js'

/**
 * Constraints between an arm and its plane, link and place. A run leaves an arm that breaks one out, and reports why. Pure.
 * @import { Arm, Control, DataPlane, MtlsMode, Topology } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 */

/** The CPU requests of the two containers of a pod, of 10m each. */
const NODE_POD_CORES_LEAST = 0.02

/**
 * An arm, and facts about where it would run.
 * @typedef {object} PlacedArm
 * @property {Arm} arm
 * @property {DataPlane} plane
 * @property {Control | undefined} control that configures its sidecars; undefined: none does
 * @property {boolean} hasMany one control plane configures many sidecars
 * @property {boolean} isOnNode it runs on a node of a cluster
 * @property {boolean} isOfNode one proxy serves all pods
 * @property {Topology} topology of its link
 * @property {MtlsMode[]} modes the mTLS modes of the link's inbound listeners
 * @property {string} version of the plane's program
 * @property {number} cpus of the machine
 * @property {number} pinnableCpus to which processes can be pinned
 * @property {{ control?: string, scripts?: string }} lacks reasons why the program of its control plane (control), or the scripts or
 *   program of its profile (scripts), are missing
 * @property {() => string | null | undefined} findShortage finds the resource that the machine has too little of for its sidecars; null,
 *   undefined: there is enough
 * @property {() => string | null} findUnsupported finds the reason why the plane itself cannot run this arm; null: it can
 */

/**
 * Says whether the load consists of gRPC calls.
 * @param {PlacedArm} placed
 */
const isGrpc = ({ arm }) => arm.conditions.protocol === 'grpc'

/**
 * Says whether the sidecars pass on bytes, and see no requests.
 * @param {PlacedArm} placed
 */
const carriesBytes = ({ arm, plane }) => arm.conditions.protocol === 'tcp' || plane.carriesBytesOnly === true

/** @param {PlacedArm} placed @returns {Arm['conditions']} */
const readConditions = ({ arm }) => arm.conditions

/**
 * Says whether the load excludes a loud pair, which gets the payload by POST over kept connections of HTTP/1.1: it has other requests,
 * gRPC, new connections or a burst.
 * @param {PlacedArm} placed
 * @returns {boolean}
 */
function excludesLoudPair({ arm: { load, conditions } }) {
  const hasOtherRequests = Boolean(load.requests || load.ownRequest)
  const hasOtherConnections = conditions.protocol === 'grpc' || load.connections === 'new'
  return hasOtherRequests || hasOtherConnections || Boolean(load.burst)
}

/**
 * Renders the names of an arm's features, separated by commas.
 * @param {PlacedArm} placed
 * @returns {string} empty: it has none
 * @throws {BenchError} for a feature that this kit does not know
 */
const renderArmFeatures = ({ arm }) => listFeatures(arm.conditions.features).join(', ')

/** A sidecar that changes or ends is probed by a POST that is echoed: no other requests fit. @type {Constraint<PlacedArm>[]} */
const ECHOES = /** @type {const} */ (['changesPerMinute', 'ending']).map(on => ({
  on,
  conflict: ({ arm }) => arm.load.requests,
  message: () => 'a sidecar that changes or ends is asked by a POST that is echoed: leave out what the load asks for',
}))

/** @type {Constraint<PlacedArm>[]} */
const PROTOCOLS = [
  ...ECHOES,
  {
    on: 'chunks',
    conflict: isGrpc,
    message: () => '--chunks: a unary call of gRPC is answered by one message',
  },
  {
    on: 'chunks',
    conflict: ({ arm }) => arm.load.hasCertificate,
    message: () => '--chunks: the kit reads chunks in plaintext, and this load speaks mTLS',
  },
  {
    on: 'traffic',
    conflict: isGrpc,
    message: () => '--traffic: its kinds are told by method and path, of which calls of gRPC have one',
  },
  {
    on: 'method',
    conflict: placed => isGrpc(placed) && placed.arm.load.requests?.find(({ method }) => method !== 'POST')?.method,
    message: (_, method) => `--method ${method}: calls of gRPC are posted, and have no other method`,
  },
  {
    on: 'features',
    conflict: isGrpc,
    message: placed =>
      `${renderArmFeatures(placed)}: tried with requests of HTTP/1.1 only, and with --protocol grpc sidecars take calls`,
  },
  {
    on: 'protocol',
    conflict: placed =>
      isGrpc(placed) &&
      (readConditions(placed).changesPerMinute !== null || readConditions(placed).ending !== undefined),
    message: () => 'a sidecar that changes or ends is asked by HTTP/1.1, and with --protocol grpc sidecars take calls',
  },
  {
    on: 'features',
    conflict: carriesBytes,
    message: placed =>
      `${renderArmFeatures(placed)}: of requests, and ${placed.plane.carriesBytesOnly ? 'its' : 'with --protocol tcp'} sidecars see bytes`,
  },
  {
    on: 'configuredServices',
    conflict: carriesBytes,
    message: () => 'services that nobody calls are told by their host, which bytes do not have',
  },
  {
    on: 'changesPerMinute',
    conflict: carriesBytes,
    message: () => 'whether a change is in effect is asked by host, which bytes do not have',
  },
  {
    on: 'placement',
    conflict: ({ pinnableCpus }) => pinnableCpus < 2,
    message: () =>
      '--placement apart: the generator has CPUs of its own only on a machine of two and more, with taskset, without --no-pin, and where the load is made here',
  },
  {
    on: 'interception',
    conflict: placed =>
      carriesBytes(placed) &&
      isRedirected(readConditions(placed)) &&
      placed.topology.services.some(({ calls }) => calls.length > 1),
    message: () =>
      'a service calls several, whose redirected connections mean one port: bytes have no host to tell them by',
  },
]

const ENDINGS = /** @type {Omit<Constraint<PlacedArm>, 'on'>[]} */ ([
  {
    conflict: ({ isOnNode }) => isOnNode,
    message: () => 'a sidecar is ended from beside it, which the kit does on one machine only',
  },
  {
    conflict: ({ arm: { load } }) => load.kind === 'idle' || load.isInterleaved,
    message: () => 'a sidecar ends under a load of its own arm alone',
  },
  {
    conflict: placed => readConditions(placed).interception !== undefined,
    message: () => 'the sidecar that follows it would be outside of its network namespace',
  },
  {
    conflict: placed =>
      readConditions(placed).services > 1 && placed.topology.services.every(({ calls }) => calls.length === 0),
    message: () => 'the last copy ends, which nobody calls: give a link with a client, such as pair',
  },
  {
    conflict: placed => readConditions(placed).ending !== 'sigterm' && !placed.plane.endGracefully,
    message: () => 'the kit knows no graceful end of it',
  },
  {
    conflict: placed => readConditions(placed).ending === 'told' && readConditions(placed).changesPerMinute !== 0,
    message: () => 'its client is told by one change of configuration alone: give the experiment changesPerMinute: [0]',
  },
  {
    conflict: placed => readConditions(placed).ending === 'told' && readConditions(placed).services < 2,
    message: () => 'its client is told to call another copy: give services: [2]',
  },
]).map(row => ({ on: 'ending', ...row }))

const CHANGES = /** @type {Omit<Constraint<PlacedArm>, 'on'>[]} */ ([
  {
    conflict: ({ control }) => !control,
    message: () => 'it takes no other configuration while it serves',
  },
  {
    conflict: placed => isRedirected(readConditions(placed)),
    message: () =>
      'whether a change is in effect is asked at its outbound address, where redirected connections alone are served',
  },
  {
    // Permissive is the mode of a link's first sidecar, where the load calls it.
    conflict: placed => readConditions(placed).changed === 'certificate' && !placed.modes.includes('permissive'),
    message: () =>
      'its certificate is looked at from outside: give a link whose first service is called, such as gateway-ratings, and mTLS',
  },
  {
    conflict: ({ isOnNode }) => isOnNode,
    message: () => 'its configuration is changed from beside it, which the kit does on one machine only',
  },
]).map(row => ({ on: 'changesPerMinute', ...row }))

/** A control plane without a process, such as one of files, has no limits and no shards. @type {Constraint<PlacedArm>[]} */
const CONTROL_LIMITS = ['controlCpuLimitCores', 'controlMemoryBytes', 'shards'].map(on => ({
  on,
  conflict: ({ control }) => control?.createProcess === null,
  message: ({ arm, control }) =>
    `its control plane is ${control?.name}, and no process that ${arm.conditions.shards === undefined ? 'a limit could be set for' : 'could have shards'}`,
}))

/** @type {Constraint<PlacedArm>[]} */
const CONTROLS = [
  {
    on: 'always',
    conflict: ({ hasMany, control }) => hasMany && !control?.estimateNeeds,
    message: () => 'the kit has no control plane for many of its sidecars',
  },
  { on: 'always', conflict: ({ lacks }) => lacks.control, message: (_, lack) => lack, isLack: true },
  {
    on: 'always',
    conflict: ({ hasMany, control, version }) => hasMany && control?.findUnsupported?.(version),
    message: (_, reason) => reason,
  },
  {
    on: 'areServicesRemoved',
    conflict: ({ control }) => control?.createProcess === null,
    message: ({ control }) => `by ${control?.name}, it is told of other routes, and of no other services`,
  },
  ...CONTROL_LIMITS,
  {
    on: 'controlCpuLimitCores',
    conflict: ({ arm, control, cpus }) => control && Math.ceil(arm.conditions.controlCpuLimitCores ?? 0) > cpus,
    message: ({ arm, cpus }) =>
      `a control plane at ${arm.conditions.controlCpuLimitCores} cores: this machine has ${cpus} CPUs`,
  },
  {
    on: 'always',
    conflict: ({ isOnNode, hasMany, control }) => isOnNode && hasMany && !control?.createProcess,
    message: () => 'its sidecars watch files, which nobody can change in a pod that runs',
  },
  {
    on: 'isShardRemoved',
    conflict: ({ isOnNode }) => isOnNode,
    message: () => 'a sidecar that moves to another shard is started anew, which the kit does on one machine only',
  },
]

/** @type {Constraint<PlacedArm>[]} */
const NODE_CPU = [
  {
    on: 'podCpuCores',
    conflict: ({ isOfNode }) => isOfNode,
    message: () => '--pod-cpu: its one proxy for all pods is in none of them: leave it out',
  },
  {
    on: 'podCpuCores',
    conflict: ({ arm, isOnNode }) => isOnNode && Number(arm.conditions.podCpuCores) < NODE_POD_CORES_LEAST,
    message: ({ arm }) =>
      `--pod-cpu ${arm.conditions.podCpuCores}: on Kubernetes a pod has at least the requests of its two containers, ${NODE_POD_CORES_LEAST}: give that or more`,
  },
  {
    on: 'neighbourCores',
    conflict: ({ isOnNode }) => isOnNode,
    message: () =>
      'a neighbour is a process of the kit, which it starts on one machine only: run pods of your own on the node, and leave --neighbour out',
  },
  {
    on: 'podCpuCores',
    conflict: ({ arm }) => arm.cpuLimitCores !== null && arm.cpuLimitCores > (arm.conditions.podCpuCores ?? 0),
    message: ({ arm }) =>
      `--pod-cpu ${arm.conditions.podCpuCores}: a sidecar cannot have more, and its limit is ${arm.cpuLimitCores}: give --cpu none, or a smaller one`,
  },
  {
    on: 'podCpuCores',
    conflict: ({ arm }) => arm.conditions.cpuRequestCores,
    message: (_, cores) =>
      `--pod-cpu, and --cpu-request ${cores}: in a pod with a quota of its own a request is a share of that alone: leave one out`,
  },
]

/** @type {Constraint<PlacedArm>[]} */
export const ARMS = [
  {
    on: 'pairs',
    conflict: ({ arm, topology }) => arm.load.kind !== 'idle' && topology.entry.listener === 'outbound',
    message: () =>
      'the load names one server, and each copy of the link has another: give a link whose first service is called, such as gateway-ratings',
  },
  {
    on: 'pairs',
    conflict: ({ arm }) => arm.load.kind !== 'idle' && Number(arm.conditions.pairs) > arm.load.users,
    message: ({ arm: { load, conditions } }) =>
      `--pairs ${conditions.pairs}: ${load.users} users send no request to some of them: give --users ${conditions.pairs}, or fewer pairs`,
  },
  {
    on: 'loudPerSecond',
    conflict: ({ arm: { load, conditions } }) => load.ratePerSecond === undefined || Number(conditions.pairs ?? 1) < 2,
    message: ({ arm: { load } }) =>
      `--loud ${load.loudPerSecond}: one pair is loud beside others that have a rate: give --rate, and --pairs of at least 2`,
  },
  {
    on: 'loudPerSecond',
    conflict: excludesLoudPair,
    message: ({ arm: { load } }) =>
      `--loud ${load.loudPerSecond}: a loud pair is posted the payload over kept connections of HTTP/1.1, without a burst: leave the others out`,
  },
  {
    on: 'always',
    conflict: ({ isOnNode, isOfNode }) => isOnNode && isOfNode,
    message: () => 'the kit hands namespaces to a proxy of the node on one machine only',
  },
  {
    on: 'ending',
    conflict: ({ isOfNode }) => isOfNode,
    message: () => 'one proxy serves all pods, and no sidecar of it can end',
  },
  {
    on: 'always',
    conflict: ({ isOnNode, plane }) => isOnNode && plane.createCompanions,
    message: () => 'a sidecar of it has processes beside it, which the kit starts on one machine only',
  },
  ...PROTOCOLS,
  ...ENDINGS,
  ...CHANGES,
  ...NODE_CPU,
  {
    on: 'features',
    conflict: ({ plane, arm }) => findUnsupportedFeatures(plane, arm.conditions),
    message: (_, reason) => reason,
  },
  ...CONTROLS,
  { on: 'always', conflict: ({ findShortage }) => findShortage(), message: (_, reason) => reason },
  { on: 'always', conflict: ({ lacks }) => lacks.scripts, message: (_, lack) => lack, isLack: true },
  { on: 'always', conflict: ({ findUnsupported }) => findUnsupported(), message: (_, reason) => reason },
]
