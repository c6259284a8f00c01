import path from 'node:path'
import { hashFolder, hashText } from '../lib/hash.js'
import { ROOT } from '../lib/paths.js'
import { createVariantKey, findArmPipeline } from '../model/tools.js'
import { renderProfileName } from '../services/profiles.js'

/**
 * Finds the scripts that a run uses, and hashes them, since a path does not show an edit.
 * @import { Folders } from './kind.js'
 */
/**
 * @import { Arm, Programs, ScriptFolder } from '../model/types.ts'
 * @import { Pipeline } from '../model/pipeline.js'
 */

/** The fields of an arm that choose its scripts. @typedef {Pick<Arm, 'plane' | 'variant' | 'profile'>} ScriptedArm */
/** @typedef {{ hasVariants: boolean, tool: { name: string } | null }} ScriptedPlane */
/** @typedef {Pick<Programs, 'scripts' | 'tools' | 'pipelines'> & { planes: Record<string, ScriptedPlane> }} ScriptedPrograms */

/**
 * Locates the folders of the kit's own scripts.
 * @param {Pick<Programs, 'load'>} programs
 * @returns {Pick<Folders, 'pipyScripts' | 'echo' | 'load'>} absolute paths
 */
export function locateKitScripts({ load }) {
  return {
    pipyScripts: path.join(ROOT, 'pipy-scripts'),
    echo: path.join(ROOT, 'echo'),
    load: path.join(ROOT, load.scripts),
  }
}

/**
 * Finds the folder of scripts that an arm's sidecars run: that of its pipeline, its profile, its variant (unless the variant
 * names another program), or the kit.
 * @param {{ programs: ScriptedPrograms, folders: Pick<Folders, 'pipyScripts'> }} testbed
 * @param {ScriptedArm} arm
 * @returns {string} the kit's folder also for planes that run no scripts
 */
export function findScriptFolder({ programs, folders }, arm) {
  const pipeline = findArmPipeline(programs, arm)
  if (pipeline) return pipeline.scripts
  const { tool } = programs.planes[arm.plane]
  const isProgram = tool !== null && createVariantKey({ tool, variant: arm.variant }) in programs.tools
  return programs.scripts?.[renderProfileName(arm)] ?? (isProgram ? null : arm.variant) ?? folders.pipyScripts
}

/**
 * Hashes the folders of scripts, for the manifest.
 * @param {{ arms: ScriptedArm[], programs: ScriptedPrograms, folders: ReturnType<typeof locateKitScripts> }} options
 * @returns {ScriptFolder[]} those of the load, of the applications, and of each plane, profile or variant that runs scripts
 * @throws the system's error if a folder cannot be read
 */
export function hashScripts({ arms, programs, folders }) {
  /** @type {Map<string, ScriptFolder>} */
  const sidecarScripts = new Map()
  for (const arm of arms) {
    const { plane, variant, profile } = arm
    if (!programs.planes[plane].hasVariants) continue
    const isDeployed = programs.scripts?.[renderProfileName(arm)] !== undefined
    const owner = { plane, variant, ...(isDeployed && { profile: `${profile}` }) }
    const key = JSON.stringify(owner)
    if (sidecarScripts.has(key)) continue
    const pipeline = findArmPipeline(programs, arm)
    const sha256 = pipeline ? hashPipeline(pipeline) : hashFolder(findScriptFolder({ programs, folders }, arm))
    sidecarScripts.set(key, { role: 'sidecar', ...owner, sha256 })
  }
  return [
    { role: 'generator', plane: null, variant: null, sha256: hashFolder(folders.load) },
    { role: 'application', plane: null, variant: null, sha256: hashFolder(folders.echo) },
    ...sidecarScripts.values(),
  ]
}

/**
 * Hashes the scripts of a pipeline together with its `pipeline.yaml`, which defines how they are run.
 * @param {Pipeline} pipeline
 * @returns {string} SHA-256 in hexadecimal
 */
function hashPipeline({ document, scripts }) {
  return hashText(JSON.stringify([hashFolder(scripts), document]))
}
