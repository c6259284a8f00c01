import { pipyTool } from '../dataplanes/pipy/index.js'
import { dataPlanes } from '../dataplanes/registry.js'
import { k6 } from '../loads/k6/index.js'
import { connect } from '../targets/kubernetes/api.js'
import { examineCluster } from '../targets/kubernetes/doctor.js'
import { findTool } from '../tools/find.js'
import { runDoctor } from './local-doctor.js'
import { createImageParser, TARGET } from './options.js'
import { toolSpecs } from './preparation.js'

/**
 * `doctor`: what is here, and what is missing.
 * @import { Command } from 'commander'
 * @import { Context } from '../model/types.ts'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addDoctor(program, { print, end }) {
  const toolNames = toolSpecs().map(t => t.name)
  program
    .command('doctor')
    .description('say what is here for a default run, and what is missing')
    .addOption(TARGET())
    .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
    .option('--node <name>', 'on Kubernetes: where services go, a node or label=value')
    .option('--load-node <name>', 'on Kubernetes: where the load goes; else with the services')
    .option(
      '--image <tool=image>',
      'on Kubernetes: another image, such as pipy=registry/pipy:1.5',
      createImageParser(toolNames),
      {},
    )
    .action(async ({ target, context, node, loadNode, image }) => {
      const specs = [pipyTool, ...dataPlanes.flatMap(p => p.tool ?? []), k6.tool]
      const found =
        target === 'kubernetes'
          ? await examineCluster({
              ...{ api: await connect({ context: context ?? null }), images: image, specs: toolSpecs() },
              ...{ node: node ?? null, loadNode: loadNode ?? null },
            })
          : await runDoctor({ specs, findTool })
      print(found.text)
      if (!found.isReady) end(1)
    })
}
