import { measureRound, PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupByRound } from '../judge/record/measures.js'
import { summariseValues } from '../lib/stats.js'
import { areAlikeOn, createGroupKey, listVariedAxes, renderArmName } from '../model/arms.js'
import { APPLICATION_CPU, APPLICATION_CPU_AXES, listBaselines, listComparedArms } from './compare-runs.js'
import { listRefusals, matchArms, renderMatchedArm } from './match-arms.js'
import { listChangingFacts, listIncomparableReasons, listMachineDifferences } from './match-runs.js'

/** Creates the history of the runs that can be compared with one of them. Pure. */
/**
 * @import { Arm, Quantity } from '../model/types.ts'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 */
/** @import { RecordedRun } from './match-runs.js' */

const LINE_QUANTITIES = [PRIMARY, QUANTITIES.capacity, QUANTITIES.cpuCores, QUANTITIES.rss]

/**
 * @typedef {RecordedRun & { folder: string }} ReadRun
 * @typedef {{ label: string, old: string, next: string }} Change
 */

/**
 * A run of a history.
 * @typedef {object} HistoryRun
 * @property {string} folder
 * @property {string} startedAt
 * @property {string} experiment
 * @property {string} kit its version and commit
 * @property {Change[]} changes since the last run that recorded the fact; []: nothing changed
 */

/**
 * The values of a quantity of an arm over the runs of a history.
 * @typedef {object} Line
 * @property {string} label of the arm
 * @property {string} quantity
 * @property {string} group arms of one group are drawn together
 * @property {boolean} isControl of the applications, without sidecars
 * @property {Arm} arm of the reference
 * @property {(Quantity & { rounds: number })[]} values of each run; those without a good trial have no median
 */

/**
 * All runs that are comparable with a reference.
 * @typedef {object} History
 * @property {string | null} reference the folder of the run that all others are compared with; null: there is none
 * @property {HistoryRun[]} runs in the order of time; without a reference those that may be comparable with some
 * @property {Line[]} lines []: there is no reference, or no line has a value
 * @property {{ folder: string, reasons: string[] }[]} left runs that are not comparable
 * @property {{ arm: string, runs: number }[]} unmatched arms of comparable runs that the reference does not have
 * @property {string[]} nodes each once
 */

/**
 * Creates the history of the runs that are comparable with a reference: the run of `folder` or, by default, the last run that
 * is comparable with others. Lines without any value are left out.
 * @param {ReadRun[]} runs in any order
 * @param {string} [folder] of the reference
 * @returns {History} reference: null also if no run has the folder
 */
export function createHistory(runs, folder) {
  const sortedRuns = runs.toSorted((a, b) => a.manifest.run.startedAt.localeCompare(b.manifest.run.startedAt))
  const isReference = (/** @type {ReadRun} */ run) =>
    folder === undefined ? listIsolatingReasons(run).length === 0 : run.folder === folder
  const reference = sortedRuns.findLast(isReference)
  const checkedRuns = sortedRuns.map(run => ({
    run,
    reasons: reference ? listExclusionReasons(run, reference) : listIsolatingReasons(run),
  }))
  const comparableRuns = checkedRuns.filter(({ reasons }) => reasons.length === 0).map(({ run }) => run)
  const lines = reference ? createLines(comparableRuns, reference) : []
  return {
    reference: reference?.folder ?? null,
    runs: listHistoryRuns(comparableRuns, reference),
    lines: lines.filter(line => line.values.some(({ median }) => median !== null)),
    left: checkedRuns.flatMap(({ run, reasons }) => (reasons.length > 0 ? [{ folder: run.folder, reasons }] : [])),
    unmatched: reference ? listUnmatchedArms(comparableRuns, reference) : [],
    nodes: [...new Set(comparableRuns.map(({ manifest }) => `${manifest.machine.node ?? 'unknown'}`))],
  }
}

/**
 * Lists why a run is comparable with no other run.
 * @param {ReadRun} run
 * @returns {string[]} []: it may be comparable with some
 */
function listIsolatingReasons({ manifest }) {
  return listIncomparableReasons({ old: manifest, next: manifest })
}

/**
 * Lists why a run is not in the history of a reference.
 * @param {ReadRun} run
 * @param {ReadRun} reference
 * @returns {string[]} []: it is in the history
 */
function listExclusionReasons(run, reference) {
  const isLater = run.manifest.run.startedAt > reference.manifest.run.startedAt
  const [old, next] = isLater ? [reference, run] : [run, reference]
  const manifests = { old: old.manifest, next: next.manifest }
  const differing = [...listIncomparableReasons(manifests), ...listMachineDifferences(manifests)]
  if (differing.length > 0) return differing
  const { matches, unmatched } = matchArms({ old: listComparedArms(old), next: listComparedArms(next) })
  if (matches.length > 0) return []
  return listRefusals(unmatched, listVariedAxes([...unmatched.old, ...unmatched.next])).map(
    refusal => `${refusal.arm}: ${refusal.differing.join('; ')}`,
  )
}

/**
 * Lists runs, each with the facts that changed since the last run that recorded them.
 * @param {ReadRun[]} runs in the order of time
 * @param {ReadRun} [reference] absent: no scripts are compared
 * @returns {HistoryRun[]} in the same order
 */
function listHistoryRuns(runs, reference) {
  /** @type {Map<string, { value: string, text: string }>} */
  const lastFacts = new Map()
  const arms = reference ? listComparedArms(reference) : []
  return runs.map(run => {
    const namedArms = arms.flatMap(arm => {
      const match = findMatchedArm(run, /** @type {ReadRun} */ (reference), { arm, list: listComparedArms })
      return match ? [{ name: renderArmName(arm), arm: match }] : []
    })
    /** @type {Change[]} */
    const changes = []
    for (const { label, value, text } of listChangingFacts(run.manifest, namedArms)) {
      const last = lastFacts.get(label)
      if (last !== undefined && last.value !== value) changes.push({ label, old: last.text, next: text })
      lastFacts.set(label, { value, text })
    }
    const { startedAt, experiment } = run.manifest.run
    const { version, git } = run.manifest.kit
    return { folder: run.folder, startedAt, experiment, kit: [version, git].filter(Boolean).join(' '), changes }
  })
}

/**
 * Creates a line for each of LINE_QUANTITIES of each arm of the reference, and for the applications of its
 * baselines. Baselines that match no arm on APPLICATION_CPU_AXES are left out.
 * @param {ReadRun[]} runs
 * @param {ReadRun} reference
 * @returns {Line[]} those of the applications last
 */
function createLines(runs, reference) {
  const arms = listComparedArms(reference)
  const variedAxes = listVariedAxes(arms)
  const measureRuns = (/** @type {QuantityRow} */ row, /** @type {Parameters<typeof findMatchedArm>[2]} */ options) =>
    runs.map(run => summariseQuantity(run, { row, arm: findMatchedArm(run, reference, options) }))
  const armLines = arms.flatMap(arm =>
    LINE_QUANTITIES.filter(row => row.compared?.kinds.includes(arm.load.kind)).map(row => ({
      label: renderMatchedArm({ arm, variedAxes }),
      quantity: row.name,
      group: createGroupKey(arm),
      isControl: false,
      arm,
      values: measureRuns(row, { arm, list: listComparedArms }),
    })),
  )
  const baselineLines = listBaselines(reference).flatMap(baseline => {
    const alikeArm = arms.find(arm => areAlikeOn(baseline, arm, APPLICATION_CPU_AXES))
    if (alikeArm === undefined) return []
    return {
      label: 'none (the applications)',
      quantity: APPLICATION_CPU.name,
      isControl: true,
      arm: baseline,
      // The charts of this arm show the baseline, too.
      group: createGroupKey(alikeArm),
      values: measureRuns(APPLICATION_CPU, { arm: baseline, list: listBaselines }),
    }
  })
  return [...armLines, ...baselineLines]
}

/**
 * Finds the arm of a run that matches an arm of the reference.
 * @param {ReadRun} run
 * @param {ReadRun} reference
 * @param {{ arm: Arm, list: (run: ReadRun) => Arm[] }} options list: lists the candidates of a run
 * @returns {Arm | undefined} undefined: no arm matches
 */
function findMatchedArm(run, reference, { arm, list }) {
  return matchArms({ old: list(run), next: list(reference) }).matches.find(match => match.next === arm)?.old
}

/**
 * Summarises a quantity of an arm over the rounds of a run, without the trials that were taken from other runs.
 * @param {ReadRun} run
 * @param {{ row: QuantityRow, arm?: Arm }} options arm: absent: the run does not have it, and no round has a value
 * @returns {Quantity & { rounds: number }} rounds: those with a value
 */
function summariseQuantity({ manifest, records }, { row, arm }) {
  const armRecords = records.filter(r => r.trial.arm.id === arm?.id && r.takenFrom === undefined)
  const values = groupByRound(armRecords, manifest.rounds).map(trials => measureRound(row, trials))
  return { ...summariseValues(values), rounds: values.filter(value => value !== null).length }
}

/**
 * Lists the arms that the reference does not have, with the number of their runs.
 * @param {ReadRun[]} runs
 * @param {ReadRun} reference
 * @returns {{ arm: string, runs: number }[]} arm: its name with the axes that vary; []: the reference has all arms
 */
function listUnmatchedArms(runs, reference) {
  const labels = runs.flatMap(run => {
    const { unmatched } = matchArms({ old: listComparedArms(run), next: listComparedArms(reference) })
    return unmatched.old.map(arm => {
      const variedAxes = listVariedAxes([...listComparedArms(reference), arm])
      return renderMatchedArm({ arm, variedAxes })
    })
  })
  return [...new Set(labels)].map(arm => ({ arm, runs: labels.filter(label => label === arm).length }))
}
