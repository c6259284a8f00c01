import { readdirSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../../lib/call-safely.js'
import { groupBy } from '../../lib/group-by.js'
import { killProcess } from '../../lib/kill-process.js'
import { renderCommand } from '../../lib/render-command.js'
import { findDistrust, readLedgers, removeHalfMadeLedgers, removeLedger } from '../../node/ledger.js'
import { killAndRemoveCgroup } from './cgroup-folders.js'
import { listTreeParents, parseRunId } from './cgroups.js'
import { listMarkedProcesses } from './marks.js'
import { listNetworkRuns } from './network-runs.js'

/**
 * @import { HoldingKind, LedgerEntry } from '../../model/types.ts'
 * @import { CapWay } from './cgroups.js'
 */

// CGROUP_SUPER_MAGIC and CGROUP2_SUPER_MAGIC, statfs(2).
const CGROUP_FILESYSTEMS = [0x27e0eb, 0x63677270]

/**
 * The outcome of a cleanup, as lines.
 * @typedef {object} CleanupOutcome
 * @property {string[]} removed
 * @property {string[]} left with the reason
 * @property {string[]} failed with the error of the removal
 */
/**
 * @typedef {object} LocalCleanup
 * @property {CapWay} way by which the runs of this machine limit CPU
 * @property {string | null} [run] only this one, unless its owner lives, even if it was retained, has no ledger, or its owner is
 *   unknown; null (by default): all runs
 * @property {boolean} [includesRetained] retained runs, too
 * @property {string} [root] the folder of ledgers
 * @property {(namespace: string) => Promise<boolean>} [checkNamespaceGone] says whether a namespace of a cluster is gone; absent:
 *   none is
 */
/**
 * The leftovers of runs on this machine, by the run's id.
 * @typedef {object} Leftovers
 * @property {Map<string, ReturnType<typeof listMarkedProcesses>>} processes
 * @property {Map<string, string[]>} cgroups their folders
 * @property {string[]} networks the runs that have network namespaces
 */
/** @typedef {{ noun: string, remove: () => unknown }} CleanupStep noun: for the thing that `remove` removes */

/**
 * Removes what ended runs left on this machine, and half-made ledgers. It touches nothing of a run whose owner is alive and, unless
 * `run` names it, of one whose owner may be alive: it is in another container, or has no ledger here. It runs each step, even after
 * one failed.
 * @param {LocalCleanup} options
 * @returns {Promise<CleanupOutcome>}
 * @throws the system's error if a folder of cgroups cannot be listed; an error of `checkNamespaceGone`
 */
export async function cleanUpLocal({ way, run = null, includesRetained = false, checkNamespaceGone, root }) {
  /** @type {CleanupOutcome} */
  const outcome = { removed: [], left: [], failed: [] }
  const distrust = findDistrust(root)
  if (distrust !== null) outcome.failed.push(distrust)
  const ledgers = new Map(readLedgers(root).map(ledger => [ledger.runId, ledger]))
  const leftovers = findLeftovers(way, [...ledgers.values()])
  const { processes, cgroups, networks } = leftovers
  for (const runId of new Set([...ledgers.keys(), ...processes.keys(), ...cgroups.keys(), ...networks])) {
    if (run !== null && runId !== run) continue
    const ledger = ledgers.get(runId) ?? null
    const reason = findReasonToKeepRun({ ledger, runId, isNamed: run !== null, includesRetained })
    if (reason !== null) {
      outcome.left.push(`run ${runId}: ${reason}`)
      continue
    }
    const hasFailed = await runCleanupSteps(listCleanupSteps(runId, leftovers), outcome)
    if (ledger !== null && !hasFailed) await removeLedgerUnlessHeld(ledger, { checkNamespaceGone, outcome })
  }
  removeHalfMadeLedgers(root)
  return outcome
}

/**
 * Finds the leftovers of runs on this machine, beside their ledgers. Runs that are in progress are among them.
 * @param {CapWay} way
 * @param {LedgerEntry[]} ledgers
 * @returns {Leftovers}
 * @throws the system's error if a folder in which cgroups are created cannot be listed
 */
function findLeftovers(way, ledgers) {
  // Cgroups of runs are in the folders of this way of capping, or their ledgers name them.
  const foldersHere = listTreeParents(way).flatMap(parent => readdirSync(parent).map(name => path.join(parent, name)))
  const heldFolders = ledgers.flatMap(ledger => listHeldNames(ledger, 'cgroup')).filter(isCgroup)
  const runFolders = [...new Set([...foldersHere, ...heldFolders])].filter(folder => parseRunId(path.basename(folder)))
  return {
    processes: groupBy(listMarkedProcesses(), ({ runId }) => runId),
    cgroups: groupBy(runFolders, folder => `${parseRunId(path.basename(folder))}`),
    networks: listNetworkRuns(),
  }
}

/**
 * Lists the steps that remove the leftovers of a run, but for its ledger.
 * @param {string} runId
 * @param {Leftovers} leftovers
 * @returns {CleanupStep[]} processes first, then cgroups, then namespaces; []: nothing is left
 */
function listCleanupSteps(runId, { processes, cgroups, networks }) {
  const processSteps = (processes.get(runId) ?? []).map(({ pid }) => ({
    noun: `process ${pid} of run ${runId}`,
    remove: () => killProcess(pid),
  }))
  const cgroupSteps = (cgroups.get(runId) ?? []).map(folder => ({
    noun: `cgroup ${folder}`,
    remove: () => killAndRemoveCgroup(folder),
  }))
  const networkStep = { noun: `network namespaces of run ${runId}`, remove: () => removeNetworks(runId) }
  return [...processSteps, ...cgroupSteps, ...(networks.includes(runId) ? [networkStep] : [])]
}

/**
 * Removes the ledger of a run, unless the run holds a namespace of a cluster that is not gone.
 * @param {LedgerEntry} ledger
 * @param {Pick<LocalCleanup, 'checkNamespaceGone'> & { outcome: CleanupOutcome }} options outcome: gets what was removed, left or failed
 * @throws an error of `checkNamespaceGone`
 */
async function removeLedgerUnlessHeld(ledger, { checkNamespaceGone, outcome }) {
  const { runId, folder } = ledger
  const remaining = []
  for (const name of listHeldNames(ledger, 'namespace')) if (!(await checkNamespaceGone?.(name))) remaining.push(name)
  if (remaining.length > 0) {
    outcome.left.push(
      `namespace ${remaining.join(', ')} of run ${runId}: ${renderCommand('cleanup', '--target kubernetes')} removes it (--context names the cluster); where that cluster is gone: ${renderCommand('cleanup', `${runId} --cluster-gone`)}`,
    )
  } else {
    await runCleanupSteps([{ noun: `folder ${folder}`, remove: () => removeLedger(folder) }], outcome)
  }
}

/**
 * Lists the things of a kind that a run holds by its ledger.
 * @param {LedgerEntry} ledger
 * @param {HoldingKind} kind
 * @returns {string[]} their names
 */
function listHeldNames({ holdings }, kind) {
  return holdings.filter(holding => holding.kind === kind).map(({ name }) => name)
}

/**
 * Removes the network namespaces of a run. The code is loaded only if there are any.
 * @param {string} runId
 * @throws {import('../../lib/errors.js').BenchError} if one cannot be removed
 */
async function removeNetworks(runId) {
  const { removeNetworkNamespaces } = await import('./bridge.js')
  await removeNetworkNamespaces(runId)
}

/**
 * Finds the reason why a run is not cleaned up.
 * @param {{ ledger: LedgerEntry | null, runId: string, isNamed: boolean, includesRetained: boolean }} options ledger:
 *   null: it has none; isNamed: the user named this run; includesRetained: retained runs are cleaned up, too
 * @returns {string | null} null: it is cleaned up
 */
function findReasonToKeepRun({ ledger, runId, isNamed, includesRetained }) {
  const byName = `${renderCommand('cleanup', runId)} removes it`
  if (ledger?.state === 'alive') return `it goes on in process ${ledger.owner?.pid}: kill ${ledger.owner?.pid} ends it`
  if (isNamed) return null
  if (ledger === null) return `this user has no ledger of it, it may go on: ${byName}`
  if (ledger.state === 'unknown') return `its owner cannot be seen from here, it may go on: ${byName}`
  if (ledger.isRetained && !includesRetained) return `it was retained: ${byName}, --retained removes every retained run`
  return null
}

/**
 * Says whether a folder that a ledger names is a cgroup, since it is removed with its processes.
 * @param {string} folder
 * @returns {boolean} false also: it does not exist
 */
const isCgroup = folder => callSafely(() => CGROUP_FILESYSTEMS.includes(statfsSync(folder).type), false)

/**
 * Runs every step, even after one failed, and adds what they did to the outcome.
 * @param {CleanupStep[]} steps
 * @param {CleanupOutcome} outcome is changed
 * @returns {Promise<boolean>} whether any step failed
 */
export async function runCleanupSteps(steps, outcome) {
  let hasFailed = false
  for (const { noun, remove } of steps) {
    try {
      await remove()
      outcome.removed.push(noun)
    } catch (error) {
      hasFailed = true
      outcome.failed.push(`${noun}: ${/** @type {Error} */ (error).message}`)
    }
  }
  return hasFailed
}
