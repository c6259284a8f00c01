import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { pipy } from '../dataplanes/pipy/index.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'
import { findScripts } from '../tools/find-scripts.js'
import { readPipeline } from '../tools/read-pipeline.js'

/** Finds the two folders of scripts that are compared. */

const KIT = path.join(ROOT, 'pipy-scripts')
const GIT = 'git:'
const MAIN = 'main.js'
// git may fetch over a network what a partial clone lacks.
const DEADLINE_MS = 120_000

/** @import { Pipeline } from '../model/pipeline.js' */
/**
 * @typedef {object} Side
 * @property {string} label
 * @property {string} scripts a folder with main.js
 * @property {string | null} profile of Pipy that runs them; null: they are of no mesh
 * @property {Pipeline | 'unknown' | null} pipeline how to run scripts that do not read the kit's configuration; null: they do read it,
 *   'unknown': no pipeline.yaml says how
 */

/**
 * Says whether scripts are those of the kit.
 * @param {string} scripts their folder
 * @returns {boolean}
 */
export function isKit(scripts) {
  return path.resolve(scripts) === KIT
}

/**
 * Chooses the old side: that of the user, else the kit's scripts; for the kit's scripts themselves, their last
 * commit.
 * @param {string | null} against as the user named it; null: not at all
 * @param {string} scripts the folder of the new side
 * @returns {string} a folder, or `git:COMMIT`
 */
export function chooseOldSide(against, scripts) {
  return against ?? (isKit(scripts) ? `${GIT}HEAD` : KIT)
}

/**
 * Finds out how a folder of scripts is run.
 * @param {string} scripts their folder
 * @returns {Side}
 * @throws {UsageError} if the folder has no scripts
 */
export function findSide(scripts) {
  const folder = path.resolve(scripts)
  const label = path.relative('', folder) || folder
  for (const [profile, { scripts: scriptsOfMesh }] of Object.entries(pipy.deployed ?? {})) {
    const scripts = scriptsOfMesh && findScripts(scriptsOfMesh, { [scriptsOfMesh.variable]: folder })
    if (scripts && 'folder' in scripts) return { label, scripts: scripts.folder, profile, pipeline: null }
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
 * @returns {string[]} paths
 */
function listScripts(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap(entry =>
    entry.isFile() && entry.name.endsWith('.js') ? [path.join(entry.parentPath, entry.name)] : [],
  )
}

/**
 * Unpacks the scripts of a commit into a folder.
 * @param {{ ref: string, scripts: string, into: string }} from ref: of the commit; scripts: their folder in the
 *   checkout; into: the folder to create
 * @returns {Promise<Side>}
 * @throws {UsageError} if the commit has none, or git is missing; {BenchError} if they cannot be unpacked
 */
async function unpackFromGit({ ref, scripts, into }) {
  const folder = path.resolve(scripts)
  const archive = `${into}.tar`
  mkdirSync(into, { recursive: true })
  // git archives only the folder in which it runs.
  const words = ['-C', folder, 'archive', `--output=${archive}`, '--end-of-options', ref]
  const { failed, stderr, code } = await execa('git', words, { reject: false, timeout: DEADLINE_MS })
  const advice = 'name a commit that has it, or a folder: --against FOLDER'
  if (code === 'ENOENT')
    throw new UsageError(`${scripts} in ${ref} needs git, which is not installed; name a folder: --against FOLDER`)
  if (failed) throw new UsageError(`git has no ${scripts} in ${ref}: ${`${stderr}`.split('\n')[0]}; ${advice}`)
  await execa('tar', ['-xf', archive, '-C', into], { timeout: DEADLINE_MS }).catch(error => {
    throw new BenchError(`cannot unpack the scripts of ${ref}: ${error.message}`, { cause: error })
  })
  rmSync(archive)
  if (!existsSync(path.join(into, MAIN))) throw new UsageError(`${scripts} in ${ref} has no ${MAIN}; ${advice}`)
  return { ...findSide(into), label: `${scripts} in ${ref}` }
}

/**
 * Locates the folder of the old side's scripts, once `findOldSide` has run.
 * @param {{ against: string, into: string }} options against: a folder, or `git:COMMIT`; into: the folder for scripts
 *   of git
 * @returns {string}
 */
export function locateOldSide({ against, into }) {
  return against.startsWith(GIT) ? into : path.resolve(against)
}

/**
 * Finds the old side: a folder, or the scripts of a commit, which it unpacks.
 * @param {{ against: string, scripts: string, into: string }} options against: a folder, or `git:COMMIT`; scripts:
 *   the folder of the new side; into: the folder for scripts of git
 * @returns {Promise<Side>}
 * @throws {UsageError} if there are no such scripts, or git is missing
 */
export async function findOldSide({ against, scripts, into }) {
  return against.startsWith(GIT) ? unpackFromGit({ ref: against.slice(GIT.length), scripts, into }) : findSide(against)
}
