import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { locateCacheFolder, locateHomeFolder, ROOT } from '../lib/paths.js'
import { withTemporaryFolder } from '../lib/temporary-folder.js'
import { MIB } from '../lib/units.js'
import { readFilesToBundle, writeBundle } from '../records/bundle.js'
import { writeAtomically } from '../records/files.js'
import { createNameHider } from '../records/hide-names.js'
import { BUNDLE_ENDING, isBundle } from './open-runs.js'
import { verifyRunFolder } from './verify.js'

const FAULTS_MOST = 3
// Lines of `verify` that name no fault, so an error leaves them out.
const NO_FAULT = /^(\d+ of|not computed|another version)/

/**
 * Writes a run as one file, after `verify` has accepted its content. Names of hosts, users and folders are replaced, except those that
 * are an arm's name, too.
 * @param {string} folder of the run
 * @param {{ file?: string, keepsNames?: boolean }} options file: named after the run by default; keepsNames: hosts,
 *   users and folders stay named; false by default
 * @returns {Promise<string[]>} lines that say what the file contains
 * @throws {UsageError} if the file's name is not that of a bundle, or the folder is a file; {BenchError} if the folder holds no run,
 *   `verify` does not accept it, or the bundle cannot be written; as `readFilesToBundle` and `verifyRunFolder`
 */
export async function bundleRun(
  folder,
  { file = `${path.basename(path.resolve(folder))}.tar.gz`, keepsNames = false },
) {
  assertCanBundle(folder, file)
  const files = readFilesToBundle(folder)
  const { hideInFile, keptNames } = createNameHider(files, {
    folders: [folder, '.', ROOT, locateCacheFolder(), locateHomeFolder()].map(at => path.resolve(at)),
    // A user may have no entry in passwd(5). `root` identifies no person.
    names: [os.hostname(), callSafely(() => os.userInfo().username, '')].filter(name => name !== 'root'),
  })
  const bundledFiles = keepsNames
    ? files
    : Object.fromEntries(Object.entries(files).map(([name, text]) => [name, hideInFile(name, text)]))
  await assertVerified(bundledFiles, folder)
  const bytes = await writeBundle(path.resolve(file), bundledFiles)
  const names = keepsNames
    ? 'names and paths of this machine are in it'
    : 'hosts, users and folders are not named in it'
  return [
    `${file}: ${(bytes / MIB).toFixed(2)} MiB, ${Object.keys(bundledFiles).length} files; ${names}`,
    'not in it: rendered configurations, logs of services, and what report writes again',
    ...(keptNames.length > 0 && !keepsNames
      ? [`still named, since an arm has the same name: ${keptNames.join(', ')}`]
      : []),
  ]
}

/**
 * Asserts that a folder holds a run, and that a file has the name of a bundle.
 * @param {string} folder of the run
 * @param {string} file the path of the bundle
 * @throws {UsageError} if the file's name has another ending, or the folder is a file; {BenchError} if the folder holds no run
 */
function assertCanBundle(folder, file) {
  if (!BUNDLE_ENDING.test(file)) throw new UsageError(`--bundle ${file}: the name of a bundle ends in .tar.gz`)
  if (isBundle(folder)) throw new UsageError(`${folder} is a file: --bundle takes a results folder`)
  if (!existsSync(path.join(folder, 'manifest.json')))
    throw new BenchError(`${folder} holds no run: ${path.join(folder, 'manifest.json')} is missing`)
}

/**
 * Asserts that `verify` accepts the files of a bundle: replacing names must change no number.
 * @param {Record<string, string>} files text by name
 * @param {string} folder of the run, for the error
 * @throws {BenchError} with the first FAULTS_MOST faults if it does not; if a temporary file cannot be written; as `verifyRunFolder`
 */
async function assertVerified(files, folder) {
  await withTemporaryFolder('sidecar-bench-bundle', async stagedFolder => {
    for (const [name, text] of Object.entries(files)) writeAtomically(stagedFolder, name, text)
    const { lines, agrees } = await verifyRunFolder(stagedFolder)
    if (agrees) return
    const faults = lines.filter(line => !NO_FAULT.test(line)).slice(0, FAULTS_MOST)
    throw new BenchError(`no bundle was made of ${folder}, which verify does not accept: ${faults.join('; ')}`)
  })
}
