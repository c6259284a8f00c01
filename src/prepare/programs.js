import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { BenchError, BrokenToolError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { isProgram } from '../lib/programs.js'
import { loadGenerators } from '../loads/registry.js'
import { createVariantKey } from '../model/tools.js'
import { findScriptFolder } from '../run/scripts.js'
import { findControl } from '../services/control.js'
import { findDeployedProfile, renderProfileName } from '../services/profiles.js'
import { findScripts } from '../tools/find-scripts.js'
import { iptablesTool } from '../tools/iptables.js'
import { nodeTool } from '../tools/node.js'

/**
 * Finds the programs of a run.
 * @import { Arm, DataPlane, LoadGenerator, Plan, PlaneChoice, Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Context } from '../verbs/program.js'
 * @import { Pipeline } from '../model/pipeline.js'
 */

/** @typedef {Record<string, DataPlane>} Planes by name */

/**
 * The programs and scripts that a plan will run, and why others are missing.
 * @typedef {object} ProgramSearch
 * @property {Record<string, Tool>} tools by name
 * @property {Plan['notMeasured']} missing the planes without a program
 * @property {Record<string, string>} scripts the folder of a profile's scripts, by `plane:profile`
 * @property {Record<string, string>} lacks why a control plane's program, or what a profile needs, is missing, by name
 */

/**
 * Loads the specs of the programs of all planes and generators, and of Node. Planes that only run pipelines are left out.
 * @returns {Promise<ToolSpec[]>}
 */
export async function loadToolSpecs() {
  const [planes, loads] = await Promise.all([loadPlanes(), loadGenerators()])
  return [
    ...Object.values(planes).flatMap(({ tool, pipelines }) => (pipelines === 'only' ? [] : (tool ?? []))),
    ...Object.values(loads).map(load => load.tool),
    nodeTool,
  ]
}

/** Loads the specs of the programs of control planes, each once. @returns {Promise<ToolSpec[]>} */
export async function loadControlToolSpecs() {
  const planes = Object.values(await loadPlanes())
  const specs = planes.flatMap(({ controls = [] }) => controls.flatMap(({ tool }) => tool ?? []))
  return [...new Set(specs)]
}

/**
 * Asserts that --image names only tools of the kit. The images themselves are not checked.
 * @param {Record<string, string>} images by the name of the tool
 * @throws {UsageError} for an unknown tool
 */
export async function assertImageTools(images) {
  const names = [...(await loadToolSpecs()), ...(await loadControlToolSpecs()), iptablesTool].map(({ name }) => name)
  for (const [tool, image] of Object.entries(images))
    if (!names.includes(tool))
      throw new UsageError(`--image ${tool}=${image}: TOOL=IMAGE is needed, with TOOL one of ${names.join(', ')}`)
}

/**
 * Finds the programs of the load, the planes, and their control planes.
 * @param {object} options
 * @param {LoadGenerator} options.load
 * @param {Planes} options.planes
 * @param {PlaneChoice[]} options.chosen the choices of planes
 * @param {Pipelines} [options.pipelines] none by default
 * @param {boolean} options.isPlaneRequired --planes names them: a missing program is an error; else its plane is left out
 * @param {Arm[]} options.arms
 * @param {Site['findTool']} options.findTool
 * @returns {Promise<ProgramSearch>}
 * @throws {MissingPlaneError} if a plane of --planes has no program, or a choice or its pipeline names one that is missing;
 *   {BrokenToolError} if a named program does not run, or that of no plane of --planes does; {BenchError} if there is no generator; any
 *   other error of `findTool`
 */
export async function findPrograms({ load, planes, chosen, pipelines = {}, isPlaneRequired, arms, findTool }) {
  const hasNamedProgram = (/** @type {PlaneChoice} */ choice) =>
    hasProgram(choice) || findVariantPipeline(pipelines, choice)?.program != null
  const neededPlanes = Object.values(planes).filter(({ name }) =>
    chosen.some(choice => choice.plane === name && !hasNamedProgram(choice)),
  )
  const [generator, ...searches] = await Promise.all([
    findTool(load.tool),
    ...neededPlanes.map(async plane => ({
      plane,
      result: plane.tool && (await findRunnableProgram(plane.tool, findTool)),
    })),
  ])
  const isAnyNamed = chosen.some(hasNamedProgram)
  const { tools: planeTools, missing } = collectPlaneTools(searches, { isPlaneRequired, isAnyNamed })
  const namedTools = await findNamedPrograms({ planes, chosen, pipelines, findTool })
  if ('missing' in generator) throw new BenchError(`no load can be made: ${generator.missing}`)
  const isMeasured = (/** @type {{ plane: string }} */ { plane }) => !missing.some(other => other.plane === plane)
  const controls = await findControlPrograms(planes, { arms: arms.filter(isMeasured), findTool })
  const { scripts, lacks } = findProfileScripts(planes, chosen)
  const runtimes = await findRuntimes(planes, { chosen: chosen.filter(isMeasured), findTool })
  return {
    tools: { ...planeTools, ...namedTools, [generator.name]: generator, ...controls.tools, ...runtimes.tools },
    missing,
    scripts,
    lacks: { ...controls.lacks, ...lacks, ...runtimes.lacks },
  }
}

/**
 * Divides the searches for the programs of planes into tools and missing planes.
 * @param {{ plane: DataPlane, result: Awaited<ReturnType<typeof findRunnableProgram>> | null }[]} searches result: null: the plane
 *   needs no program
 * @param {{ isPlaneRequired: boolean, isAnyNamed: boolean }} options isAnyNamed: a choice or its pipeline names a program
 * @returns {Pick<ProgramSearch, 'tools' | 'missing'>}
 * @throws {MissingPlaneError} for a missing program of a required plane; {BrokenToolError} if a required one does not run, and no
 *   other can be measured
 */
function collectPlaneTools(searches, { isPlaneRequired, isAnyNamed }) {
  /** @type {Pick<ProgramSearch, 'tools' | 'missing'>} */
  const { tools, missing } = { tools: {}, missing: [] }
  const broken = searches.flatMap(({ result }) => (result && 'broken' in result ? [result.broken] : []))
  const isAnyUsable = searches.some(({ result }) => result && !('broken' in result || 'missing' in result))
  const isOtherMeasurable = isAnyUsable || isAnyNamed
  // If another plane can be measured, a program that does not run is only left out.
  if (isPlaneRequired && broken.length > 0 && !isOtherMeasurable) throw broken[0]
  for (const { plane, result } of searches) {
    if (result === null) continue
    const advice = plane.tool?.ifMissing?.advice
    if ('broken' in result) missing.push({ plane: plane.name, reason: result.broken.message })
    else if (!('missing' in result)) tools[result.name] = result
    else if (!isPlaneRequired) missing.push({ plane: plane.name, reason: result.missing })
    else
      throw new MissingPlaneError(
        `the plane ${plane.name} cannot be measured: ${[result.missing, advice].filter(Boolean).join('; ')}`,
      )
  }
  return { tools, missing }
}

/**
 * Finds the programs that choices name, then those that their pipelines name.
 * @param {{ planes: Planes, chosen: PlaneChoice[], pipelines: Pipelines, findTool: Site['findTool'] }} options
 * @returns {Promise<Record<string, Tool>>} by `createVariantKey`
 * @throws {MissingPlaneError} if one is missing; an error of `findTool`
 */
async function findNamedPrograms({ planes, chosen, pipelines, findTool }) {
  const searches = chosen.filter(hasProgram).map(choice => ({ choice, spec: findToolSpec(planes, choice) }))
  for (const choice of chosen) {
    const spec = await findPipelineToolSpec(planes, findVariantPipeline(pipelines, choice), choice)
    if (spec !== null) searches.push({ choice, spec })
  }
  /** @type {Record<string, Tool>} */
  const tools = {}
  for (const { choice, spec } of searches) {
    const tool = await findTool(spec)
    if ('missing' in tool) throw new MissingPlaneError(`--planes ${choice.plane}=${choice.variant}: ${tool.missing}`)
    tools[createVariantKey({ tool: findToolSpec(planes, choice), variant: choice.variant })] = tool
  }
  return tools
}

/**
 * Finds the programs of the control planes that arms name.
 * @param {Planes} planes
 * @param {{ arms: Arm[], findTool: Site['findTool'] }} options
 * @returns {Promise<Pick<ProgramSearch, 'tools' | 'lacks'>>} both by the name of the program; {}: no arm needs one
 * @throws an error of `findTool`
 */
async function findControlPrograms(planes, { arms, findTool }) {
  const controlled = arms.filter(({ control }) => control !== undefined)
  const specs = new Set(controlled.flatMap(arm => findControl(planes[arm.plane], arm)?.tool ?? []))
  /** @type {Pick<ProgramSearch, 'tools' | 'lacks'>} */
  const { tools, lacks } = { tools: {}, lacks: {} }
  for (const spec of specs) {
    const tool = await findTool(spec)
    if ('missing' in tool) lacks[spec.name] = tool.missing
    else tools[spec.name] = tool
  }
  return { tools, lacks }
}

/**
 * Finds the programs that deployed profiles run beside those of their planes.
 * @param {Planes} planes
 * @param {{ chosen: PlaneChoice[], findTool: Site['findTool'] }} options
 * @returns {Promise<Pick<ProgramSearch, 'tools' | 'lacks'>>} tools: by their names; lacks: by `renderProfileName`
 * @throws an error of `findTool`
 */
async function findRuntimes(planes, { chosen, findTool }) {
  /** @type {Pick<ProgramSearch, 'tools' | 'lacks'>} */
  const { tools, lacks } = { tools: {}, lacks: {} }
  for (const choice of chosen) {
    const spec = findDeployedProfile(planes, choice)?.runtime
    if (spec === undefined) continue
    const tool = await findTool(spec)
    if ('missing' in tool)
      lacks[renderProfileName(choice)] = `it needs ${spec.name} ${spec.wanted} beside it: ${tool.missing}`
    else tools[spec.name] = tool
  }
  return { tools, lacks }
}

/**
 * Finds the program of a plane, and catches the error if it does not run.
 * @param {ToolSpec} spec
 * @param {Site['findTool']} findTool
 * @returns {Promise<Awaited<ReturnType<Site['findTool']>> | { broken: BrokenToolError }>} missing: the reason why there is none;
 *   broken: the error of one that does not run
 * @throws an error of `findTool` that is no BrokenToolError
 */
async function findRunnableProgram(spec, findTool) {
  try {
    return await findTool(spec)
  } catch (error) {
    if (!(error instanceof BrokenToolError)) throw error
    return { broken: error }
  }
}

/**
 * Finds the program of one plane, and the scripts that it runs.
 * @param {object} options
 * @param {Planes} options.planes
 * @param {PlaneChoice} options.choice
 * @param {{ pipyScripts: string }} options.folders pipyScripts: the folder of the kit's scripts
 * @param {Site['findTool']} options.findTool
 * @returns {Promise<{ tool: Tool, scripts: string }>} scripts: their folder, the kit's also for planes that run no scripts
 * @throws {MissingPlaneError} if either is missing; {BrokenToolError} if the program does not run; any other error of `findTool`
 */
export async function findPlane({ planes, choice, folders, findTool }) {
  const spec = findToolSpec(planes, choice)
  const tool = await findTool(spec)
  if ('missing' in tool) throw new MissingPlaneError(tool.missing)
  const { scripts, lacks } = findProfileScripts(planes, [choice])
  for (const missing of Object.values(lacks)) throw new MissingPlaneError(missing)
  const toolName = hasProgram(choice) ? createVariantKey({ tool: spec, variant: choice.variant }) : spec.name
  const programs = { planes, tools: { [toolName]: tool }, scripts }
  return { tool, scripts: findScriptFolder({ programs, folders }, choice) }
}

/** @typedef {Record<string, Pipeline>} Pipelines by variant */

/**
 * Finds the pipeline of a choice.
 * @param {Pipelines} pipelines
 * @param {PlaneChoice} choice
 * @returns {Pipeline | undefined} undefined: its variant has none
 */
function findVariantPipeline(pipelines, { variant }) {
  return variant === null ? undefined : pipelines[variant]
}

/**
 * Finds the spec of the program that a pipeline names: that of a plane of this name, else the spec of its own plane with the path of
 * the program; for `proxy`, the path may be a name on PATH.
 * @param {Planes} planes
 * @param {Pipeline | undefined} pipeline
 * @param {PlaneChoice} choice
 * @returns {Promise<ToolSpec | null>} null: there is no pipeline, or it names none
 */
async function findPipelineToolSpec(planes, pipeline, { plane }) {
  if (!pipeline?.program) return null
  const { program, document } = pipeline
  const known = (await loadPlanes([program]))[program]
  if (known?.tool && known.pipelines !== 'only') return known.tool
  const spec = /** @type {ToolSpec} */ (planes[plane].tool)
  if (planes[plane].pipelines !== 'only') return { ...spec, path: program }
  const programSpec = { ...spec, name: path.basename(program), versionArgv: document.versionArguments }
  // A program that the kit does not know is searched in PATH, and never fetched.
  return program.includes('/') ? { ...programSpec, path: program } : { ...programSpec, package: program }
}

/**
 * Says whether a choice names a program, as in envoy=/usr/bin/envoy.
 * @param {PlaneChoice} choice
 */
function hasProgram({ variant }) {
  return variant !== null && isProgram(variant)
}

/**
 * Finds the spec of the program of a choice: its plane's, with the path that the choice names, if it names one.
 * @param {Planes} planes
 * @param {PlaneChoice} choice of a plane that has a program
 * @returns {ToolSpec}
 */
export function findToolSpec(planes, choice) {
  const spec = /** @type {ToolSpec} */ (planes[choice.plane].tool)
  return hasProgram(choice) ? { ...spec, path: `${choice.variant}` } : spec
}

/**
 * Finds the folders of the scripts that profiles run, or the reasons why they are missing. Profiles without scripts are left out.
 * @param {Planes} planes
 * @param {PlaneChoice[]} chosen
 * @returns {Pick<ProgramSearch, 'scripts' | 'lacks'>} both by `renderProfileName`; {}: no profile runs scripts
 */
function findProfileScripts(planes, chosen) {
  /** @type {Pick<ProgramSearch, 'scripts' | 'lacks'>} */
  const { scripts, lacks } = { scripts: {}, lacks: {} }
  for (const choice of chosen) {
    const spec = findDeployedProfile(planes, choice)?.scripts
    const search = spec && findScripts(spec)
    if (search && 'missing' in search) lacks[renderProfileName(choice)] = search.missing
    else if (search) scripts[renderProfileName(choice)] = search.folder
  }
  return { scripts, lacks }
}

/**
 * Finds the program that serves the applications.
 * @param {object} options
 * @param {'pipy' | 'node' | null} options.app null: Pipy, or Node if there is no Pipy
 * @param {Record<string, Tool>} options.tools those that were found before
 * @param {Site['findTool']} options.findTool
 * @param {Context['say']} options.say prints that Node serves for lack of Pipy
 * @returns {Promise<Tool>} Pipy or Node
 * @throws {BenchError} if it is missing; an error of `findTool`
 */
export async function findAppRuntime({ app, tools, findTool, say }) {
  const pipy = app === 'node' ? null : (tools.pipy ?? (await findTool(await loadPipyToolSpec())))
  if (pipy !== null && !('missing' in pipy)) return pipy
  if (app === 'pipy' && pipy !== null) throw new BenchError(`--app pipy: ${pipy.missing}`)
  if (app === null)
    say('no Pipy: the applications are served by Node (their CPU is not comparable with runs served by Pipy)')
  const node = await findTool(nodeTool)
  if ('missing' in node) throw new BenchError(`nothing can serve the applications: ${node.missing}`)
  return node
}

/** Loads the spec of Pipy. @returns {Promise<ToolSpec>} */
async function loadPipyToolSpec() {
  const { pipy } = await loadPlanes(['pipy'])
  return /** @type {ToolSpec} */ (pipy.tool)
}

/**
 * Lists the planes that a run cannot measure because their program is missing. Planes whose tool has no advice (`ifMissing`) are
 * left out.
 * @param {Pick<import('../run/execute.js').Preparation, 'plan' | 'programs'>} preparation
 * @returns {{ name: string, lack: string, advice: string }[]} lack: what the run lacks without the plane; []: none is missing
 */
export function listLackingPlanes({ plan: { notMeasured }, programs: { planes, tools } }) {
  return Object.values(planes).flatMap(({ name, tool }) => {
    if (!tool?.ifMissing || tool.name in tools || !notMeasured.some(({ plane }) => plane === name)) return []
    return [{ name, ...tool.ifMissing }]
  })
}
