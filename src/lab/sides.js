import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { pipy } from '../dataplanes/pipy/index.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'
import { findFailureReason } from '../lib/programs.js'
import { findScripts } from '../tools/find-scripts.js'
import { readPipeline } from '../tools/read-pipeline.js'

/** The two folders of scripts that the lab compares. */

const KIT = path.join(ROOT, 'pipy-scripts')
const GIT = 'git:'
const MAIN = 'main.js'
// git may fetch over a network what a partial clone lacks.
const DEADLINE_MS = 120_000

/** @import { Pipeline } from '../model/pipeline.js' */
/**
 * @typedef {object} Side
 * @property {string} label names the side in output: the folder relative to the current one, or the folder and the commit
 * @property {string} scripts a folder with main.js
 * @property {string | null} profile of Pipy that runs them; null: they are of no mesh
 * @property {Pipeline | 'unknown' | null} pipeline of scripts that do not read the kit's configuration; null: they do read it;
 *   'unknown': they have no pipeline.yaml
 */

/**
 * Says whether a folder of scripts is that of the kit.
 * @param {string} folder
 * @returns {boolean}
 */
export function isKitFolder(folder) {
  return path.resolve(folder) === KIT
}

/**
 * Chooses the old side: that of the user, else the kit's scripts; for the kit's scripts themselves, their last
 * commit.
 * @param {string | null} against the user's choice; null: there is none
 * @param {string} scripts the folder of the new side
 * @returns {string} a folder, or `git:COMMIT`
 */
export function chooseOldSide(against, scripts) {
  return against ?? (isKitFolder(scripts) ? `${GIT}HEAD` : KIT)
}

/**
 * Reads a folder of scripts: they are run by the profile of a mesh, by a pipeline.yaml, or by the kit's configuration.
 * @param {string} scripts their folder
 * @returns {Side}
 * @throws {UsageError} if the folder has no scripts, or as `readPipeline`; the system's error if a script cannot be read
 */
export function readSide(scripts) {
  const folder = path.resolve(scripts)
  const label = path.relative('', folder) || folder
  for (const [profile, { scripts: meshScripts }] of Object.entries(pipy.deployed ?? {})) {
    const checkout = meshScripts && findScripts(meshScripts, { [meshScripts.variable]: folder })
    if (checkout && 'folder' in checkout) return { label, scripts: checkout.folder, profile, pipeline: null }
  }
  const pipeline = readPipeline(folder)
  if (pipeline) return { label, scripts: folder, profile: null, pipeline }
  if (!existsSync(path.join(folder, MAIN)))
    throw new UsageError(`${folder} has no ${MAIN}: name a folder of Pipy scripts such as pipy-scripts`)
  // Scripts read the path of the kit's configuration from their arguments: those that read none do not use it.
  const readsArguments = listScripts(folder).some(file => /\bpipy\.argv\b/.test(readFileSync(file, 'utf8')))
  return { label, scripts: folder, profile: null, pipeline: readsArguments ? null : 'unknown' }
}

/**
 * Lists the script files in a folder and its subfolders.
 * @param {string} folder
 * @returns {string[]} paths; []: there are none
 * @throws the system's error if a folder cannot be read
 */
function listScripts(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && entry.name.endsWith('.js'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
}

/**
 * Unpacks the scripts of a commit into a folder.
 * @param {{ ref: string, scripts: string, into: string }} from ref: of the commit; scripts: their folder in the
 *   checkout; into: the folder to create
 * @returns {Promise<Side>}
 * @throws {UsageError} if the commit has none, git is missing, or as `readSide`; what was unpacked then stays
 * @throws {BenchError} if they cannot be unpacked
 */
async function unpackFromGit({ ref, scripts, into }) {
  const folder = path.resolve(scripts)
  const archive = `${into}.tar`
  mkdirSync(into, { recursive: true })
  // git archives only the folder in which it runs.
  const argv = ['-C', folder, 'archive', `--output=${archive}`, '--end-of-options', ref]
  const result = await execa('git', argv, { reject: false, timeout: DEADLINE_MS })
  const advice = 'name a commit that has it, or a folder: --against FOLDER'
  if (result.code === 'ENOENT')
    throw new UsageError(`${scripts} in ${ref} needs git, which is not installed; name a folder: --against FOLDER`)
  if (result.failed) throw new UsageError(`git has no ${scripts} in ${ref}: ${findFailureReason(result)}; ${advice}`)
  await execa('tar', ['-xf', archive, '-C', into], { timeout: DEADLINE_MS }).catch(error => {
    throw new BenchError(`cannot unpack the scripts of ${ref}: ${error.message}`, { cause: error })
  })
  rmSync(archive)
  if (!existsSync(path.join(into, MAIN))) throw new UsageError(`${scripts} in ${ref} has no ${MAIN}; ${advice}`)
  return { ...readSide(into), label: `${scripts} in ${ref}` }
}

/**
 * Locates the folder of the old side's scripts, once `openOldSide` has run.
 * @param {{ against: string, into: string }} options against: a folder, or `git:COMMIT`; into: the folder for scripts
 *   of git
 * @returns {string}
 */
export function locateOldSide({ against, into }) {
  return against.startsWith(GIT) ? into : path.resolve(against)
}

/**
 * Opens the old side: a folder, or the scripts of a commit, which it unpacks.
 * @param {{ against: string, scripts: string, into: string }} options against: a folder, or `git:COMMIT`; scripts:
 *   the folder of the new side; into: the folder for scripts of git
 * @returns {Promise<Side>}
 * @throws {UsageError} if there are no such scripts, or git is missing; as `readSide`
 * @throws {BenchError} if the scripts of a commit cannot be unpacked
 */
export async function openOldSide({ against, scripts, into }) {
  return against.startsWith(GIT) ? unpackFromGit({ ref: against.slice(GIT.length), scripts, into }) : readSide(against)
}
