import { existsSync } from 'node:fs'
import path from 'node:path'

/**
 * Finds the scripts of a mesh: the first of the spec's subfolders that has its file, in the folder that the user's variable names.
 * @param {NonNullable<import('../model/types.ts').DeployedProfile['scripts']>} spec
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {{ folder: string } | { missing: string }} missing: why there are none, and what to set
 */
export function findScripts({ variable, folders, file, what }, environment = process.env) {
  const root = environment[variable]
  if (!root) return { missing: `its scripts are no part of the kit: set ${variable} to ${what}` }
  const folder = folders.map(subfolder => path.resolve(root, subfolder)).find(at => existsSync(path.join(at, file)))
  if (folder) return { folder }
  return { missing: `no ${file} in ${variable}=${root}, nor below it where it belongs: set ${variable} to ${what}` }
}
