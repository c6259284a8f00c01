import { existsSync } from 'node:fs'
import path from 'node:path'

/** The name of the file in a folder; beside a folder it is `FOLDER.pipeline.yaml`. */
export const PIPELINE_FILE = 'pipeline.yaml'

/** Finds the file in a folder, or beside it. @param {string} folder @returns {string | null} */
export function findPipelineFile(folder) {
  const within = path.join(folder, PIPELINE_FILE)
  const beside = `${path.resolve(folder)}.${PIPELINE_FILE}`
  return [within, beside].find(file => existsSync(file)) ?? null
}
