import { readdirSync, readFileSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from '../../lib/wait.js'
import { kill } from './marks.js'

const DEADLINE_SECONDS = 30
// Processes that were killed take a moment to go; this process may be out of file descriptors for a moment.
const AGAIN = ['EBUSY', 'EMFILE', 'ENFILE']
const GONE = ['ENOENT', 'ENODEV']

/**
 * Kills every process in a cgroup and below it, and removes them all; nothing happens when it is gone.
 * @param {string} folder
 */
export async function removeCgroup(folder) {
  await waitFor(() => tryRemove(folder), {
    what: `the processes of ${folder} to end`,
    deadlineSeconds: DEADLINE_SECONDS,
    intervalMs: 5,
  })
}

/** @param {string} folder @returns {Promise<boolean>} whether it is gone */
async function tryRemove(folder) {
  try {
    const children = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const child of children) await tryRemove(path.join(folder, child.name))
    const pids = readFileSync(path.join(folder, 'cgroup.procs'), 'utf8').split('\n').map(Number)
    // The kernel writes 0 for a process that cannot be seen from here.
    for (const pid of pids.filter(pid => pid > 0)) kill(pid)
    await rmdir(folder)
    return true
  } catch (error) {
    const code = `${/** @type {NodeJS.ErrnoException} */ (error).code}`
    if (GONE.includes(code)) return true
    if (AGAIN.includes(code)) return false
    throw error
  }
}
