import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { BenchError, UsageError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'

/** Copies the kit's own Pipy scripts, with the tests of their pure parts, into a folder to start from. */

const SCRIPTS = 'pipy-scripts'
const TESTS = path.join(ROOT, 'test', SCRIPTS)
const TEST_FILE = /\.test\.mjs$/
// The folder above may belong to a package of CommonJS.
const PACKAGE = `${JSON.stringify({ private: true, type: 'module' }, null, 2)}\n`

/** Copies the scripts into a new folder; returns its tests. @param {string} folder @throws {UsageError | BenchError} */
export function copyScripts(folder) {
  // A comma parts the planes of --planes.
  if (folder.includes(',')) throw new UsageError(`lab new ${folder}: bench --planes cannot name a folder with a comma`)
  makeFolder(folder)
  try {
    cpSync(path.join(ROOT, SCRIPTS), folder, { recursive: true })
    const tests = readdirSync(TESTS).filter(name => TEST_FILE.test(name))
    for (const name of tests) {
      const text = readFileSync(path.join(TESTS, name), 'utf8')
      writeFileSync(path.join(folder, name), text.replaceAll(`'../../${SCRIPTS}/`, "'./"))
    }
    writeFileSync(path.join(folder, 'package.json'), PACKAGE)
    return tests
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(`cannot copy ${SCRIPTS} to ${folder}: ${message}`, { cause: error })
  }
}

/** @param {string} folder */
function makeFolder(folder) {
  try {
    mkdirSync(folder)
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const advice = 'name a new folder in one that exists'
    throw new UsageError(`lab new ${folder}: ${code === 'EEXIST' ? 'it exists already' : message}; ${advice}`)
  }
}
