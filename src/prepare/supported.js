import { existsSync } from 'node:fs'
import path from 'node:path'
import { MESHES, PLANE_NAMES } from '../dataplanes/registry.js'
import { KINDS } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { isProgram } from '../lib/programs.js'
import { DEFAULT_GENERATOR, findSidecarTool } from '../model/tools.js'
import { APPLICATION_BYTES, renderShortage } from '../plan/sidecar-room.js'
import { PLANES } from '../request/constraints/planes.js'
import { PLANS_AT_PLACE } from '../request/constraints/plans.js'
import { assertCombination, findUnmeasurableReason } from '../request/constraints.js'
import { findControl } from '../services/control.js'
import { findDeployedProfile, hasNodeProxy, renderProfileName } from '../services/profiles.js'
import { listMtlsModes } from '../services/sidecar-model.js'
import { chooseWorkers } from '../services/sidecar-options.js'
import { findPipelineFile } from '../tools/pipeline-file.js'

/**
 * Checks planes, arms and plans against the tables of constraints, with the facts that these need.
 * @import { Arm, Control, DataPlane, LoadGenerator, Plan, PlaneChoice, Site, Tool, Topology, TrialKind } from '../model/types.ts'
 * @import { Planes } from './programs.js'
 */

/**
 * Asserts that choices of planes can be run.
 * @param {Planes} planes
 * @param {PlaneChoice[]} choices
 * @throws {UsageError} for a plane, profile or control plane that the kit does not have, a variant that cannot run, or a combination
 *   that is not possible
 */
export function assertPlaneChoices(planes, choices) {
  for (const choice of choices) {
    const { plane, variant } = choice
    if (variant !== null && !isRunnableVariant(planes[plane], variant)) {
      const commaNote =
        choices.length > 1 ? '; a comma ends an entry, so a folder with one in its name cannot be named' : ''
      throw new UsageError(`--planes ${plane}=${variant}: ${renderVariantRefusal(planes[plane], choice)}${commaNote}`)
    }
    assertChoice(planes, choice)
  }
}

/**
 * Asserts that the plane, profile and control plane of a choice exist, and can be combined.
 * @param {Planes} planes
 * @param {PlaneChoice} choice
 * @throws {UsageError} if one does not exist, or they cannot be combined
 */
function assertChoice(planes, choice) {
  const { plane, profile, variant, control } = choice
  if (Object.hasOwn(MESHES, plane))
    throw new UsageError(
      `unknown plane "${plane}": the proxy that this mesh deploys is ${MESHES[plane]}, with --interception redirect`,
    )
  if (!Object.hasOwn(planes, plane))
    throw new UsageError(`unknown plane "${plane}"${renderSuggestion(plane, PLANE_NAMES)}`)
  const { profiles } = planes[plane]
  const deployed = profile ? findDeployedProfile(planes, { plane, profile }) : undefined
  const facts = {
    choice,
    plane: planes[plane],
    isOfScripts: variant !== null && !isProgram(variant),
    scriptsVariable: deployed?.scripts?.variable ?? null,
  }
  assertCombination(PLANES, facts, choice)
  const controls = listControlNames(planes[plane])
  if (control !== undefined && !controls.includes(control))
    throw new UsageError(`the plane ${plane} has no control "${control}"${renderSuggestion(control, controls)}`)
  if (profile !== null && !profiles.includes(profile))
    throw new UsageError(`the plane ${plane} has no profile "${profile}"${renderSuggestion(profile, profiles)}`)
}

/**
 * Says whether a variant is a program, a folder with a pipeline or, unless the plane only runs pipelines, a folder of scripts.
 * @param {DataPlane | undefined} plane undefined: an unknown plane
 * @param {string} variant an absolute path
 */
function isRunnableVariant(plane, variant) {
  const hasScripts = plane?.pipelines !== 'only' && existsSync(path.join(variant, 'main.js'))
  return hasScripts || isProgram(variant) || findPipelineFile(variant) !== null
}

/**
 * Renders the reason why a variant cannot run, and the variants that the plane takes.
 * @param {DataPlane | undefined} plane undefined: an unknown plane
 * @param {PlaneChoice} choice
 * @returns {string}
 */
function renderVariantRefusal(plane, { plane: name, variant }) {
  const renderFault = (/** @type {string} */ fault) =>
    existsSync(`${variant}`) ? `${variant} ${fault}` : `${variant} does not exist`
  if (plane?.pipelines === 'only')
    return `${renderFault('has no pipeline.yaml')}: name a folder whose pipeline.yaml says which program runs (docs/your-pipeline.md)`
  if (plane?.hasVariants)
    return `${renderFault('has no main.js, and no pipeline.yaml')}: name a folder of Pipy scripts such as pipy-scripts/, one with a pipeline.yaml (docs/your-pipeline.md), or a program`
  const [, ...profiles] = plane?.profiles ?? []
  const profileNames = profiles.map(profile => `${name}:${profile}`).join(', ')
  const profileNote = profileNames && `, and has the profiles ${profileNames}`
  return `${renderFault('is not a program that can be executed')}: name another program of ${name}; the kit writes its configuration${profileNote}. A configuration of yours runs as proxy=./folder (docs/your-pipeline.md)`
}

/** Lists the names of a plane's control planes. @param {DataPlane} plane @returns {string[]} []: it has none */
export function listControlNames({ controls = [] }) {
  return controls.map(({ name }) => name)
}

/**
 * Asserts that the generator can make the load of every arm, from another host if the load comes from there, and that the CPU limits
 * are within the quota of the place.
 * @param {object} options
 * @param {Pick<Plan, 'experiment' | 'settings' | 'arms' | 'calibrations'>} options.plan
 * @param {LoadGenerator} options.load
 * @param {boolean} [options.isLoadElsewhere] on a host or node of its own
 * @param {Site['limits']} [options.limits]
 * @throws {UsageError} for the first constraint that the plan breaks
 */
export function assertPlanRunnable({ plan, load, isLoadElsewhere = false, limits }) {
  assertCombination(PLANS_AT_PLACE, {
    experiment: plan.experiment,
    keepsServices: plan.settings.keepsServices,
    arms: [...plan.arms, ...plan.calibrations],
    load,
    isDefaultLoad: load.name === DEFAULT_GENERATOR,
    isLoadElsewhere,
    quota: pickQuota(limits),
  })
}

/**
 * Picks the CPU quota that all processes of a run share from the limits of its place.
 * @param {Site['limits']} limits
 * @returns {import('../request/constraints/plans.js').PlacedPlan['quota']} null: there is none, or the place has no limits
 */
export function pickQuota(limits) {
  return (limits && 'quota' in limits ? limits.quota : null) ?? null
}

/**
 * Finds the reason why a plane cannot run an arm, and whether it refuses the arm or lacks a program.
 * @param {object} options
 * @param {Planes} options.planes
 * @param {Arm} options.arm
 * @param {TrialKind} options.kind
 * @param {Topology} options.topology of the arm's link
 * @param {Record<string, Tool>} options.tools by name
 * @param {Record<string, string>} options.lacks reasons why the program of a control plane, or what a profile needs, is missing, by
 *   the name of either
 * @param {number} options.cpus
 * @param {number} options.pinnableCpus the CPUs that processes can have for themselves
 * @param {Site['limits']} [options.limits] absent: the needs of many sidecars are not checked
 * @returns {ReturnType<typeof findUnmeasurableReason>} null: it can
 * @throws {import('../lib/errors.js').BenchError} for a feature that this kit does not know
 */
export function findUnsupported({ planes, arm, kind, topology, tools, lacks, cpus, pinnableCpus, limits }) {
  const { profile, conditions } = arm
  const plane = planes[arm.plane]
  const hasMany = KINDS[kind].hasControlPlane === true
  const control = findControl(plane, arm)
  const { version = '', library } =
    (plane.tool && findSidecarTool(tools, { tool: plane.tool, variant: arm.variant })) ?? {}
  const sidecarWorkers = chooseWorkers(arm, { cpus, planes })
  const modes = listMtlsModes(topology, conditions.tls)
  const entrance = { modes, hasCertificate: arm.load.hasCertificate }
  return findUnmeasurableReason({
    arm,
    plane,
    control,
    hasMany,
    topology,
    modes,
    version,
    cpus,
    pinnableCpus,
    isOnNode: limits !== undefined && 'node' in limits,
    isOfNode: hasNodeProxy(planes, arm),
    lacks: { control: lacks[control?.tool?.name ?? ''], scripts: lacks[renderProfileName(arm)] },
    findShortage: () => (limits ? findArmShortage({ arm, control, workers: sidecarWorkers, limits, hasMany }) : null),
    findUnsupported: () =>
      plane.findUnsupported({ conditions, entrance, profile, sidecarWorkers, version, library, cpus }),
  })
}

/**
 * Finds the resource that this place has too little of for the sidecars of an arm.
 * @param {object} options
 * @param {Arm} options.arm
 * @param {Control} [options.control]
 * @param {number} options.workers of each sidecar
 * @param {NonNullable<Site['limits']>} options.limits
 * @param {boolean} options.hasMany the experiment has a control plane with many sidecars
 * @returns {string | null} the message; null: there is enough of all, the needs are not known, the arm has no sidecars, or a cluster
 *   places them
 */
function findArmShortage({ arm: { hasSidecars, conditions }, control, workers, limits, hasMany }) {
  const { sidecars = 0, simulated = 0, services, pairs, configuredServices } = conditions
  const needs = control?.estimateNeeds?.({ configuredServices, workers })
  // Unless the experiment has a control plane, the cluster's scheduler places the pods, and says which it cannot.
  const isScheduled = 'node' in limits && !hasMany
  if (!needs || !hasSidecars || isScheduled) return null
  const simulation = { count: simulated, bytes: control?.simulates?.bytes ?? 0 }
  const realCount = sidecars - simulated
  if (hasMany) return renderShortage({ sidecars: realCount, simulated: simulation, needs, limits, conditions })
  // Without a control plane in the experiment, each sidecar has an application.
  const sidecarBytes = needs.sidecarBytes + APPLICATION_BYTES
  return renderShortage({
    sidecars: pairs === undefined ? services : 2 * pairs,
    simulated: simulation,
    needs: { ...needs, sidecarBytes, controlBytes: 0, inotifyInstances: 0 },
    limits,
    conditions,
  })
}
