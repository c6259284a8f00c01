import { PLANS } from '../kinds/plans.js'
import { UsageError } from '../lib/errors.js'
import { suggest } from '../lib/nearest.js'
import { isProgram } from '../lib/programs.js'
import { findLoad } from '../loads/registry.js'
import { isRedirected } from '../model/arms.js'
import { findLackingFeatures, listFeatures } from '../model/features.js'
import { toolOf } from '../model/tools.js'
import { APPLICATION_BYTES, findShortage } from '../plan/holds.js'
import { findControl } from '../services/control.js'
import { countWorkers, findDeployed, nameDeployed } from '../services/specs.js'
import { listModes } from '../services/topology.js'
import { planes } from './programs.js'

/**
 * Checks what planes, their control planes and generators can run.
 * @import { Arm, Conditions, DataPlane, Control, LoadGenerator, MtlsMode, Plan, PlaneChoice, Site, Tool, Topology, TrialKind } from '../model/types.ts'
 */

/** @param {PlaneChoice} choice @throws {UsageError} for a plane, profile or variant that the kit does not have */
export function assertKnown({ plane, profile, variant, control }) {
  if (!Object.hasOwn(planes, plane))
    throw new UsageError(`unknown plane "${plane}"${suggest(plane, Object.keys(planes))}`)
  const { hasVariants, profiles } = planes[plane]
  const isOfScripts = variant !== null && !isProgram(variant)
  const own = profile && findDeployed(planes, { plane, profile })?.scripts
  if (isOfScripts && own)
    throw new UsageError(`${plane}:${profile} runs the scripts that ${own.variable} names: write it without "="`)
  if (isOfScripts && !hasVariants)
    throw new UsageError(`the plane ${plane} runs no Pipy scripts: name a program of it, or write it without "="`)
  if (variant && planes[plane].tool === null)
    throw new UsageError(`the plane ${plane} runs no program: write it without "="`)
  const controls = listControls(plane)
  if (control !== undefined && !controls.includes(control))
    throw new UsageError(`the plane ${plane} has no control "${control}"${suggest(control, controls)}`)
  if (profile === null || profiles.slice(1).includes(profile)) return
  if (profiles.length === 0) throw new UsageError(`the plane ${plane} has no profiles: write it without ":"`)
  if (profile === profiles[0]) throw new UsageError(`"${plane}:${profile}" is what "${plane}" alone means: write that`)
  throw new UsageError(`the plane ${plane} has no profile "${profile}"${suggest(profile, profiles)}`)
}

/** Lists the names of a plane's control planes. @param {string} plane */
export function listControls(plane) {
  return (planes[plane].controls ?? []).map(({ name }) => name)
}

/** @param {LoadGenerator} load @param {Arm[]} arms @throws {UsageError} where it cannot make the load of one */
export function assertCanLoad(load, arms) {
  for (const arm of arms.filter(({ load: { kind } }) => kind !== 'idle')) {
    const reason = load.findUnsupported(arm)
    if (reason !== null)
      throw new UsageError(
        load === findLoad()
          ? `--protocol ${arm.conditions.protocol}: ${reason}`
          : `--generator ${load.name}: ${reason}: leave it out, and k6 makes the load`,
      )
  }
}

/** Asserts that a load from elsewhere needs one address here at a time. @param {Plan} plan @throws {UsageError} */
export function assertOneEntry({ experiment, settings, arms }) {
  if (arms.some(({ load }) => load.isInterleaved))
    throw new UsageError(
      `--load-host: the load goes to one address, and ${experiment} has arms side by side: leave it out`,
    )
  const without = '--load-host: leave it out, the load goes to one address'
  if (settings.keepsServices)
    throw new UsageError(`${without}, and ${experiment} keeps the services of all arms at once`)
  const wide = arms.find(({ hasSidecars, conditions }) => !hasSidecars && conditions.services > 1)
  if (wide) throw new UsageError(`${without}, and ${wide.plane} has one for each of ${wide.conditions.services} copies`)
}

/**
 * Finds why a plane cannot run an arm; null where it can. topology: of its link; lacks: why programs of control planes, or
 * scripts of profiles, cannot be had, by name.
 * @param {{ arm: Arm, kind: TrialKind, topology: Topology, tools: Record<string, Tool>, lacks: Record<string, string>, cpus: number,
 *   limits?: Site['limits'] }} options
 */
export function findUnsupported({ arm, kind, topology, tools, lacks, cpus, limits }) {
  const { profile, conditions } = arm
  const plane = planes[arm.plane]
  const hasMany = PLANS[kind].hasControlPlane === true
  const control = findControl(plane, arm)
  const isOnNode = limits !== undefined && 'node' in limits
  const version = (plane.tool && toolOf(tools, { tool: plane.tool, variant: arm.variant })?.version) ?? ''
  const sidecarWorkers = countWorkers(arm, { cpus, planes })
  const lack = lacks[control?.tool?.name ?? '']
  const { hasCertificate } = arm.load
  const entrance = { modes: listModes(topology, conditions.tls), hasCertificate }
  return (
    findUncarried({ conditions: { ...conditions, ...(plane.carriesBytesOnly && { protocol: 'tcp' }) }, topology }) ??
    (isOnNode && plane.createCompanions
      ? 'a sidecar of it has processes beside it, which the kit starts on one machine only'
      : null) ??
    findUnending({ arm, plane, topology, isOnNode }) ??
    findUnchangeable({ conditions, control, isOnNode, modes: entrance.modes }) ??
    findLackingFeatures(plane, conditions) ??
    (hasMany ? findUncontrolled({ control, version, lack }) : lack) ??
    (control && conditions.areServicesRemoved && control.createProcess === null
      ? `by ${control.name}, it is told of other routes, and of no other services`
      : null) ??
    (control && findUnlimitable({ control, conditions, cpus })) ??
    (isOnNode ? findImmovable({ conditions, control, hasMany }) : null) ??
    (limits && findTooMany({ arm, control, workers: sidecarWorkers, limits, hasMany })) ??
    lacks[nameDeployed(arm)] ??
    plane.findUnsupported({ conditions, entrance, profile, sidecarWorkers, version, cpus })
  )
}

/** @param {{ arm: Arm, plane: DataPlane, topology: Topology, isOnNode: boolean }} options */
function findUnending({ arm: { conditions, load }, plane: { endGracefully }, topology, isOnNode }) {
  const { ending, changesPerMinute, services } = conditions
  if (ending === undefined) return null
  if (isOnNode) return 'a sidecar is ended from beside it, which the kit does on one machine only'
  if (load.kind === 'idle' || load.isInterleaved) return 'a sidecar ends under a load of its own arm alone'
  if (conditions.interception !== undefined)
    return 'the sidecar that follows it would be outside of its network namespace'
  if (services > 1 && topology.services.every(({ calls }) => calls.length === 0))
    return 'the last copy ends, which nobody calls: give a link with a client, such as pair'
  if (ending !== 'sigterm' && !endGracefully) return 'the kit knows no graceful end of it'
  if (ending !== 'told') return null
  if (changesPerMinute !== 0)
    return 'its client is told by one change of configuration alone: give the experiment changesPerMinute: [0]'
  return services < 2 ? 'its client is told to call another copy: give services: [2]' : null
}

/** Says what sidecars cannot do that carry bytes or gRPC. @param {{ conditions: Conditions, topology: Topology }} options */
function findUncarried({ conditions, topology: { services } }) {
  const { protocol, features, configuredServices, changesPerMinute, ending } = conditions
  const asked = listFeatures(features)
  if (protocol === 'grpc' && asked.length > 0)
    return `${asked.join(', ')}: tried with requests of HTTP/1.1 only, and with --protocol grpc sidecars take calls`
  if (protocol === 'grpc' && (changesPerMinute !== null || ending !== undefined))
    return 'a sidecar that changes or ends is asked by HTTP/1.1, and with --protocol grpc sidecars take calls'
  if (protocol !== 'tcp') return null
  if (asked.length > 0) return `${asked.join(', ')}: of requests, and with --protocol tcp sidecars see bytes`
  if (configuredServices > 0) return 'services that nobody calls are told by their host, which bytes do not have'
  if (changesPerMinute !== null) return 'whether a change is in effect is asked by host, which bytes do not have'
  return isRedirected(conditions) && services.some(({ calls }) => calls.length > 1)
    ? 'a service calls several, whose redirected connections mean one port: bytes have no host to tell them by'
    : null
}

/**
 * @param {{ conditions: Conditions, control?: Control, isOnNode: boolean, modes: MtlsMode[] }} options isOnNode: of a cluster;
 *   modes: of inbound listeners
 */
function findUnchangeable({ conditions, control, isOnNode, modes }) {
  if (conditions.changesPerMinute === null) return null
  if (!control) return 'it takes no other configuration while it serves'
  if (isRedirected(conditions))
    return 'whether a change is in effect is asked at its outbound address, where redirected connections alone are served'
  // Permissive is the mode of a link's first sidecar, where the load calls it.
  if (conditions.changed === 'certificate' && !modes.includes('permissive'))
    return 'its certificate is looked at from outside: give a link whose first service is called, such as gateway-ratings, and mTLS'
  return isOnNode ? 'its configuration is changed from beside it, which the kit does on one machine only' : null
}

/** @param {{ control?: Control, version: string, lack?: string }} options lack: of its program */
function findUncontrolled({ control, version, lack }) {
  if (!control?.needsOf) return 'the kit has no control plane for many of its sidecars'
  return lack ?? control.findUnsupported?.(version)
}

/** @param {{ control: Control, conditions: Conditions, cpus: number }} options */
function findUnlimitable({ control, conditions: { controlCpuLimitCores, controlMemoryBytes, shards }, cpus }) {
  if ([controlCpuLimitCores, controlMemoryBytes, shards].every(asked => asked === undefined)) return null
  if (control.createProcess === null)
    return `its control plane is ${control.name}, and no process that ${shards === undefined ? 'a limit could be set for' : 'could have shards'}`
  if (Math.ceil(controlCpuLimitCores ?? 0) <= cpus) return null
  return `a control plane at ${controlCpuLimitCores} cores: this machine has ${cpus} CPUs`
}

/** @param {{ conditions: Conditions, control?: Control, hasMany: boolean }} options of a cluster */
function findImmovable({ conditions: { isShardRemoved }, control, hasMany }) {
  if (hasMany && !control?.createProcess) return 'its sidecars watch files, which nobody can change in a pod that runs'
  if (!isShardRemoved) return null
  return 'a sidecar that moves to another shard is started anew, which the kit does on one machine only'
}

/** @param {{ arm: Arm, control?: Control, workers: number, limits: NonNullable<Site['limits']>, hasMany: boolean }} of */
function findTooMany({ arm: { hasSidecars, conditions }, control, workers, limits, hasMany }) {
  const { sidecars = 0, simulated = 0, services, pairs, configuredServices } = conditions
  const needs = control?.needsOf?.({ configuredServices, workers })
  // The cluster's scheduler places pods of other experiments, and says which it cannot.
  if (!needs || !hasSidecars || ('node' in limits && !hasMany)) return null
  // Each sidecar has an application where there is no control plane.
  const alone = { sidecarBytes: needs.sidecarBytes + APPLICATION_BYTES, controlBytes: 0, inotifyInstances: 0 }
  return findShortage({
    sidecars: hasMany ? sidecars - simulated : pairs === undefined ? services : 2 * pairs,
    simulated: { count: simulated, bytes: control?.simulates?.bytes ?? 0 },
    needs: hasMany ? needs : { ...needs, ...alone },
    limits,
    conditions,
  })
}
