import { nameOf } from './arms.js'

/** The folders of scripts that a run used, as its manifest lists them. Pure. */
/** @import { PlaneChoice, ScriptFolder } from './types.ts' */

/**
 * Finds the entry of another run for the same use.
 * @param {{ scripts: ScriptFolder[] }} manifest
 * @param {Pick<ScriptFolder, 'role' | 'plane' | 'variant'> & { profile?: string | null }} own
 */
export function findScripts({ scripts }, { role, plane, variant, profile = null }) {
  return scripts.find(
    other =>
      other.role === role && other.plane === plane && other.variant === variant && (other.profile ?? null) === profile,
  )
}

/** Says `the load`, `the applications`, or a plane with its variant. @param {ScriptFolder} scripts */
export function nameScripts({ role, plane, variant, profile = '' }) {
  if (role === 'sidecar') return nameOf(/** @type {PlaneChoice} */ ({ plane, variant, profile }))
  return role === 'generator' ? 'the load' : 'the applications'
}
