import { pickChoice } from '../../../model/arms.js'
import { listCells } from '../cells.js'
import { estimateNeed, fitNeed } from '../services.js'
import { createSearchResult, tryStep, withCpu, withoutOutcomes, withRate } from '../step.js'
import { computeStepNeed, findHighestP99, findHoldingLimits } from './first-answer.js'

/** Limits for services by a line through the CPU at the lowest and the highest rate, each checked. Pure. */
/**
 * @import { Arm, SearchSpec, SizeResult } from '../../../model/types.ts'
 * @import { Need } from '../whole.js'
 */
/** @import { Search, TriedStep } from '../step.js' */
/** @typedef {Extract<SearchSpec, { kind: 'services' }>} ServicesSpec */
/** @import { Cell } from '../cells.js' */

/**
 * Finds a result for each distinct load.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number }} options template: of a plane and a payload
 * @returns {Search<SizeResult[]>} []: no service has the payload
 */
export function* findServices({ template, spec, cpus }) {
  const cells = listCells(spec, template)
  if (cells.length === 0) return []
  const ends = []
  for (const { ratePerSecond } of new Set([cells[0], cells[cells.length - 1]])) {
    const arm = withRate(withCpu(template, cpus), ratePerSecond)
    ends.push({ ratePerSecond, step: yield* tryStep(arm, cpus, { wins: 1 }) })
  }
  const held = ends.flatMap(({ ratePerSecond, step }) =>
    step.held ? [{ ratePerSecond, need: computeStepNeed(step) }] : [],
  )
  const line = held.length === 2 ? fitNeed(held) : null
  const results = []
  for (const cell of cells) {
    const { ratePerSecond } = cell
    const lack = ends.find(end => !end.step.held && (held.length === 0 || end.ratePerSecond === ratePerSecond))?.step
    const search = lack
      ? { limits: null, last: { ...lack, why: `at ${cpus} cores: ${lack.why}` }, steps: [lack] }
      : yield* findHoldingLimits({
          template: withRate(template, ratePerSecond),
          cpus,
          need: /** @type {Need} */ (estimateNeed({ ends: held, ratePerSecond })),
        })
    results.push(createCellResult({ template, cell, line, ...search }))
  }
  return results
}

/**
 * Creates the result of a load.
 * @param {{ template: Arm, cell: Cell, line: SizeResult['line'], limits: Need | null, last: TriedStep, steps:
 *   TriedStep[] }} options last: the last step; steps: those that show whether the CPU suffices
 * @returns {SizeResult}
 */
function createCellResult({ template, cell, line, limits, last, steps }) {
  const { ratePerSecond, p99Ms: p99LimitMs, names: services } = cell
  const { held, why, trials } = last
  const createCellSearch = (/** @type {'cpu' | 'memory'} */ looksFor, /** @type {number | null} */ value) =>
    createSearchResult({
      template,
      looksFor,
      held: value,
      why,
      isFound: limits !== null,
      failed: steps.findLast(step => looksFor === 'cpu' && step.held === false)?.value ?? null,
      steps: looksFor === 'cpu' ? steps.map(withoutOutcomes) : [],
    })
  return {
    ...pickChoice(template),
    ratePerSecond,
    p99LimitMs,
    services,
    line,
    extrapolated: null,
    p99Ms: limits && findHighestP99(last),
    cpu: createCellSearch('cpu', limits?.cores ?? null),
    memory: limits && createCellSearch('memory', limits.bytes),
    checks: limits ? [{ what: 'at the answer', mustHold: true, held, why, trials }] : [],
    isChecked: limits !== null,
  }
}
