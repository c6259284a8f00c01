import { readdirSync, readlinkSync } from 'node:fs'
import { callSafely } from '../../src/lib/call-safely.js'

/**
 * Lists the files below a folder that this process has open.
 * @param {string} folder
 * @returns {string[]} paths; []: none
 */
export function listOpenFiles(folder) {
  const files = readdirSync('/proc/self/fd').map(fd => callSafely(() => readlinkSync(`/proc/self/fd/${fd}`), ''))
  return files.filter(file => file.startsWith(`${folder}/`))
}
