import { createPlan } from '../../src/plan/plan.js'
import { hasSidecars } from './fake-records.js'

/**
 * Plans of planes that are all there.
 * @import { Experiment } from '../../src/request/experiment.js' @import { Overrides } from '../../src/request/question.js'
 */

/** @type {Overrides} */
const NOTHING_ELSE = {
  planes: null,
  cpuLimits: null,
  axes: {},
  rounds: null,
  profile: 'standard',
  seed: 1,
  app: 'pipy',
  isPinned: true,
}

/**
 * Plans an experiment, with nothing else asked for than the test says, on 16 CPUs.
 * @param {Experiment} experiment
 * @param {Partial<Omit<Parameters<typeof createPlan>[0], 'overrides'>> & { overrides?: Partial<Overrides> }} [options]
 */
export function createFakePlan(experiment, { overrides, ...options } = {}) {
  const allOverrides = { ...NOTHING_ELSE, ...overrides }
  return createPlan({ experiment, overrides: allOverrides, cpus: 16, missing: [], hasSidecars, ...options })
}
