import { existsSync } from 'node:fs'
import path from 'node:path'
import { MESHES, PLANE_NAMES } from '../dataplanes/registry.js'
import { KINDS } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { isProgram } from '../lib/programs.js'
import { DEFAULT_GENERATOR, findSidecarTool } from '../model/tools.js'
import { APPLICATION_BYTES, findShortage } from '../plan/holds.js'
import { PLANES } from '../request/constraints/planes.js'
import { PLANS_AT_PLACE } from '../request/constraints/plans.js'
import { assertCombination, findUnmeasurableReason } from '../request/constraints.js'
import { findControl } from '../services/control.js'
import { countWorkers, findDeployedProfile, hasNodeProxy, renderProfileName } from '../services/specs.js'
import { listModes } from '../services/topology.js'
import { findPipelineFile } from '../tools/pipeline-file.js'

/**
 * Facts about planes, their control planes and generators, which the table of constraints judges.
 * @import { Arm, Control, DataPlane, LoadGenerator, Plan, PlaneChoice, Site, Tool, Topology, TrialKind } from '../model/types.ts'
 * @import { Planes } from './programs.js'
 */

/**
 * Asserts that choices of planes can be run.
 * @param {Planes} planes
 * @param {PlaneChoice[]} choices
 * @throws {UsageError} for a plane, profile, control plane or variant that the kit does not have, or a combination
 *   that it cannot run
 */
export function assertKnownPlanes(planes, choices) {
  for (const choice of choices) {
    const { plane, variant } = choice
    if (variant !== null && !canRun(planes[plane], variant)) {
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
  const controls = listControls(planes[plane])
  if (control !== undefined && !controls.includes(control))
    throw new UsageError(`the plane ${plane} has no control "${control}"${renderSuggestion(control, controls)}`)
  if (profile !== null && !profiles.includes(profile))
    throw new UsageError(`the plane ${plane} has no profile "${profile}"${renderSuggestion(profile, profiles)}`)
}

/**
 * Says whether a variant can be run: a program, a folder with a pipeline, or a folder of scripts, unless the plane
 * only runs pipelines.
 * @param {DataPlane | undefined} plane undefined: an unknown plane
 * @param {string} variant an absolute path
 */
function canRun(plane, variant) {
  const hasScripts = plane?.pipelines !== 'only' && existsSync(path.join(variant, 'main.js'))
  return hasScripts || isProgram(variant) || findPipelineFile(variant) !== null
}

/**
 * Renders why a variant cannot run, and what the plane takes.
 * @param {DataPlane | undefined} plane undefined: an unknown plane
 * @param {PlaneChoice} choice
 * @returns {string}
 */
function renderVariantRefusal(plane, { plane: name, variant }) {
  const exists = existsSync(`${variant}`)
  if (plane?.pipelines === 'only')
    return `${variant} ${exists ? 'has no pipeline.yaml' : 'does not exist'}: name a folder whose pipeline.yaml says which program runs (docs/your-pipeline.md)`
  if (plane?.hasVariants)
    return `${variant} ${exists ? 'has no main.js, and no pipeline.yaml' : 'does not exist'}: name a folder of Pipy scripts such as pipy-scripts/, one with a pipeline.yaml (docs/your-pipeline.md), or a program`
  const [, ...profiles] = plane?.profiles ?? []
  const named = profiles.map(profile => `${name}:${profile}`).join(', ')
  return `${variant} ${exists ? 'is not a program that can be executed' : 'does not exist'}: name another program of ${name}; the kit writes its configuration${named && `, and has the profiles ${named}`}. A configuration of yours runs as proxy=./folder (docs/your-pipeline.md)`
}

/** Lists the names of a plane's control planes. @param {DataPlane} plane @returns {string[]} []: it has none */
export function listControls({ controls = [] }) {
  return controls.map(({ name }) => name)
}

/**
 * Asserts that the generator can make the load of every arm, where it runs.
 * @param {object} options
 * @param {Pick<Plan, 'experiment' | 'settings' | 'arms' | 'calibrations'>} options.plan
 * @param {LoadGenerator} options.load
 * @param {boolean} [options.isLoadElsewhere] on a host or node of its own
 * @param {Site['limits']} [options.limits]
 * @throws {UsageError} if it cannot
 */
export function assertPlanRunnable({ plan, load, isLoadElsewhere = false, limits }) {
  assertCombination(PLANS_AT_PLACE, {
    experiment: plan.experiment,
    keepsServices: plan.settings.keepsServices,
    arms: [...plan.arms, ...plan.calibrations],
    load,
    isDefaultLoad: load.name === DEFAULT_GENERATOR,
    isLoadElsewhere,
    quota: findQuota(limits),
  })
}

/**
 * Finds the CPU quota that all processes of a run share.
 * @param {Site['limits']} limits
 * @returns {import('../request/constraints/plans.js').PlacedPlan['quota']} null: there is none
 */
export function findQuota(limits) {
  return (limits && 'quota' in limits ? limits.quota : null) ?? null
}

/**
 * Finds the reason why a plane cannot run an arm.
 * @param {object} options
 * @param {Planes} options.planes
 * @param {Arm} options.arm
 * @param {TrialKind} options.kind
 * @param {Topology} options.topology of the arm's link
 * @param {Record<string, Tool>} options.tools by name
 * @param {Record<string, string>} options.lacks reasons why the program of a control plane, or the scripts of a
 *   profile, are missing, by name
 * @param {number} options.cpus
 * @param {number} options.pinnableCpus the CPUs that processes can have for themselves
 * @param {Site['limits']} [options.limits] absent: the needs of many sidecars are not checked
 * @returns {string | null} null: it can
 */
export function findUnsupported({ planes, arm, kind, topology, tools, lacks, cpus, pinnableCpus, limits }) {
  const { profile, conditions } = arm
  const plane = planes[arm.plane]
  const hasMany = KINDS[kind].hasControlPlane === true
  const control = findControl(plane, arm)
  const { version = '', library } =
    (plane.tool && findSidecarTool(tools, { tool: plane.tool, variant: arm.variant })) ?? {}
  const sidecarWorkers = countWorkers(arm, { cpus, planes })
  const modes = listModes(topology, conditions.tls)
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
 * @param {object} of
 * @param {Arm} of.arm
 * @param {Control} [of.control]
 * @param {number} of.workers of each sidecar
 * @param {NonNullable<Site['limits']>} of.limits
 * @param {boolean} of.hasMany the experiment has a control plane
 * @returns {string | null} null: there is enough of all, or the needs are not known
 */
function findArmShortage({ arm: { hasSidecars, conditions }, control, workers, limits, hasMany }) {
  const { sidecars = 0, simulated = 0, services, pairs, configuredServices } = conditions
  const needs = control?.estimateNeeds?.({ configuredServices, workers })
  // Unless the experiment has a control plane, the cluster's scheduler places the pods, and says which it cannot.
  if (!needs || !hasSidecars || ('node' in limits && !hasMany)) return null
  // Without a control plane in the experiment, each sidecar has an application.
  const alone = { sidecarBytes: needs.sidecarBytes + APPLICATION_BYTES, controlBytes: 0, inotifyInstances: 0 }
  return findShortage({
    sidecars: hasMany ? sidecars - simulated : pairs === undefined ? services : 2 * pairs,
    simulated: { count: simulated, bytes: control?.simulates?.bytes ?? 0 },
    needs: hasMany ? needs : { ...needs, ...alone },
    limits,
    conditions,
  })
}
