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
import { verifyFolder } from './verify.js'

const SHOWN_MOST = 3
// Lines of `verify` that name no fault, so an error leaves them out.
const NO_FAULT = /^(\d+ of|not computed|another version)/

/**
 * Writes a run as one file, after `verify` has accepted its content.
 * @param {string} folder of the run
 * @param {{ file?: string, keepsNames?: boolean }} options file: named after the run by default; keepsNames: hosts,
 *   users and folders stay named
 * @returns {Promise<string[]>} lines that say what the file contains
 * @throws {UsageError | BenchError} if the file's name is not that of a bundle, the folder holds no run, or `verify`
 *   does not accept it
 */
export async function bundleRun(
  folder,
  { file = `${path.basename(path.resolve(folder))}.tar.gz`, keepsNames = false },
) {
  if (!BUNDLE_ENDING.test(file)) throw new UsageError(`--bundle ${file}: the name of a bundle ends in .tar.gz`)
  if (isBundle(folder)) throw new UsageError(`${folder} is a file: --bundle takes a results folder`)
  if (!existsSync(path.join(folder, 'manifest.json')))
    throw new BenchError(`${folder} holds no run: ${path.join(folder, 'manifest.json')} is missing`)
  const files = readFilesToBundle(folder)
  const { hideIn, kept } = createNameHider(files, {
    folders: [folder, '.', ROOT, locateCacheFolder(), locateHomeFolder()].map(at => path.resolve(at)),
    // A user may have no entry in passwd(5). `root` identifies no person.
    names: [os.hostname(), callSafely(() => os.userInfo().username, '')].filter(name => name !== 'root'),
  })
  const bundledFiles = keepsNames
    ? files
    : Object.fromEntries(Object.entries(files).map(([at, text]) => [at, hideIn(at, text)]))
  await withTemporaryFolder('sidecar-bench-bundle', async staged => {
    for (const [name, text] of Object.entries(bundledFiles)) writeAtomically(staged, name, text)
    const { lines, agrees } = await verifyFolder(staged)
    if (!agrees)
      throw new BenchError(
        `no bundle was made of ${folder}, which verify does not accept: ${lines
          .filter(line => !NO_FAULT.test(line))
          .slice(0, SHOWN_MOST)
          .join('; ')}`,
      )
  })
  const bytes = await writeBundle(path.resolve(file), bundledFiles)
  const names = keepsNames
    ? 'names and paths of this machine are in it'
    : 'hosts, users and folders are not named in it'
  return [
    `${file}: ${(bytes / MIB).toFixed(2)} MiB, ${Object.keys(bundledFiles).length} files; ${names}`,
    'not in it: rendered configurations, logs of services, and what report writes again',
    ...(kept.length > 0 && !keepsNames ? [`still named, since an arm has the same name: ${kept.join(', ')}`] : []),
  ]
}
