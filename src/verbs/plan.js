import os from 'node:os'
import { readCores, readLimits } from '../node/machine.js'
import { estimateMostSeconds, estimatePlanSeconds } from '../plan/plan.js'
import { withExperiment, withOptions } from '../prepare/options.js'
import { createPlanRequest } from '../prepare/preparation.js'
import { draftPlan } from '../prepare/prepare.js'
import { readExperiment } from '../prepare/read-experiment.js'
import { renderPlan } from '../report/plan.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { findQuota } from '../targets/local/quota.js'

/**
 * @import { RunOptions } from '../prepare/options.js'
 * @import { Experiment } from '../request/experiment.js'
 */

/** Adds `plan`, which prints what `bench` would run. @type {import('./program.js').AddVerb} */
export function addPlan(verb, { print }) {
  const command = withOptions(withExperiment(verb), 'precision', 'loadHost', 'address')
  command.action(async (name, /** @type {RunOptions} */ options) => {
    assertCombination(SITE_OPTIONS, options)
    print(await renderPlanned(readExperiment(name), options))
  })
}

/**
 * Renders the plan of an experiment on this machine, and its duration. It looks for no programs.
 * @param {Experiment} experiment
 * @param {RunOptions} options
 * @returns {Promise<string>}
 * @throws {UsageError} for a request that cannot be measured
 */
export async function renderPlanned(experiment, options) {
  const isHere = options.target !== 'kubernetes'
  const quota = isHere ? findQuota(await findCapWay()) : null
  const site = { cpus: os.availableParallelism(), cores: readCores(), limits: { ...readLimits(), quota } }
  const { plan } = await draftPlan({ ...createPlanRequest(experiment, options), site })
  return renderPlan(plan, estimatePlanSeconds(plan), estimateMostSeconds(plan))
}
