import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { removeStaleFolders } from '../lib/temporary-folder.js'
import { readLedgers } from '../node/ledger.js'
import { addSharedOptions } from '../prepare/options.js'
import { readRun } from '../records/records.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { createApiClient } from '../targets/kubernetes/api.js'
import { cleanUpCluster } from '../targets/kubernetes/namespaces.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { cleanUpLocal } from '../targets/local/cleanup.js'
import { removeStaleDownloads } from '../tools/downloads.js'

/**
 * @import { Api } from '../targets/kubernetes/api.js'
 * @import { CleanupOutcome } from '../targets/local/cleanup.js'
 */

/** Adds `cleanup`, which removes what a killed run left. @type {import('./program.js').AddVerb} */
export function addCleanup(verb, { print }) {
  addSharedOptions(verb, 'target')
    .argument('[run]', 'one run, retained or not, by its results folder or its id; default: every run that was killed')
    .option('--retained', 'also what runs with --retain were asked to leave')
  addSharedOptions(verb, 'context')
    .option('--all', 'on Kubernetes: also what other machines started')
    .option(
      '--cluster-gone',
      'with a run: its cluster no longer exists; remove what it left here, and look for no namespace',
    )
    .action(async (typedRun = null, options) => {
      const { target, context = null, clusterGone: isClusterGone = false } = options
      assertCombination(SITE_OPTIONS, options)
      const isOnCluster = target === 'kubernetes'
      if (isClusterGone && (typedRun === null || isOnCluster))
        throw new BenchError('--cluster-gone needs the one run whose cluster is gone, and no --target kubernetes')
      const run = typedRun === null ? null : readRunId(typedRun)
      const api = isOnCluster ? await createApiClient({ context }) : null
      const { removed, left, failed } = await cleanUp({ api, run, isClusterGone, ...options })
      const lines = [...removed.map(item => `removed ${item}`), ...left.map(item => `left    ${item}`)]
      if (lines.length > 0) print(lines.join('\n'))
      if (failed.length > 0) throw new BenchError(`not removed: ${failed.join('; ')}`)
      if (lines.length > 0) return
      if (run !== null)
        throw new BenchError(`no run ${run} left anything here: ${renderCommand('cleanup')} says which runs did`)
      print('nothing was left behind')
    })
}

/**
 * Removes what runs left on this machine and, with an API server, on its cluster.
 * @param {object} options
 * @param {Api | null} options.api null: no cluster is cleaned up
 * @param {string | null} options.run the id of one run; null: all runs
 * @param {boolean} options.isClusterGone the cluster of the run no longer exists, and no namespace on it
 * @param {boolean} [options.retained] also of retained runs
 * @param {boolean} [options.all] also what other machines started on the cluster
 * @returns {Promise<CleanupOutcome>} failed: the errors of all steps; it does not throw for one that failed
 */
async function cleanUp({ api, run, isClusterGone, retained: includesRetained = false, all = false }) {
  const retained = includesRetained ? [] : readLedgers().flatMap(ledger => (ledger.isRetained ? [ledger.runId] : []))
  const checkNamespaceGone = async (/** @type {string} */ namespaceOfServer) => {
    if (api === null) return isClusterGone
    const [name, server] = namespaceOfServer.split(' of ')
    return server === api.server && (await api.readNamespace(name)) === null
  }
  // A run on a cluster leaves keys on this machine, too.
  return attemptSteps([
    async () => (api ? cleanUpCluster({ api, includesOtherMachines: all, run, retained }) : {}),
    async () => cleanUpLocal({ way: await findCapWay(), run, includesRetained, checkNamespaceGone }),
    async () => ({ removed: run === null ? [...(await removeStaleDownloads()), ...removeStaleFolders()] : [] }),
  ])
}

/**
 * Reads the id of a run from its results folder. A resumed run has that of its last part.
 * @param {string} run its results folder, or its id
 * @returns {string} the same text, if it is no results folder
 * @throws {BenchError} if the folder cannot be read
 */
function readRunId(run) {
  if (!existsSync(path.join(run, 'manifest.json'))) return run
  const { id, resumed } = readRun(run).manifest.run
  return resumed?.at(-1)?.id ?? id
}

/**
 * Runs every step, even after one failed, and joins their results.
 * @param {(() => Promise<Partial<CleanupOutcome>>)[]} steps
 * @returns {Promise<CleanupOutcome>} failed: the messages of errors that steps threw come first
 */
async function attemptSteps(steps) {
  /** @type {Partial<CleanupOutcome>[]} */
  const results = []
  /** @type {string[]} */
  const errors = []
  for (const step of steps) {
    try {
      results.push(await step())
    } catch (error) {
      errors.push(/** @type {Error} */ (error).message)
    }
  }
  const collectAll = (/** @type {keyof CleanupOutcome} */ name) => results.flatMap(outcome => outcome[name] ?? [])
  return { removed: collectAll('removed'), left: collectAll('left'), failed: [...errors, ...collectAll('failed')] }
}
