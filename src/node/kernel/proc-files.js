import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Lists the entries of a folder of /proc; none when its process has ended. @param {string} folder */
export function listSafely(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Reads a file of /proc; empty when its process has ended, or it may not be read. @param {string} file */
export function readSafely(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Reads a link of /proc; empty when its process has ended, or it may not be read. @param {string} file */
export function readLinkSafely(file) {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

/** The ids of all processes. @param {string} [proc] where /proc is */
export function listPids(proc = '/proc') {
  return listSafely(proc).filter(name => /^\d+$/.test(name))
}

/** Says whether a process is stopped, by a signal or a debugger (proc(5), stat field 3). @param {number} pid */
export function isStopped(pid) {
  return /\) [Tt] /.test(readSafely(`/proc/${pid}/stat`))
}

/** Says whether a process has closed all it had open: it is gone, or has only an exit status left. @param {number} pid */
export function hasEnded(pid) {
  const threads = listSafely(`/proc/${pid}/task`)
  return threads.length === 0 || (threads.length === 1 && /\) [ZX] /.test(readSafely(`/proc/${pid}/stat`)))
}
