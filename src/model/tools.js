import { renderArmName } from './arms.js'

/** The programs and folders of scripts of a run. If a variant is a program, the sidecars of its arms run that program. Pure. */
/** @import { Arm, PlaneChoice, Programs, ScriptFolder, Tool, ToolSpec } from './types.ts' */
/** @import { Pipeline } from './pipeline.js' */

/** @typedef {{ tool: Pick<ToolSpec, 'name'>, variant: PlaneChoice['variant'] }} Variant tool: of its plane; variant: null: none */

/**
 * Creates the key of a variant in the tools of a run, such as `pipy=/usr/local/bin/pipy-2.0`.
 * @param {Variant} variant
 * @returns {string}
 */
export function createVariantKey({ tool, variant }) {
  return `${tool.name}=${variant}`
}

/**
 * Finds the program of an arm's sidecars: that of its variant, or else that of the plane.
 * @param {Record<string, Tool>} tools by the key of a variant, or by name
 * @param {Variant} variant
 * @returns undefined: the tools have neither
 */
export function findSidecarTool(tools, variant) {
  return tools[createVariantKey(variant)] ?? tools[variant.tool.name]
}

/** The programs that can make the load; the first is the default. */
export const GENERATORS = ['k6', 'wrk']
export const [DEFAULT_GENERATOR] = GENERATORS

/**
 * Finds the generator that made a run's load, by its tools.
 * @param {{ tools: Record<string, unknown> }} run
 * @returns null: the run had none
 */
export function findGenerator({ tools }) {
  return GENERATORS.find(name => name in tools) ?? null
}

/**
 * Finds the folder of scripts that a run recorded for the same role, plane, variant and profile.
 * @param {{ scripts: ScriptFolder[] }} manifest
 * @param {Pick<ScriptFolder, 'role' | 'plane' | 'variant'> & { profile?: string | null }} options profile: null or absent:
 *   scripts without one
 * @returns undefined: it recorded none
 */
export function findRecordedScripts({ scripts }, { role, plane, variant, profile = null }) {
  return scripts
    .filter(folder => folder.role === role && folder.plane === plane)
    .find(folder => folder.variant === variant && (folder.profile ?? null) === profile)
}

/**
 * Renders the owner of scripts: `the load`, `the applications`, or a plane with its profile and variant.
 * @param {ScriptFolder} scripts
 * @returns {string}
 */
export function renderScriptsOwner({ role, plane, variant, profile = '' }) {
  if (role === 'sidecar') return renderArmName(/** @type {PlaneChoice} */ ({ plane, variant, profile }))
  return role === 'generator' ? 'the load' : 'the applications'
}

/**
 * Finds the pipeline that an arm's sidecars run, by its variant. The key of an arm without a variant, as in the lab, is ''.
 * @param {Pick<Programs, 'pipelines'>} programs
 * @param {Pick<Arm, 'variant'>} arm
 * @returns {Pipeline | undefined} undefined: the sidecars read the kit's configuration
 */
export function findArmPipeline({ pipelines }, { variant }) {
  return pipelines?.[variant ?? '']
}
