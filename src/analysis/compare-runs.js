import { PRIMARY } from '../judge/quantities.js'
import { computeCpuPerRequestMicros, listSidecars } from '../judge/record/measures.js'
import { areAlikeOn, BASELINE_AXES, listVariedAxes, renderArmName } from '../model/arms.js'
import { listByRole } from '../model/process-records.js'
import { listComparisons } from '../model/results.js'
import { listPairDisparities, renderUnequalRows } from '../parity/verdict/rows.js'
import { compareQuantities, compareQuantity, findAaSpread, isRunCutShort } from './compare.js'
import { listRefusals, matchArms, renderMatchedArm } from './match-arms.js'
import {
  findLastRound,
  listComparisonWarnings,
  listIncomparableReasons,
  listRelaxedGates,
  renderAnswerChanges,
  renderScriptChanges,
} from './match-runs.js'
import { chooseStatus } from './status.js'
import { evaluateThreshold, parseRunThreshold } from './thresholds.js'

/** Compares two runs, an old and a new one, arm by arm, by the statistics of two planes in one run. Pure. */
/** @import { Arm, AxisName, Comparison, Summary, ThresholdResult } from '../model/types.ts' */
/**
 * @import { Match, Refusal } from './match-arms.js'
 * @import { RecordedRun } from './match-runs.js'
 */
/**
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 * @import { Threshold } from './thresholds.js'
 */
/** @typedef {RecordedRun & { folder: string, summary: Summary }} ComparedRun */
/**
 * A threshold at one arm, by its name and place. arm: null: no arm with the quantity was compared, and link, cap and load are absent.
 * @typedef {Pick<ThresholdResult, 'expression' | 'value' | 'held'> & Partial<ThresholdResult> & { arm: string | null }}
 *   HeldThreshold
 */
/**
 * The comparison of two runs.
 * @typedef {object} RunComparison
 * @property {Comparison[]} comparisons of the same arm in both runs: new over old
 * @property {Comparison[]} controls of the applications' CPU per request without sidecars
 * @property {Refusal[]} refused
 * @property {string[]} warnings what differs, and was compared nevertheless
 * @property {HeldThreshold[]} thresholds
 */

const EVERY_ARM = 'every arm'

// In a closed loop, arms without sidecars have the users of the largest cap, which can be more than those of another arm.
export const APPLICATION_CPU_AXES = BASELINE_AXES.filter(name => name !== 'users')
/** The CPU of the applications alone must not change from run to run: a change of it is noise. @type {QuantityRow} */
export const APPLICATION_CPU = {
  ...PRIMARY,
  name: 'applicationCpuPerRequest',
  measure: ({ record }) => computeCpuPerRequestMicros(record, listByRole(record.processes, 'application')),
}

/**
 * Compares every arm that two runs share, new over old.
 * @param {{ old: ComparedRun, new: ComparedRun }} runs
 * @param {{ thresholds?: string[] }} [options] such as `new/old cpuPerRequest <= 1.05`
 * @returns {RunComparison} comparisons: [] if nothing can be compared, with the reasons in `refused`; refused: [] if all arms
 *   are compared; warnings: [] if nothing else differs
 * @throws {UsageError} if a threshold has another form, or names a quantity or service that the runs do not have
 */
export function compareRuns({ old, new: next }, { thresholds = [] } = {}) {
  const runs = [old, next]
  const arms = runs.flatMap(({ manifest }) => manifest.arms)
  const parsedThresholds = thresholds.map(expression => parseRunThreshold(expression, arms, listServicesOfRuns(runs)))
  const variedAxes = listVariedAxes(runs.flatMap(listComparedArms))
  const warnings = listComparisonWarnings({ old, next })
  const incomparableReasons = listIncomparableReasons({ old: old.manifest, next: next.manifest })
  if (incomparableReasons.length > 0) {
    return {
      comparisons: [],
      controls: [],
      refused: [{ arm: EVERY_ARM, differing: incomparableReasons }],
      warnings,
      thresholds: evaluateThresholds({ thresholds: parsedThresholds, comparedMatches: [], variedAxes }),
    }
  }
  const { matches, unmatched } = matchArms({ old: listComparedArms(old), next: listComparedArms(next) })
  warnings.push(
    ...renderScriptChanges({ old: old.manifest, next: next.manifest, matches }),
    ...renderAnswerChanges(matches, { old, next }),
  )
  const controls = compareBaselines({ old, next })
  const comparedMatches = matches.map(match => {
    const matchControls = controls.filter(control => areAlikeOn(control, match.next, APPLICATION_CPU_AXES))
    const isUncontrolled = match.next.load.kind !== 'idle' && matchControls.every(c => c.ratio.median === null)
    return { match, isUncontrolled, comparisons: compareMatch({ old, next, match, controls: matchControls }) }
  })
  const uncontrolledArms = comparedMatches.flatMap(({ match, isUncontrolled }) => (isUncontrolled ? [match.next] : []))
  if (uncontrolledArms.length > 0) {
    const names = uncontrolledArms.map(arm => renderMatchedArm({ arm, variedAxes })).join('; ')
    warnings.push(`nothing was measured without sidecars in both runs to tell what else changed between them: ${names}`)
  }
  return {
    comparisons: comparedMatches.flatMap(c => c.comparisons),
    controls,
    refused: listRefusals(unmatched, variedAxes),
    warnings,
    thresholds: evaluateThresholds({ thresholds: parsedThresholds, comparedMatches, variedAxes }),
  }
}

/**
 * Chooses the exit status of a comparison, with its reasons. A comparison that shows nothing takes precedence over a crossed
 * threshold.
 * @param {Pick<RunComparison, 'comparisons' | 'refused' | 'thresholds'>} result
 * @returns {{ status: number, reasons: string[] }} status: an exit code (`EXIT`); reasons: [] if it is 0
 */
export function chooseCompareStatus({ comparisons, refused, thresholds }) {
  const lacks = []
  const refusalOfAll = refused.find(({ arm }) => arm === EVERY_ARM)
  if (refusalOfAll) lacks.push(`nothing could be compared: ${refusalOfAll.differing.join('; ')}`)
  else if (comparisons.length === 0) lacks.push('nothing could be compared: the runs share no arm')
  else if (comparisons.every(c => c.ratio.median === null || c.verdict === 'invalid'))
    lacks.push('nothing could be compared: no arm has a verdict')
  for (const { expression, arm, held } of thresholds) {
    const why = arm === null ? 'no arm that has its quantity was compared' : `its quantity was excluded (${arm})`
    if (held === null) lacks.push(`the threshold ${expression} could not be tested: ${why}`)
  }
  const crossedThresholds = thresholds.filter(t => t.held === false)
  return chooseStatus({
    lacks,
    crossed: crossedThresholds.map(
      ({ expression, arm, value }) => `the threshold ${expression} was crossed: ${value?.toFixed(3)} (${arm})`,
    ),
  })
}

/**
 * Compares an arm in two runs, in every quantity. Its noise is the largest A/A difference of either run and, for CPU per request,
 * at least the largest change without sidecars.
 * @param {{ old: ComparedRun, next: ComparedRun, match: Match, controls: Comparison[] }} options controls: those of the same place
 * @returns {Comparison[]} one for each quantity and service
 */
function compareMatch({ old, next, match, controls }) {
  const pair = createRunPair({ old, next, match })
  const relaxed = listRelaxedGates(old.manifest).filter(gate => listRelaxedGates(next.manifest).includes(gate))
  const sides = {
    a: { arm: match.next, rows: next.manifest.parity, name: pair.a.name },
    b: { arm: match.old, rows: old.manifest.parity, name: pair.b.name },
    relaxed,
  }
  return compareQuantities({
    ...pair,
    disparities: listPairDisparities(sides),
    unequal: renderUnequalRows(sides),
    findNoise(quantity, service) {
      const spreads = [old, next].map(({ summary }) =>
        findAaSpread(
          listComparisons(summary).filter(c => c.isControl),
          { quantity, service, arms: [match.next] },
        ),
      )
      // Runs at different times have no A/A: changes of arms without sidecars are the noise.
      const changes = quantity === PRIMARY.name ? controls.flatMap(c => c.ratio.median ?? []) : []
      const knownShares = [...spreads, ...changes.map(ratio => Math.abs(ratio - 1))].filter(share => share !== null)
      return knownShares.length > 0 ? Math.max(...knownShares) : null
    },
  })
}

/**
 * Evaluates each threshold at every match that has its quantity.
 * @param {{ thresholds: Threshold[], comparedMatches: { match: Match, comparisons: Comparison[] }[], variedAxes: AxisName[] }} options
 *   comparedMatches: comparisons: at least one
 * @returns {HeldThreshold[]} arm, value and held: null if no match has the quantity of the threshold
 */
function evaluateThresholds({ thresholds, comparedMatches, variedAxes }) {
  return thresholds.flatMap(threshold => {
    /** @type {HeldThreshold[]} */
    const results = comparedMatches.flatMap(({ match, comparisons }) => {
      const arm = renderMatchedArm({ arm: match.next, partner: match.old, variedAxes })
      const names = /** @type {Record<string, string>} */ ({ new: comparisons[0].a, old: comparisons[0].b })
      const namedThreshold = { ...threshold, a: names[threshold.a], b: names[threshold.b] }
      return evaluateThreshold(namedThreshold, comparisons).map(result => ({ ...result, arm }))
    })
    return results.length > 0 ? results : [{ expression: threshold.expression, arm: null, value: null, held: null }]
  })
}

/**
 * Compares the CPU per request of the applications without sidecars, new over old.
 * @param {{ old: ComparedRun, next: ComparedRun }} runs
 * @returns {Comparison[]} one for each baseline that both runs have; []: none
 */
function compareBaselines({ old, next }) {
  const [oldBaselines, newBaselines] = [old, next].map(listBaselines)
  return matchArms({ old: oldBaselines, next: newBaselines }).matches.map(match =>
    compareQuantity({
      ...createRunPair({ old, next, match }),
      row: APPLICATION_CPU,
      service: null,
      aaSpread: null,
      disparities: [],
    }),
  )
}

/**
 * Creates the pair that is compared: new as a, old as b, over the rounds that both runs have.
 * @param {{ old: ComparedRun, next: ComparedRun, match: Match }} options
 * @returns {Omit<import('./compare.js').Pair, 'disparities'>} without `disparities`, which the caller adds
 */
function createRunPair({ old, next, match }) {
  return {
    a: createRunSide({ run: next, arm: match.next, age: 'new' }),
    b: createRunSide({ run: old, arm: match.old, age: 'old' }),
    rounds: Math.min(findLastRound(old), findLastRound(next)),
    seed: next.manifest.run.seed,
    isSequential: [old, next].some(({ manifest }) => manifest.precision !== undefined || isRunCutShort(manifest)),
  }
}

/**
 * Creates one side of a pair, with the records of the arm in this run.
 * @param {{ run: ComparedRun, arm: Arm, age: 'old' | 'new' }} options
 * @returns {import('./compare.js').Side}
 */
function createRunSide({ run: { records }, arm, age }) {
  return { arm, name: `${renderArmName(arm)} in ${age}`, records: records.filter(r => r.trial.arm.id === arm.id) }
}

/**
 * Lists the arms that can be compared with those of another run: those with sidecars, without the repeats of A/A pairs.
 * @param {Pick<RecordedRun, 'manifest'>} run
 * @returns {Arm[]} []: the run has none
 */
export function listComparedArms({ manifest }) {
  return manifest.arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
}

/**
 * Lists the arms of the applications without sidecars under a load. Idle arms are left out.
 * @param {Pick<RecordedRun, 'manifest'>} run
 * @returns {Arm[]} []: the run has none
 */
export function listBaselines({ manifest }) {
  return manifest.arms.filter(arm => !arm.hasSidecars && arm.load.kind !== 'idle')
}

/**
 * Lists the services of runs, each once: those of their topologies, and those whose sidecars were measured.
 * @param {ComparedRun[]} runs
 * @returns {string[]} names
 */
function listServicesOfRuns(runs) {
  const names = runs.flatMap(({ manifest, records }) => [
    ...Object.values(manifest.topologies).flatMap(t => t.services.map(s => s.name)),
    ...records.flatMap(r => listSidecars(r).map(p => p.service)),
  ])
  return [...new Set(names)]
}
