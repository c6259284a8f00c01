import { readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { processStartTicks } from '../../node/kernel/proc-files.js'
import { runIdOf, treeParents } from './cgroups.js'
import { kill, listMarked } from './marks.js'
import { removeCgroup } from './remove-cgroup.js'

/**
 * @import { CapWay } from './cgroups.js'
 */

/**
 * Removes what ended runs left on this machine: processes, cgroups, certificates.
 * @param {CapWay} way how processes are capped here
 * @returns {Promise<string[]>} what was removed
 */
export async function cleanUpLocal(way) {
  const removed = []
  const isGone = (/** @type {string} */ runId) => !isOwnerAlive(runId)

  for (const { pid, runId } of listMarked()) {
    if (!isGone(runId)) continue
    kill(pid)
    removed.push(`process ${pid} of run ${runId}`)
  }
  for (const parent of treeParents(way)) {
    for (const name of readdirSync(parent)) {
      const runId = runIdOf(name)
      if (runId === null || !isGone(runId)) continue
      await removeCgroup(path.join(parent, name))
      removed.push(`cgroup ${path.join(parent, name)}`)
    }
  }
  for (const name of readdirSync(os.tmpdir())) {
    const runId = runIdOf(name)
    if (runId === null || !isGone(runId)) continue
    rmSync(path.join(os.tmpdir(), name), { recursive: true, force: true })
    removed.push(`folder ${path.join(os.tmpdir(), name)}`)
  }
  return removed
}

/** @param {string} runId */
function isOwnerAlive(runId) {
  try {
    const [pid, ticks] = readFileSync(path.join(os.tmpdir(), `sidecar-bench.${runId}`, 'owner'), 'utf8')
      .split(' ')
      .map(Number)
    return processStartTicks(pid) === ticks
  } catch {
    return false
  }
}
