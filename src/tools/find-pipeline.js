import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { readTextFiles } from '../lib/text-files.js'
import { assertRenderable, PIPELINE_FILE, parsePipeline } from '../model/pipeline.js'

/** Finds the `pipeline.yaml` of a folder. @import { Pipeline, PipelineDocument } from '../model/pipeline.js' */

// Scripts are copied for each start, so that files can be rendered into them.
const MOST_BYTES = 16 * 2 ** 20

/** Finds the file in a folder, or beside it. @param {string} folder @returns {string | null} */
export function findPipelineFile(folder) {
  const within = path.join(folder, PIPELINE_FILE)
  const beside = `${path.resolve(folder)}.${PIPELINE_FILE}`
  return [within, beside].find(file => existsSync(file)) ?? null
}

/**
 * Reads the pipeline of a folder; null where it has no file.
 * @param {string} folder @param {NodeJS.ProcessEnv} [environment] @returns {Pipeline | null} @throws {UsageError}
 */
export function findPipeline(folder, environment = process.env) {
  const file = findPipelineFile(folder)
  if (file === null) return null
  const name = path.relative('', file)
  const document = parsePipeline(readFileSync(file, 'utf8'), name)
  const named = expand(document.scripts, { file: name, environment })
  // A file beside a folder is about that folder.
  const scripts = path.resolve(path.basename(file) === PIPELINE_FILE ? path.dirname(file) : folder, named)
  const pipeline = createPipeline({ document, file: name, scripts })
  assertRenderable(pipeline)
  return pipeline
}

/**
 * Joins a document and the files of its scripts.
 * @param {{ document: PipelineDocument, file: string, scripts: string }} options file: a name for errors
 * @returns {Pipeline} @throws {UsageError}
 */
export function createPipeline({ document, file, scripts }) {
  if (!statSync(scripts, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${file}: scripts: ${scripts} is no folder`)
  assertSmall(scripts, file)
  const { program = null } = document
  return {
    document,
    file,
    scripts,
    scriptFiles: readTextFiles(scripts),
    program: program?.includes('/') ? path.resolve(path.dirname(file), program) : program,
  }
}

/** @param {string} text @param {{ file: string, environment: NodeJS.ProcessEnv }} options */
function expand(text, { file, environment }) {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name) => {
    const value = environment[name]
    if (value) return path.resolve(value)
    throw new UsageError(`${file}: scripts: ${text}: set ${name} to the folder that it stands for`)
  })
}

/** @param {string} folder @param {string} file */
function assertSmall(folder, file) {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(path.join(entry.parentPath, entry.name)).size
    if (bytes > MOST_BYTES)
      throw new UsageError(
        `${file}: scripts: ${folder} has more than ${MOST_BYTES / 2 ** 20} MiB, which would be copied for each start: name the folder of the scripts alone`,
      )
  }
}
