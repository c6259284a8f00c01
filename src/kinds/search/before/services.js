import { pickPlaneChoice } from '../../../model/arms.js'
import { listDistinctLoads, listEndRates } from '../distinct-loads.js'
import { estimateNeed, fitCpuOverRate } from '../services.js'
import { createSearchResult, tryStep, withCpu, withoutOutcomes, withRate } from '../step.js'
import { computeStepNeed, findHighestP99Ms, findHoldingLimits } from './first-answer.js'

/** Limits for services in older kits: by a line through the CPU at the lowest and the highest rate, each checked. Pure. */
/**
 * @import { Arm, SearchSpec, SizeResult } from '../../../model/types.ts'
 * @import { Need } from '../all-cpu.js'
 */
/** @import { Search, TriedStep } from '../step.js' */
/** @typedef {Extract<SearchSpec, { kind: 'services' }>} ServicesSpec */
/** @import { DistinctLoad } from '../distinct-loads.js' */

/**
 * Finds limits for each distinct load, by rising rate.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number }} options template: of a plane and a payload; cpus: of the machine
 * @returns {Search<SizeResult[]>} at least one
 */
export function* findServiceLimits({ template, spec, cpus }) {
  const loads = listDistinctLoads(spec, template)
  const ends = []
  for (const ratePerSecond of listEndRates(loads)) {
    const arm = withRate(withCpu(template, cpus), ratePerSecond)
    ends.push({ ratePerSecond, step: yield* tryStep(arm, cpus, { wins: 1 }) })
  }
  const held = ends.flatMap(({ ratePerSecond, step }) =>
    step.held ? [{ ratePerSecond, need: computeStepNeed(step) }] : [],
  )
  const line = held.length === 2 ? fitCpuOverRate(held) : null
  const results = []
  for (const load of loads) {
    const { ratePerSecond } = load
    // A rate has no limits if it failed with all the CPU, or if neither end held, so that nothing suggests any.
    const failed = ends.find(end => !end.step.held && (held.length === 0 || end.ratePerSecond === ratePerSecond))?.step
    const search = failed
      ? { limits: null, last: { ...failed, why: `at ${cpus} cores: ${failed.why}` }, steps: [failed] }
      : yield* findHoldingLimits({
          template: withRate(template, ratePerSecond),
          cpus,
          need: /** @type {Need} */ (estimateNeed({ ends: held, ratePerSecond })),
        })
    results.push(createLoadResult({ template, load, line, ...search }))
  }
  return results
}

/**
 * Creates the result of a load.
 * @param {{ template: Arm, load: DistinctLoad, line: SizeResult['line'], limits: Need | null, last: TriedStep, steps:
 *   TriedStep[] }} options limits: null: none hold; last: the last step; steps: those that show whether the CPU suffices
 * @returns {SizeResult} memory: null: there are no limits; p99Ms: null: there are none, or no p99 was measured
 */
function createLoadResult({ template, load, line, limits, last, steps }) {
  const { ratePerSecond, p99Ms: p99LimitMs, names: services } = load
  const { held, why, trials } = last
  const searchFields = { template, why, isFound: limits !== null }
  return {
    ...pickPlaneChoice(template),
    ratePerSecond,
    p99LimitMs,
    services,
    line,
    extrapolated: null,
    p99Ms: limits && findHighestP99Ms(last),
    cpu: createSearchResult({
      ...searchFields,
      looksFor: 'cpu',
      held: limits?.cores ?? null,
      failed: steps.findLast(step => step.held === false)?.value ?? null,
      steps: steps.map(withoutOutcomes),
    }),
    memory: limits && createSearchResult({ ...searchFields, looksFor: 'memory', held: limits.bytes }),
    checks: limits ? [{ what: 'at the answer', mustHold: true, held, why, trials }] : [],
    isChecked: limits !== null,
  }
}
