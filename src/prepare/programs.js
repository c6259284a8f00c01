import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { BenchError, BrokenToolError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { isProgram } from '../lib/programs.js'
import { loadGenerators } from '../loads/registry.js'
import { createVariantKey } from '../model/tools.js'
import { findScriptFolder } from '../run/scripts.js'
import { findControl } from '../services/control.js'
import { findDeployedProfile, renderProfileName } from '../services/specs.js'
import { findScripts } from '../tools/find-scripts.js'
import { iptablesTool } from '../tools/iptables.js'
import { nodeTool } from '../tools/node.js'

/**
 * The programs of a run: which it needs, and where they are.
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
 * Lists the programs of all planes and generators, and Node. Planes that only run pipelines are left out.
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

/** Lists the programs of control planes, each once. @returns {Promise<ToolSpec[]>} */
export async function loadControlToolSpecs() {
  return [
    ...new Set(
      Object.values(await loadPlanes()).flatMap(({ controls = [] }) => controls.flatMap(({ tool }) => tool ?? [])),
    ),
  ]
}

/**
 * Asserts that --image names only tools of the kit. The images themselves are not looked at.
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
 * @param {boolean} options.isPlaneRequired --planes names them: a missing program is an error; else its plane is left
 *   out
 * @param {Arm[]} options.arms
 * @param {Site['findTool']} options.findTool
 * @returns {Promise<ProgramSearch>}
 * @throws {MissingPlaneError} if a plane of --planes has no program; {BrokenToolError} if the program of no named
 *   plane runs; {BenchError} if there is no generator
 */
export async function findPrograms({ load, planes, chosen, pipelines = {}, isPlaneRequired, arms, findTool }) {
  /** @type {ProgramSearch} */
  const { tools, missing, scripts, lacks } = { tools: {}, missing: [], scripts: {}, lacks: {} }
  const hasNamedProgram = (/** @type {PlaneChoice} */ choice) =>
    hasProgram(choice) || findVariantPipeline(pipelines, choice)?.program != null
  const neededPlanes = Object.values(planes).filter(({ name }) =>
    chosen.some(choice => choice.plane === name && !hasNamedProgram(choice)),
  )
  const [generator, ...searches] = await Promise.all([
    findTool(load.tool),
    ...neededPlanes.map(async ({ name, tool }) => ({
      name,
      result: tool && (await findRunnableProgram(tool, findTool)),
    })),
  ])
  const broken = searches.flatMap(({ result }) => (result && 'broken' in result ? [result.broken] : []))
  const hasUsable = searches.some(({ result }) => result && !('broken' in result || 'missing' in result))
  // If another plane can be measured, a program that does not run is only left out.
  if (isPlaneRequired && broken.length > 0 && !hasUsable && !chosen.some(hasNamedProgram)) throw broken[0]
  for (const { name, result } of searches) {
    if (result === null) continue
    const advice = planes[name].tool?.ifMissing?.advice
    if ('broken' in result) missing.push({ plane: name, reason: result.broken.message })
    else if (!('missing' in result)) tools[result.name] = result
    else if (!isPlaneRequired) missing.push({ plane: name, reason: result.missing })
    else
      throw new MissingPlaneError(
        `the plane ${name} cannot be measured: ${[result.missing, advice].filter(Boolean).join('; ')}`,
      )
  }
  for (const choice of chosen.filter(hasProgram)) {
    const spec = findToolSpec(planes, choice)
    const tool = await findTool(spec)
    if ('missing' in tool) throw new MissingPlaneError(`--planes ${choice.plane}=${choice.variant}: ${tool.missing}`)
    tools[createVariantKey({ tool: spec, variant: choice.variant })] = tool
  }
  for (const choice of chosen) {
    const program = await findProgram(planes, findVariantPipeline(pipelines, choice), choice)
    if (program === null) continue
    const tool = await findTool(program)
    if ('missing' in tool) throw new MissingPlaneError(`--planes ${choice.plane}=${choice.variant}: ${tool.missing}`)
    tools[createVariantKey({ tool: findToolSpec(planes, choice), variant: choice.variant })] = tool
  }
  if ('missing' in generator) throw new BenchError(`no load can be made: ${generator.missing}`)
  tools[generator.name] = generator
  const controlled = arms.filter(arm => arm.control !== undefined && !missing.some(({ plane }) => plane === arm.plane))
  for (const spec of new Set(controlled.flatMap(arm => findControl(planes[arm.plane], arm)?.tool ?? []))) {
    const tool = await findTool(spec)
    if ('missing' in tool) lacks[spec.name] = tool.missing
    else tools[spec.name] = tool
  }
  findVariantScripts(planes, chosen, { scripts, lacks })
  for (const choice of chosen) {
    const spec = findDeployedProfile(planes, choice)?.runtime
    if (spec === undefined || missing.some(({ plane }) => plane === choice.plane)) continue
    const tool = await findTool(spec)
    if ('missing' in tool)
      lacks[renderProfileName(choice)] = `it needs ${spec.name} ${spec.wanted} beside it: ${tool.missing}`
    else tools[spec.name] = tool
  }
  return { tools, missing, scripts, lacks }
}

/**
 * Finds the program of a plane, and catches the error if it does not run.
 * @param {ToolSpec} tool the spec of the program
 * @param {Site['findTool']} findTool
 * @returns {Promise<Awaited<ReturnType<Site['findTool']>> | { broken: BrokenToolError }>} the program; missing: why
 *   it is missing; broken: why it does not run
 */
async function findRunnableProgram(tool, findTool) {
  try {
    return await findTool(tool)
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
 * @returns {Promise<{ tool: Tool, scripts: string }>} scripts: their folder
 * @throws {MissingPlaneError} if either is missing
 */
export async function findPlane({ planes, choice, folders, findTool }) {
  const spec = findToolSpec(planes, choice)
  const tool = await findTool(spec)
  if ('missing' in tool) throw new MissingPlaneError(tool.missing)
  const { scripts, lacks } = findVariantScripts(planes, [choice])
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
 * Finds the spec of the program that a pipeline names.
 * @param {Planes} planes
 * @param {Pipeline | undefined} pipeline
 * @param {PlaneChoice} choice
 * @returns {Promise<ToolSpec | null>} null: it names none
 */
async function findProgram(planes, pipeline, { plane }) {
  if (!pipeline?.program) return null
  const { program, document } = pipeline
  const known = (await loadPlanes([program]))[program]
  if (known?.tool && known.pipelines !== 'only') return known.tool
  const spec = /** @type {ToolSpec} */ (planes[plane].tool)
  if (planes[plane].pipelines !== 'only') return { ...spec, path: program }
  const programSpec = { ...spec, name: path.basename(program), versionArgv: document.versionArguments }
  // A program that the kit does not know is looked for in PATH, and never fetched.
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
 * Creates the spec of a plane's program; a choice that names a program sets the path.
 * @param {Planes} planes
 * @param {PlaneChoice} choice
 * @returns {ToolSpec}
 */
export function findToolSpec(planes, choice) {
  const spec = /** @type {ToolSpec} */ (planes[choice.plane].tool)
  return hasProgram(choice) ? { ...spec, path: `${choice.variant}` } : spec
}

/**
 * Finds the scripts that profiles run, or the reasons why they are missing. Profiles without scripts are left out.
 * @param {Planes} planes
 * @param {PlaneChoice[]} chosen
 * @param {Pick<ProgramSearch, 'scripts' | 'lacks'>} [into] is changed; a new object by default
 * @returns {Pick<ProgramSearch, 'scripts' | 'lacks'>} `into`
 */
function findVariantScripts(planes, chosen, into = { scripts: {}, lacks: {} }) {
  for (const choice of chosen) {
    const spec = findDeployedProfile(planes, choice)?.scripts
    const scripts = spec && findScripts(spec)
    if (scripts && 'missing' in scripts) into.lacks[renderProfileName(choice)] = scripts.missing
    else if (scripts) into.scripts[renderProfileName(choice)] = scripts.folder
  }
  return into
}

/**
 * Finds the program that serves the applications.
 * @param {object} options
 * @param {'pipy' | 'node' | null} options.app null: Pipy, else Node, and then a line says so
 * @param {Record<string, Tool>} options.tools those that were found before
 * @param {Site['findTool']} options.findTool
 * @param {Context['say']} options.say
 * @returns {Promise<Tool>} Pipy or Node
 * @throws {BenchError} if it is missing
 */
export async function findAppRuntime({ app, tools, findTool, say }) {
  const pipy = app === 'node' ? null : (tools.pipy ?? (await findTool(await loadPipyTool())))
  if (pipy !== null && !('missing' in pipy)) return pipy
  if (app === 'pipy' && pipy !== null) throw new BenchError(`--app pipy: ${pipy.missing}`)
  if (app === null)
    say('no Pipy: the applications are served by Node (their CPU is not comparable with runs served by Pipy)')
  const node = await findTool(nodeTool)
  if ('missing' in node) throw new BenchError(`nothing can serve the applications: ${node.missing}`)
  return node
}

/** Loads the spec of Pipy. @returns {Promise<ToolSpec>} */
async function loadPipyTool() {
  return /** @type {ToolSpec} */ ((await loadPlanes(['pipy'])).pipy.tool)
}

/**
 * Lists the planes that a run cannot measure because their program is missing. Programs without advice are left out.
 * @param {Pick<import('../run/execute.js').Preparation, 'plan' | 'programs'>} preparation
 * @returns {{ name: string, lack: string, advice: string }[]} []: none is missing
 */
export function listLackingPlanes({ plan: { notMeasured }, programs: { planes, tools } }) {
  return Object.values(planes).flatMap(({ name, tool }) => {
    if (!tool?.ifMissing || tool.name in tools || !notMeasured.some(({ plane }) => plane === name)) return []
    return [{ name, ...tool.ifMissing }]
  })
}
