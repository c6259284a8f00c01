import { parseThreshold } from '../analysis/thresholds.js'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { dataPlanes } from '../dataplanes/registry.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { suggest } from '../lib/nearest.js'
import { findLoad } from '../loads/registry.js'
import { wrk } from '../loads/wrk/index.js'
import { bindsOnlyBesideWrk } from '../model/caps.js'
import { findLackingFeatures } from '../model/features.js'
import { APPLICATION_BYTES, findShortage } from '../plan/holds.js'
import { choosePlanes, createPlan } from '../plan/plan.js'
import { findControl } from '../services/control.js'
import { createPlacing } from '../services/placement.js'
import { countWorkers } from '../services/specs.js'
import { nodeTool } from '../tools/node.js'
import { readTopology } from './read-experiment.js'

/**
 * From an experiment and what was asked to a plan, and the programs that it needs.
 * @import { Arm, Conditions, Control, LoadGenerator, Plan, PlaneChoice, Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Experiment } from '../plan/experiment.js'
 * @import { Overrides } from '../plan/plan.js'
 * @import { Preparation } from '../run/execute.js'
 */

const planes = Object.fromEntries(dataPlanes.map(plane => [plane.name, plane]))

/** @typedef {(spec: ToolSpec) => Promise<Tool | { missing: string }>} FindTool */

/**
 * What would run, from the question alone: no program is looked for.
 * @param {{ experiment: Experiment, overrides: Overrides, thresholds?: string[], site: Pick<Site, 'cpus' | 'cores' | 'limits'>,
 *   load?: LoadGenerator, missing?: Plan['notMeasured'], tools?: Record<string, Tool>, lacks?: Record<string, string> }} options
 *   missing: planes whose program cannot be had; tools: those that were found, by name; lacks: why programs of control
 *   planes cannot be had, by name
 * @returns {Pick<Preparation, 'plan' | 'layout'>}
 * @throws {UsageError} for what cannot be asked
 */
export function planRun({ experiment, overrides, thresholds = [], site: { cpus, cores, limits }, ...found }) {
  const { load = findLoad(), missing = [], tools = {}, lacks = {} } = found
  for (const choice of choosePlanes(experiment, overrides)) assertKnown(choice)
  const plan = createPlan({
    experiment,
    overrides,
    cpus,
    missing,
    hasSidecars: name => planes[name].createSidecar !== null,
    controlsOf: listControls,
    runsControl: choice => findControl(planes[choice.plane], choice)?.createProcess != null,
    realMostOf: choice => findControl(planes[choice.plane], choice)?.simulates?.realMost ?? null,
    findUnsupported: arm => findUnsupported({ arm, tools, lacks, cpus, limits }),
  })
  assertCanLoad(load, [...plan.arms, ...plan.calibrations])
  if (overrides.isLoadElsewhere) assertOneEntry(plan)
  const topologies = Object.fromEntries(plan.arms.map(({ link }) => [link, readTopology(link)]))
  const services = Object.values(topologies).flatMap(t => t.services.map(s => s.name))
  for (const expression of thresholds) parseThreshold(expression, plan.arms, services)
  const { isPinned } = plan.settings
  const placementOf = createPlacing({
    ...{ arms: plan.arms, topologies, cores: isPinned ? cores : [] },
    isLoadElsewhere: overrides.isLoadElsewhere,
  })
  const isShared = isPinned && plan.arms.some(arm => placementOf(arm) === null)
  const why = cores.length > 0 ? `${cpus} CPUs are too few to give each its own` : 'they cannot be given out here'
  const roles = overrides.isLoadElsewhere ? 'applications' : 'generator, applications'
  const notes = isShared ? [`${roles} and sidecars share all CPUs: ${why}`] : []
  const bindsBesideWrk = (/** @type {Arm} */ { capCores: cap, link, ...arm }) =>
    cap !== null &&
    wrk.findUnsupported(arm) === null &&
    bindsOnlyBesideWrk({ cap, cpus, sidecars: topologies[link].services.length })
  if (load !== wrk && !overrides.isLoadElsewhere && plan.arms.some(bindsBesideWrk))
    notes.push(
      'beside wrk, which takes a fraction of the CPU of k6, sidecars can bind at this cap: add --generator wrk',
    )
  return { plan: { ...plan, notes: [...plan.notes, ...notes] }, layout: { topologies, placementOf } }
}

/**
 * What would run, and the programs that it needs.
 * @param {{ experiment: Experiment, overrides: Overrides, thresholds?: string[], load?: LoadGenerator,
 *   app: 'pipy' | 'node' | null, site: Pick<Site, 'cpus' | 'cores' | 'limits' | 'findTool'>, say: (line: string) => void }} options
 *   app: what serves the applications; null: Pipy, or Node where there is no Pipy
 * @returns {Promise<Preparation>}
 * @throws {UsageError} for what cannot be asked; {BenchError} where a program that it needs is missing
 */
export async function prepare({ app, site, say, load = findLoad(), ...asked }) {
  const { experiment, overrides } = asked
  const { findTool } = site
  // What was asked is judged before anything is looked for, or fetched.
  const { arms } = planRun({ ...asked, load, site }).plan
  const chosen = choosePlanes(experiment, overrides)
  const found = await findTools({ load, chosen, isPlaneRequired: overrides.planes !== null, findTool })
  const { missing } = found
  const controls = await findControlTools({
    arms: arms.filter(({ plane }) => !missing.some(m => m.plane === plane)),
    findTool,
  })
  const tools = { ...found.tools, ...controls.tools }
  const appRuntime = await findAppRuntime({ app, tools, findTool, say })
  /** @type {Overrides} */
  const served = { ...overrides, app: appRuntime.name === 'pipy' ? 'pipy' : 'node' }
  return {
    ...planRun({ ...asked, overrides: served, load, site, missing, tools, lacks: controls.lacks }),
    programs: { planes, load, tools: { ...tools, [appRuntime.name]: appRuntime }, appRuntime },
  }
}

/**
 * @param {PlaneChoice} choice
 * @throws {UsageError} for a plane, profile or variant that the kit does not have
 */
export function assertKnown({ plane, profile, variant, control }) {
  if (!Object.hasOwn(planes, plane))
    throw new UsageError(`unknown plane "${plane}"${suggest(plane, Object.keys(planes))}`)
  const known = planes[plane]
  if (variant && !known.hasVariants) throw new UsageError(`the plane ${plane} has no variants: write it without "="`)
  const controls = listControls(plane)
  if (control !== undefined && !controls.includes(control))
    throw new UsageError(`the plane ${plane} has no control "${control}"${suggest(control, controls)}`)
  if (profile === null || known.profiles.slice(1).includes(profile)) return
  if (known.profiles.length === 0) throw new UsageError(`the plane ${plane} has no profiles: write it without ":"`)
  if (profile === known.profiles[0])
    throw new UsageError(`"${plane}:${profile}" is what "${plane}" alone means: write that`)
  throw new UsageError(`the plane ${plane} has no profile "${profile}"${suggest(profile, known.profiles)}`)
}

/** @param {string} plane */
function listControls(plane) {
  return (planes[plane].controls ?? []).map(({ name }) => name)
}

/**
 * @param {LoadGenerator} load
 * @param {Arm[]} arms
 * @throws {UsageError} where it cannot make the load of one
 */
function assertCanLoad(load, arms) {
  for (const arm of arms.filter(({ load: { kind } }) => kind !== 'idle')) {
    const reason = load.findUnsupported(arm)
    if (reason !== null)
      throw new UsageError(`--generator ${load.name}: ${reason}: leave it out, and k6 makes the load`)
  }
}

/**
 * A load from elsewhere goes to one address of this machine.
 * @param {Plan} plan
 * @throws {UsageError} where an experiment needs more at a time
 */
function assertOneEntry({ experiment, settings, arms }) {
  const without = '--load-host: leave it out, the load goes to one address'
  if (settings.keepsServices)
    throw new UsageError(`${without}, and ${experiment} keeps the services of all arms at once`)
  const wide = arms.find(({ hasSidecars, conditions }) => !hasSidecars && conditions.services > 1)
  if (wide) throw new UsageError(`${without}, and ${wide.plane} has one for each of ${wide.conditions.services} copies`)
}

/**
 * The load's program, and those of the planes.
 * @param {{ load: LoadGenerator, chosen: PlaneChoice[], isPlaneRequired: boolean, findTool: FindTool }} options
 * @returns {Promise<{ tools: Record<string, Tool>, missing: { plane: string, reason: string }[] }>}
 * @throws {MissingPlaneError} where the program of a plane that was asked for is missing; {BenchError} where the load's is
 */
async function findTools({ load, chosen, isPlaneRequired, findTool }) {
  const wanted = dataPlanes.filter(({ name }) => chosen.some(({ plane }) => plane === name))
  const [generator, ...founds] = await Promise.all([
    findTool(load.tool),
    ...wanted.map(async ({ name, tool }) => ({ name, found: tool && (await findTool(tool)) })),
  ])
  /** @type {Record<string, Tool>} */
  const tools = {}
  const missing = []
  for (const { name, found } of founds) {
    if (found === null) continue
    if (!('missing' in found)) tools[found.name] = found
    else if (isPlaneRequired)
      throw new MissingPlaneError(`the plane ${name} cannot be measured: ${found.missing}${advise(planes[name].tool)}`)
    else missing.push({ plane: name, reason: found.missing })
  }
  if ('missing' in generator) throw new BenchError(`no load can be made: ${generator.missing}`)
  tools[generator.name] = generator
  return { tools, missing }
}

/**
 * The programs of the control planes that are not those of planes.
 * @param {{ arms: Arm[], findTool: FindTool }} options
 * @returns {Promise<{ tools: Record<string, Tool>, lacks: Record<string, string> }>} lacks: why one cannot be had
 */
async function findControlTools({ arms, findTool }) {
  const specs = new Set(
    arms.flatMap(arm => (arm.control === undefined ? [] : (findControl(planes[arm.plane], arm)?.tool ?? []))),
  )
  /** @type {{ tools: Record<string, Tool>, lacks: Record<string, string> }} */
  const found = { tools: {}, lacks: {} }
  for (const spec of specs) {
    const tool = await findTool(spec)
    if ('missing' in tool) found.lacks[spec.name] = tool.missing
    else found.tools[spec.name] = tool
  }
  return found
}

/** @param {ToolSpec | null} tool that is missing */
function advise(tool) {
  return tool?.ifMissing ? `; ${tool.ifMissing.advice}` : ''
}

/**
 * Why a plane cannot run an arm; null where it can.
 * @param {{ arm: Arm, tools: Record<string, Tool>, lacks: Record<string, string>, cpus: number, limits?: Site['limits'] }} options
 */
function findUnsupported({ arm, tools, lacks, cpus, limits }) {
  const { plane, profile, hasSidecars, conditions } = arm
  const { findUnsupported: find, tool } = planes[plane]
  const control = findControl(planes[plane], arm)
  const { sidecars, simulated = 0, services, configuredServices, changesPerMinute } = conditions
  const version = (tool && tools[tool.name]?.version) ?? ''
  if (changesPerMinute !== null && !control) return 'it takes no other configuration while it serves'
  if (changesPerMinute !== null && limits !== undefined && 'node' in limits)
    return 'its configuration is changed from beside it, which the kit does on one machine only'
  const lacking = findLackingFeatures(planes[plane], conditions)
  if (lacking !== null) return lacking
  if (sidecars !== undefined && !control?.needsOf) return 'the kit has no control plane for many of its sidecars'
  const isOnNode = limits !== undefined && 'node' in limits
  if (sidecars !== undefined && isOnNode && control?.tool)
    return `its control plane is ${control.name}, and there is no image of ${control.tool.name}`
  const lack = lacks[control?.tool?.name ?? ''] ?? (sidecars === undefined ? null : control?.findUnsupported?.(version))
  if (lack) return lack
  const unlimitable = control && findUnlimitable({ control, conditions, cpus })
  if (unlimitable) return unlimitable
  if (sidecars !== undefined && isOnNode && !control?.createProcess)
    return 'its sidecars watch files, which nobody can change in a pod that runs'
  if (conditions.isShardRemoved && isOnNode)
    return 'a sidecar that moves to another shard is started anew, which the kit does on one machine only'
  const sidecarWorkers = countWorkers(arm, { cpus, planes })
  const needs = control?.needsOf?.({ configuredServices, workers: sidecarWorkers })
  // On a cluster, the scheduler places pods of other experiments, and says which it cannot.
  if (limits && needs && hasSidecars && !(isOnNode && sidecars === undefined)) {
    // Without a control plane each sidecar has an application.
    const alone = { sidecarBytes: needs.sidecarBytes + APPLICATION_BYTES, controlBytes: 0, inotifyInstances: 0 }
    const own = sidecars === undefined ? alone : {}
    const short = findShortage({
      sidecars: sidecars === undefined ? services : sidecars - simulated,
      simulated: { count: simulated, bytes: control?.simulates?.bytes ?? 0 },
      needs: { ...needs, ...own },
      limits,
      conditions,
    })
    if (short !== null) return short
  }
  return find({ conditions, profile, sidecarWorkers, version, cpus })
}

/**
 * Why a control plane cannot be given its limits; null where it can, or has none.
 * @param {{ control: Control, conditions: Conditions, cpus: number }} options
 */
function findUnlimitable({ control, conditions: { controlCapCores, controlMemoryBytes, shards }, cpus }) {
  if ([controlCapCores, controlMemoryBytes, shards].every(asked => asked === undefined)) return null
  if (control.createProcess === null)
    return `its control plane is ${control.name}, and no process that ${shards === undefined ? 'a limit could be set for' : 'could have shards'}`
  if (Math.ceil(controlCapCores ?? 0) <= cpus) return null
  return `a control plane at ${controlCapCores} cores: this machine has ${cpus} CPUs`
}

/**
 * Pipy serves the applications where it is to be had, else Node; said when Node was not asked for.
 * @param {{ app: 'pipy' | 'node' | null, tools: Record<string, Tool>, findTool: FindTool, say: (line: string) => void }} options
 * @returns {Promise<Tool>}
 */
async function findAppRuntime({ app, tools, findTool, say }) {
  const pipy = app === 'node' ? null : (tools.pipy ?? (await findTool(pipyTool)))
  if (pipy !== null && !('missing' in pipy)) return pipy
  if (app === 'pipy' && pipy !== null) throw new BenchError(`--app pipy: ${pipy.missing}`)
  if (app === null) {
    say('no Pipy: the applications are served by Node (their CPU is not comparable with runs served by Pipy)')
  }
  const node = await findTool(nodeTool)
  if ('missing' in node) throw new BenchError(`nothing can serve the applications: ${node.missing}`)
  return node
}
