import { existsSync } from 'node:fs'
import path from 'node:path'

/** The name of a pipeline's document in its folder; beside the folder it is `FOLDER.pipeline.yaml`. */
export const PIPELINE_FILE = 'pipeline.yaml'

/**
 * Finds the path of a pipeline's document: in its folder, else beside it.
 * @param {string} folder
 * @returns {string | null} null: there is none
 */
export function findPipelineFile(folder) {
  const within = path.join(folder, PIPELINE_FILE)
  const beside = `${path.resolve(folder)}.${PIPELINE_FILE}`
  return [within, beside].find(file => existsSync(file)) ?? null
}
