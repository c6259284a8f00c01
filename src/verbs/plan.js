import os from 'node:os'
import { estimatePlanSeconds } from '../plan/plan.js'
import { renderPlan } from '../report/plan.js'
import { withExperiment } from './options.js'
import { createFinder, prepareWith } from './preparation.js'
import { readExperiment } from './read-experiment.js'

/**
 * `plan`: what a `bench` would run.
 * @import { Command } from 'commander'
 * @import { Context } from '../model/types.ts'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addPlan(program, context) {
  withExperiment(program.command('plan').description('print what bench would run, and how long it takes')).action(
    async (name, options) => {
      const site = { cpus: os.availableParallelism(), cores: [], findTool: createFinder(context) }
      const { plan } = await prepareWith({ experiment: readExperiment(name), options, site }, context)
      context.print(renderPlan(plan, estimatePlanSeconds(plan)))
    },
  )
}
