import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { removeStaleFolders } from '../lib/temporary-folder.js'
import { readLedgers } from '../node/ledger.js'
import { withOptions } from '../prepare/options.js'
import { readRun } from '../records/records.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { connect } from '../targets/kubernetes/api.js'
import { cleanUpCluster } from '../targets/kubernetes/namespaces.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { cleanUpLocal } from '../targets/local/cleanup.js'
import { removeStaleDownloads } from '../tools/downloads.js'

/** @import { Cleaned } from '../targets/local/cleanup.js' */

/** Adds `cleanup`, which removes what a killed run left. @type {import('./program.js').AddVerb} */
export function addCleanup(verb, { print }) {
  withOptions(verb, 'target')
    .argument('[run]', 'one run, retained or not, by its results folder or its id; default: every run that was killed')
    .option('--retained', 'also what runs with --retain were asked to leave')
  withOptions(verb, 'context')
    .option('--all', 'on Kubernetes: also what other machines started')
    .option(
      '--cluster-gone',
      'with a run: its cluster no longer exists; remove what it left here, and look for no namespace',
    )
    .action(async (named = null, options) => {
      const { retained: hasRetained = false, context = null, all: isAll = false, clusterGone = false } = options
      assertCombination(SITE_OPTIONS, options)
      const isOnCluster = options.target === 'kubernetes'
      if (clusterGone && (named === null || isOnCluster))
        throw new BenchError('--cluster-gone needs the one run whose cluster is gone, and no --target kubernetes')
      const run = named === null ? null : findRunId(named)
      const retained = hasRetained ? [] : readLedgers().flatMap(ledger => (ledger.isRetained ? [ledger.runId] : []))
      const api = isOnCluster ? await connect({ context }) : null
      const isNamespaceGone = async (/** @type {string} */ namespaceOfServer) => {
        const [name, server] = namespaceOfServer.split(' of ')
        return api ? server === api.server && (await api.readNamespace(name)) === null : clusterGone
      }
      // A run on a cluster leaves keys on this machine, too.
      const { removed, left, failed } = await attemptSteps([
        async () => (api ? cleanUpCluster({ api, isAll, run, retained }) : {}),
        async () => cleanUpLocal({ way: await findCapWay(), run, hasRetained, isNamespaceGone }),
        async () => ({ removed: run === null ? [...(await removeStaleDownloads()), ...removeStaleFolders()] : [] }),
      ])
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
 * Finds the id of a run; that of a resumed run is the id of its last part.
 * @param {string} run its id or its results folder
 * @returns {string}
 * @throws {BenchError} if the folder cannot be read
 */
function findRunId(run) {
  if (!existsSync(path.join(run, 'manifest.json'))) return run
  const { id, resumed } = readRun(run).manifest.run
  return resumed?.at(-1)?.id ?? id
}

/**
 * Runs every step, even after one failed, and joins their results.
 * @param {(() => Promise<Partial<Cleaned>>)[]} steps
 * @returns {Promise<Cleaned>} removed, left: lines; failed: error messages
 */
async function attemptSteps(steps) {
  /** @type {Partial<Cleaned>[]} */
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
  const collectAll = (/** @type {keyof Cleaned} */ name) => results.flatMap(cleaned => cleaned[name] ?? [])
  return { removed: collectAll('removed'), left: collectAll('left'), failed: [...errors, ...collectAll('failed')] }
}
