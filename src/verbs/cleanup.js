import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { readLedgers } from '../node/ledger.js'
import { readRun } from '../records/records.js'
import { connect } from '../targets/kubernetes/api.js'
import { cleanUpCluster } from '../targets/kubernetes/namespaces.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { cleanUpLocal } from '../targets/local/cleanup.js'
import { removeStaleDownloads } from '../tools/downloads.js'
import { TARGET } from './options.js'

/**
 * `cleanup`: removes what a killed run left.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/** @param {string} run its id or its results folder */
function idOf(run) {
  if (!existsSync(path.join(run, 'manifest.json'))) return run
  const { id, resumed } = readRun(run).manifest.run
  return resumed?.at(-1)?.id ?? id
}

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addCleanup(program, { print }) {
  program
    .command('cleanup')
    .description('remove processes, cgroups, keys and namespaces that killed runs left')
    .argument('[run]', 'one run, retained or not, by its results folder or its id; default: every run that was killed')
    .addOption(TARGET())
    .option('--retained', 'also what runs with --retain were asked to leave')
    .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
    .option('--all', 'on Kubernetes: also what other machines started')
    .action(async (named = null, { target, retained: hasRetained = false, context = null, all: isAll = false }) => {
      const isCluster = target === 'kubernetes'
      const run = named === null ? null : idOf(named)
      const kept = hasRetained ? [] : readLedgers().filter(ledger => ledger.isRetained)
      const cluster = isCluster
        ? await cleanUpCluster({
            api: await connect({ context }),
            isAll,
            run,
            retained: kept.map(({ runId }) => runId),
          })
        : { removed: [], left: [] }
      // A run on a cluster leaves its keys here, too.
      const local = await cleanUpLocal({ way: await findCapWay(), run, hasRetained, knowsCluster: isCluster })
      const downloads = run === null ? await removeStaleDownloads() : []
      const said = [
        ...[...cluster.removed, ...local.removed, ...downloads].map(what => `removed ${what}`),
        ...[...cluster.left, ...local.left].map(what => `left    ${what}`),
      ]
      if (said.length === 0 && run !== null)
        throw new BenchError(`no run ${run} left anything here: npm run cleanup says which runs did`)
      print(said.length > 0 ? said.join('\n') : 'nothing was left behind')
      if (local.failed.length > 0) {
        throw new BenchError(`not removed: ${local.failed.join('; ')}; call it again as the user who started the run`)
      }
    })
}
