import { readdirSync, readFileSync } from 'node:fs'
import { numberOf } from './counter-file.js'

export { processStartTicks } from '../../lib/process-start.js'

/**
 * The entries of a folder of /proc; none when its process has ended.
 * @param {string} folder
 */
export function listSafely(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * The text of a file of /proc; empty when its process has ended, or it may not be read.
 * @param {string} file
 */
export function readSafely(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The processes of a cgroup; it must be there.
 * @param {string} folder
 */
export function readPids(folder) {
  return readFileSync(`${folder}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(numberOf)
}
