import os from 'node:os'
import { readCores, readLimits } from '../node/machine.js'
import { estimateMostSeconds, estimatePlanSeconds } from '../plan/plan.js'
import { addExperimentOptions, addSharedOptions } from '../prepare/options.js'
import { draftPlan } from '../prepare/plan-run.js'
import { createPlanRequest } from '../prepare/prepare-run.js'
import { readExperiment } from '../prepare/read-experiment.js'
import { renderPlan } from '../report/plan.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { findSmallestQuota } from '../targets/local/quota.js'

/**
 * @import { RunOptions } from '../prepare/options.js'
 * @import { Experiment } from '../request/experiment.js'
 */

/** Adds `plan`, which prints what `bench` would run. @type {import('./program.js').AddVerb} */
export function addPlan(verb, { print }) {
  const command = addSharedOptions(addExperimentOptions(verb), 'precision', 'loadHost', 'address')
  command.action(async (name, /** @type {RunOptions} */ options) => {
    assertCombination(SITE_OPTIONS, options)
    print(await renderExperimentPlan(readExperiment(name), options))
  })
}

/**
 * Renders the plan of an experiment on this machine, and how long it takes. It looks for no programs.
 * @param {Experiment} experiment
 * @param {RunOptions} options on a cluster, the CPU quota of this machine does not count
 * @returns {Promise<string>} lines
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured; as `draftPlan` and `findSmallestQuota`
 */
export async function renderExperimentPlan(experiment, options) {
  const isHere = options.target !== 'kubernetes'
  const quota = isHere ? findSmallestQuota(await findCapWay()) : null
  const site = { cpus: os.availableParallelism(), cores: readCores(), limits: { ...readLimits(), quota } }
  const { plan } = await draftPlan({ ...createPlanRequest(experiment, options), site })
  return renderPlan(plan, estimatePlanSeconds(plan), estimateMostSeconds(plan))
}
