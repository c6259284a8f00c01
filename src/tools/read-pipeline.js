import { isUtf8 } from 'node:buffer'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { UsageError } from '../lib/errors.js'
import { assertPipelineRenderable, parsePipeline } from '../model/pipeline.js'
import { findPipelineFile, PIPELINE_FILE } from './pipeline-file.js'

/**
 * Reads the `pipeline.yaml` of a folder and the scripts that it names.
 * @import { Pipeline, PipelineDocument } from '../model/pipeline.js'
 */

// Scripts are copied for each start, so that files can be rendered into them; a larger folder is likely the wrong one.
const SCRIPTS_BYTES_MOST = 16 * 2 ** 20

/**
 * Reads the pipeline of a folder. `${NAME}` in the path of its scripts is replaced from the environment.
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {Pipeline | null} null: `findPipelineFile` finds no document
 * @throws {UsageError} if the document is not valid or cannot be rendered, a variable is not set, or the folder of scripts is
 *   missing, has more than SCRIPTS_BYTES_MOST, or has a link that is dead, leads out of it or to a folder above itself; the
 *   system's error if a file cannot be read
 */
export function readPipeline(folder, environment = process.env) {
  const file = findPipelineFile(folder)
  if (file === null) return null
  const name = path.relative('', file)
  const document = parsePipeline(readFileSync(file, 'utf8'), name)
  const scriptsPath = expandVariables(document.scripts, { file: name, environment })
  // The path of scripts is relative to the folder, also if the file stands beside it.
  const scripts = path.resolve(path.basename(file) === PIPELINE_FILE ? path.dirname(file) : folder, scriptsPath)
  const pipeline = createPipeline({ document, file: name, scripts })
  assertPipelineRenderable(pipeline)
  return pipeline
}

/**
 * Joins a document and the files of its scripts: text as UTF-8, all others as latin1, which keeps any bytes.
 * @param {{ document: PipelineDocument, file: string, scripts: string }} options file: the document's path, which errors name;
 *   scripts: the path of the folder
 * @returns {Pipeline}
 * @throws {UsageError} if the folder is missing, has more than SCRIPTS_BYTES_MOST, or has a link that is dead, leads out of it or
 *   to a folder above itself; the system's error if a file cannot be read
 */
export function createPipeline({ document, file, scripts }) {
  if (!statSync(scripts, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${file}: scripts: ${scripts} is no folder`)
  const contents = readFiles(scripts, file)
  const { program = null } = document
  return {
    document,
    file,
    scripts,
    scriptFiles: decodeContents(
      contents.filter(([, content]) => isUtf8(content)),
      'utf8',
    ),
    binaryFiles: decodeContents(
      contents.filter(([, content]) => !isUtf8(content)),
      'latin1',
    ),
    program: program?.includes('/') ? path.resolve(path.dirname(file), program) : program,
  }
}

/**
 * Replaces each `${NAME}` by that variable's value, as an absolute path.
 * @param {string} text
 * @param {{ file: string, environment: NodeJS.ProcessEnv }} options file: its name, for errors
 * @throws {UsageError} if a variable is not set, or empty
 */
function expandVariables(text, { file, environment }) {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name) => {
    const value = environment[name]
    if (value) return path.resolve(value)
    throw new UsageError(`${file}: scripts: ${text}: set ${name} to the folder that it stands for`)
  })
}

/**
 * Decodes the contents of files.
 * @param {[string, Buffer][]} contents by path
 * @param {BufferEncoding} encoding
 * @returns {Record<string, string>} by path
 */
function decodeContents(contents, encoding) {
  return Object.fromEntries(contents.map(([name, content]) => [name, content.toString(encoding)]))
}

/**
 * Reads the files of a folder of scripts, each folder's sorted by name. Links are followed if they lead to a place in the folder;
 * sockets, pipes and devices are left out.
 * @param {string} folder
 * @param {string} file the document's path, which errors name
 * @returns {[string, Buffer][]} by path below the folder; []: it has none
 * @throws {UsageError} for a link that is dead, or leads out of the folder or to a folder above itself, and for more than
 *   SCRIPTS_BYTES_MOST; the system's error if a file cannot be read
 */
function readFiles(folder, file) {
  const root = realpathSync(folder)
  let bytes = 0
  /**
   * Reads the files of a subfolder, and adds their sizes to `bytes`.
   * @param {string} subfolder its path below the root; empty: the root
   * @param {string[]} ancestors real paths of the folders from the root to the subfolder
   * @returns {[string, Buffer][]}
   */
  const read = (subfolder, ancestors) =>
    readdirSync(path.join(root, subfolder), { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(entry => {
        const name = subfolder === '' ? entry.name : `${subfolder}/${entry.name}`
        const entryPath = path.join(root, name)
        if (entry.isSymbolicLink()) assertLinkWithin(entryPath, { root, ancestors, name, file })
        const stat = statSync(entryPath)
        if (stat.isDirectory()) return read(name, [...ancestors, realpathSync(entryPath)])
        if (!stat.isFile()) return []
        bytes += stat.size
        if (bytes > SCRIPTS_BYTES_MOST)
          throw new UsageError(
            `${file}: scripts: ${folder} has more than ${SCRIPTS_BYTES_MOST / 2 ** 20} MiB, which would be copied for each start: name the folder of the scripts alone`,
          )
        return [[name, readFileSync(entryPath)]]
      })
  return read('', [root])
}

/**
 * Asserts that a link leads to a place below the folder of scripts.
 * @param {string} link its path
 * @param {object} options
 * @param {string} options.root the real path of the folder of scripts
 * @param {string[]} options.ancestors real paths of the folders in which the link lies
 * @param {string} options.name of the link, for errors
 * @param {string} options.file of the pipeline, for errors
 * @throws {UsageError} if it leads out or nowhere, or to a folder in which it lies
 */
function assertLinkWithin(link, { root, ancestors, name, file }) {
  const target = callSafely(() => realpathSync(link), null)
  if (target === null || !`${target}/`.startsWith(`${root}/`))
    throw new UsageError(
      `${file}: scripts: ${name} is a link to ${target ?? 'nothing'}, outside of the folder that is copied for each start: put a copy in its place`,
    )
  if (ancestors.includes(target))
    throw new UsageError(`${file}: scripts: ${name} is a link to a folder that it lies in: remove it`)
}
