import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { BenchError, UsageError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'

/** Copies Pipy scripts of the kit into a folder to start from. */

const SCRIPTS = 'pipy-scripts'
/** The folder of the shortest script that carries a request over mTLS. */
export const SHORTEST = path.join(ROOT, 'bench', 'pipy-shortest')
const TESTS = path.join(ROOT, 'test', SCRIPTS)
const TEST_FILE = /\.test\.mjs$/
// The folder above may belong to a package of CommonJS.
const PACKAGE = `${JSON.stringify({ private: true, type: 'module' }, null, 2)}\n`

/**
 * Copies the shortest script into a new folder.
 * @param {string} folder that does not exist
 * @throws {UsageError | BenchError} as `copyKitScripts`
 */
export function copyShortestScript(folder) {
  fillFolder(folder, () => cpSync(SHORTEST, folder, { recursive: true }))
}

/**
 * Copies the kit's scripts, with the tests of their pure parts and a package.json for ES modules, into a new folder.
 * @param {string} folder that does not exist
 * @returns {string[]} the file names of the tests
 * @throws {UsageError} if the folder exists, cannot be made, or its name has a comma
 * @throws {BenchError} if the copy fails; the folder is then removed
 */
export function copyKitScripts(folder) {
  return fillFolder(folder, () => {
    cpSync(path.join(ROOT, SCRIPTS), folder, { recursive: true })
    const tests = readdirSync(TESTS).filter(name => TEST_FILE.test(name))
    for (const name of tests) {
      const text = readFileSync(path.join(TESTS, name), 'utf8')
      writeFileSync(path.join(folder, name), text.replaceAll(`'../../${SCRIPTS}/`, "'./"))
    }
    writeFileSync(path.join(folder, 'package.json'), PACKAGE)
    return tests
  })
}

/**
 * Creates a folder and fills it. If that fails, the folder is removed.
 * @template T
 * @param {string} folder
 * @param {() => T} fill writes files into the folder
 * @returns {T} the result of `fill`
 * @throws {UsageError} if the folder exists, cannot be made, or its name has a comma
 * @throws {BenchError} if it cannot be filled
 */
function fillFolder(folder, fill) {
  // --planes separates its planes by commas.
  if (folder.includes(',')) throw new UsageError(`lab new ${folder}: bench --planes cannot name a folder with a comma`)
  createFolder(folder)
  try {
    return fill()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(`cannot copy scripts to ${folder}: ${message}`, { cause: error })
  }
}

/**
 * Creates a folder, but not those above it.
 * @param {string} folder
 * @throws {UsageError} if it exists, or cannot be made
 */
function createFolder(folder) {
  try {
    mkdirSync(folder)
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const advice = 'name a new folder in one that exists'
    throw new UsageError(`lab new ${folder}: ${code === 'EEXIST' ? 'it exists already' : message}; ${advice}`)
  }
}
