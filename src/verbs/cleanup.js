import { connect } from '../targets/kubernetes/api.js'
import { cleanUpCluster } from '../targets/kubernetes/namespaces.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { cleanUpLocal } from '../targets/local/cleanup.js'
import { TARGET } from './options.js'

/**
 * `cleanup`: removes what a killed run left.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addCleanup(program, { print }) {
  program
    .command('cleanup')
    .description('remove processes, cgroups and namespaces that a killed run left')
    .addOption(TARGET())
    .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
    .option('--all', 'on Kubernetes: also what other machines started')
    .action(async ({ target, context, all }) => {
      /** @type {string[]} */
      const said = []
      if (target === 'kubernetes') {
        said.push(...(await cleanUpCluster({ api: await connect({ context: context ?? null }), isAll: all ?? false })))
      }
      // A run on a cluster leaves its certificates here, too.
      const removed = await cleanUpLocal(await findCapWay())
      said.push(...removed.map(what => `removed ${what}`))
      print(said.length > 0 ? said.join('\n') : 'nothing was left behind')
    })
}
