import { hashFolder } from '../lib/hash.js'

/**
 * The scripts that a run uses, by what is in them: a path says nothing of an edit.
 * @import { Arm, DataPlane, ScriptFolder } from '../model/types.ts'
 */

/**
 * @param {{ arms: Pick<Arm, 'plane' | 'variant'>[], planes: Record<string, Pick<DataPlane, 'hasVariants'>>,
 *   folders: { pipyScripts: string, echo: string, load: string } }} options
 * @returns {ScriptFolder[]} those of the load, of the applications, and of each plane or variant that runs scripts
 */
export function hashScripts({ arms, planes, folders }) {
  const scripted = arms.filter(({ plane }) => planes[plane].hasVariants)
  const variants = new Map(scripted.map(({ plane, variant }) => [JSON.stringify([plane, variant]), { plane, variant }]))
  return [
    { role: 'generator', plane: null, variant: null, sha256: hashFolder(folders.load) },
    { role: 'application', plane: null, variant: null, sha256: hashFolder(folders.echo) },
    ...[...variants.values()].map(choice => ({
      role: /** @type {const} */ ('sidecar'),
      ...choice,
      sha256: hashFolder(choice.variant ?? folders.pipyScripts),
    })),
  ]
}
