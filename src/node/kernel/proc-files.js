import { readdirSync, readFileSync } from 'node:fs'
import { numberOf } from './counter-file.js'

/** The entries of a folder of /proc; none when its process has ended. @param {string} folder */
export function listSafely(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The text of a file of /proc; empty when its process has ended, or it may not be read. @param {string} file */
export function readSafely(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether a process is stopped, by a signal or a debugger (proc(5), stat field 3). @param {number} pid */
export function isStopped(pid) {
  return /\) [Tt] /.test(readSafely(`/proc/${pid}/stat`))
}

/** The processes of a cgroup; it must be there. @param {string} folder */
export function readPids(folder) {
  return readFileSync(`${folder}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(numberOf)
}

/**
 * Whether a process has closed all that it had open: it is gone, or only its exit status is left to be read.
 * @param {number} pid
 */
export function hasEnded(pid) {
  const threads = listSafely(`/proc/${pid}/task`)
  return threads.length === 0 || (threads.length === 1 && /\) [ZX] /.test(readSafely(`/proc/${pid}/stat`)))
}
