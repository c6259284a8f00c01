import { hashFolder, hashText } from '../lib/hash.js'
import { createVariantKey } from '../model/tools.js'
import { renderProfileName } from '../services/specs.js'

/**
 * Hashes the scripts that a run uses, since a path does not show an edit.
 * @import { Folders } from './kind.js'
 */
/**
 * @import { Arm, Programs, ScriptFolder } from '../model/types.ts'
 * @import { Pipeline } from '../model/pipeline.js'
 */

/** @typedef {Pick<Arm, 'plane' | 'variant' | 'profile'>} Scripted */
/** @typedef {{ hasVariants: boolean, tool: { name: string } | null }} ScriptedPlane */
/** @typedef {Pick<Programs, 'scripts' | 'tools' | 'pipelines'> & { planes: Record<string, ScriptedPlane> }} ScriptedPrograms */

/**
 * Finds the folder of scripts that an arm's sidecars run: that of its pipeline, its profile, its variant (unless the variant
 * names another program), or the kit.
 * @param {{ programs: ScriptedPrograms, folders: Pick<Folders, 'pipyScripts'> }} testbed
 * @param {Scripted} arm
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
 * Hashes each folder of scripts once, for the manifest.
 * @param {{ arms: Scripted[], programs: ScriptedPrograms,
 *   folders: { pipyScripts: string, echo: string, load: string } }} options
 * @returns {ScriptFolder[]} those of the load, of the applications, and of each plane, profile or variant that runs scripts
 */
export function hashScripts({ arms, programs, folders }) {
  const scripted = arms.filter(({ plane }) => programs.planes[plane].hasVariants)
  const byFolder = new Map(
    scripted.map(({ plane, variant, profile }) => {
      const deployed = programs.scripts?.[renderProfileName({ plane, profile })] ? { profile: `${profile}` } : {}
      const folder = findScriptFolder({ programs, folders }, { plane, variant, profile })
      const pipeline = findArmPipeline(programs, { variant })
      const sha256 = pipeline ? hashPipeline(pipeline) : hashFolder(folder)
      return [JSON.stringify([plane, variant, deployed]), { plane, variant, ...deployed, sha256 }]
    }),
  )
  return [
    { role: 'generator', plane: null, variant: null, sha256: hashFolder(folders.load) },
    { role: 'application', plane: null, variant: null, sha256: hashFolder(folders.echo) },
    ...[...byFolder.values()].map(scriptsOfArm => ({ role: /** @type {const} */ ('sidecar'), ...scriptsOfArm })),
  ]
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

/**
 * Hashes the scripts of a pipeline together with its `pipeline.yaml`, which defines how they are run.
 * @param {Pipeline} pipeline
 * @returns {string} SHA-256
 */
function hashPipeline({ document, scripts }) {
  return hashText(JSON.stringify([hashFolder(scripts), document]))
}
