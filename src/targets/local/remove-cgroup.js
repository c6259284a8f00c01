import { readdirSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from '../../lib/wait.js'
import { readPids } from '../../node/kernel/proc-files.js'
import { kill } from './marks.js'

const DEADLINE_SECONDS = 10

/**
 * Kills every process in a cgroup and below it, and removes them all; nothing happens when it is gone.
 * @param {string} folder
 */
export async function removeCgroup(folder) {
  let children
  try {
    children = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  } catch {
    return
  }
  for (const child of children) await removeCgroup(path.join(folder, child.name))
  await waitFor(() => tryRemove(folder), {
    what: `the processes of ${folder} to end`,
    deadlineSeconds: DEADLINE_SECONDS,
    intervalMs: 5,
  })
}

/** @param {string} folder */
async function tryRemove(folder) {
  for (const pid of readPids(folder)) kill(pid)
  return rmdir(folder).then(
    () => true,
    error => {
      if (error.code === 'EBUSY') return false
      if (error.code === 'ENOENT') return true
      throw error
    },
  )
}
