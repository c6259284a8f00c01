import { readdirSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../../lib/call-safely.js'
import { groupBy } from '../../lib/group-by.js'
import { renderCommand } from '../../lib/render-command.js'
import { findDistrust, readLedgers, removeHalfMadeLedgers, removeLedger } from '../../node/ledger.js'
import { removeCgroup } from './cgroup-folders.js'
import { listTreeParents, parseRunId } from './cgroups.js'
import { killProcess, listMarkedProcesses } from './marks.js'
import { listNetworkRuns } from './network-runs.js'

/**
 * @import { LedgerEntry } from '../../model/types.ts'
 * @import { CapWay } from './cgroups.js'
 */

// CGROUP_SUPER_MAGIC and CGROUP2_SUPER_MAGIC, statfs(2).
const CGROUP_FILESYSTEMS = [0x27e0eb, 0x63677270]

/**
 * The outcomes of a cleanup, as lines.
 * @typedef {object} Cleaned
 * @property {string[]} removed
 * @property {string[]} left with the reason
 * @property {string[]} failed with the error of the removal
 */

/**
 * Removes what ended runs left on this machine. It touches nothing of a run whose owner is alive, may be alive in
 * another container, or is unknown. It runs each step, even after one failed.
 * @param {{ way: CapWay, run?: string | null, hasRetained?: boolean, root?: string, isNamespaceGone?: (namespace:
 *   string) => Promise<boolean> }} options run: only this one, even if it was retained or has no ledger; hasRetained:
 *   retained runs, too; root: of ledgers; isNamespaceGone: says whether a namespace of a cluster is gone; absent:
 *   none is
 * @returns {Promise<Cleaned>}
 */
export async function cleanUpLocal({ way, run = null, hasRetained = false, isNamespaceGone, root }) {
  /** @type {Cleaned} */
  const cleaned = { removed: [], left: [], failed: [] }
  const distrust = findDistrust(root)
  if (distrust !== null) cleaned.failed.push(distrust)
  const ledgers = new Map(readLedgers(root).map(ledger => [ledger.runId, ledger]))
  const processes = groupBy(listMarkedProcesses(), ({ runId }) => runId)
  // Cgroups of runs are in the folders of this way of capping, or their ledgers name them.
  const foldersHere = listTreeParents(way).flatMap(parent => readdirSync(parent).map(name => path.join(parent, name)))
  const foldersOfLedgers = [...ledgers.values()].flatMap(({ holdings }) =>
    holdings.flatMap(({ kind, name }) => (kind === 'cgroup' ? [name] : [])),
  )
  const runFolders = [...new Set([...foldersHere, ...foldersOfLedgers.filter(isCgroup)])].filter(folder =>
    parseRunId(path.basename(folder)),
  )
  const trees = groupBy(runFolders, folder => `${parseRunId(path.basename(folder))}`)
  const networks = listNetworkRuns()
  for (const runId of new Set([...ledgers.keys(), ...processes.keys(), ...trees.keys(), ...networks])) {
    if (run !== null && runId !== run) continue
    const ledger = ledgers.get(runId) ?? null
    const reason = findReasonLeft({ ledger, runId, isNamed: run !== null, hasRetained })
    if (reason !== null) {
      cleaned.left.push(`run ${runId}: ${reason}`)
      continue
    }
    const steps = [
      ...(processes.get(runId) ?? []).map(({ pid }) => ({
        what: `process ${pid} of run ${runId}`,
        take: () => killProcess(pid),
      })),
      ...(trees.get(runId) ?? []).map(folder => ({ what: `cgroup ${folder}`, take: () => removeCgroup(folder) })),
      ...(networks.includes(runId)
        ? [{ what: `network namespaces of run ${runId}`, take: () => removeNetworks(runId) }]
        : []),
    ]
    const hasFailed = await runCleanupSteps(steps, cleaned)
    if (ledger === null || hasFailed) continue
    const namespaces = ledger.holdings.flatMap(({ kind, name }) => (kind === 'namespace' ? [name] : []))
    const remaining = []
    for (const name of namespaces) if (!(await isNamespaceGone?.(name))) remaining.push(name)
    if (remaining.length > 0) {
      cleaned.left.push(
        `namespace ${remaining.join(', ')} of run ${runId}: ${renderCommand('cleanup', '--target kubernetes')} removes it (--context names the cluster); where that cluster is gone: ${renderCommand('cleanup', `${runId} --cluster-gone`)}`,
      )
    } else {
      await runCleanupSteps([{ what: `folder ${ledger.folder}`, take: () => removeLedger(ledger.folder) }], cleaned)
    }
  }
  removeHalfMadeLedgers(root)
  return cleaned
}

/**
 * Removes the network namespaces of a run. The code is loaded only if there are any.
 * @param {string} runId
 */
async function removeNetworks(runId) {
  const { removeNamespaces } = await import('./networks.js')
  await removeNamespaces(runId)
}

/**
 * Finds the reason why a run is not cleaned up.
 * @param {{ ledger: LedgerEntry | null, runId: string, isNamed: boolean, hasRetained: boolean }} options ledger:
 *   null: it has none; isNamed: the user named this run
 * @returns {string | null} null: it is cleaned up
 */
function findReasonLeft({ ledger, runId, isNamed, hasRetained }) {
  const byName = `${renderCommand('cleanup', runId)} removes it`
  if (ledger?.state === 'alive') return `it goes on in process ${ledger.owner?.pid}: kill ${ledger.owner?.pid} ends it`
  if (isNamed) return null
  if (ledger === null) return `this user has no ledger of it, it may go on: ${byName}`
  if (ledger.state === 'unknown') return `its owner cannot be seen from here, it may go on: ${byName}`
  if (ledger.isRetained && !hasRetained) return `it was retained: ${byName}, --retained removes every retained run`
  return null
}

/**
 * Says whether a folder that a ledger names is a cgroup, since its processes are killed with it.
 * @param {string} folder
 */
const isCgroup = folder => callSafely(() => CGROUP_FILESYSTEMS.includes(statfsSync(folder).type), false)

/**
 * Runs every step, even after one failed, and adds the outcomes to `cleaned`.
 * @param {{ what: string, take: () => unknown }[]} steps what: the noun for it; take: removes it
 * @param {Cleaned} cleaned is changed
 * @returns {Promise<boolean>} whether any step failed
 */
export async function runCleanupSteps(steps, cleaned) {
  let hasFailed = false
  for (const { what, take } of steps) {
    try {
      await take()
      cleaned.removed.push(what)
    } catch (error) {
      hasFailed = true
      cleaned.failed.push(`${what}: ${/** @type {Error} */ (error).message}`)
    }
  }
  return hasFailed
}
