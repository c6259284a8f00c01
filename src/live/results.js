import { measureRound, QUANTITIES } from '../judge/quantities.js'
import { countGoodUses } from '../judge/record/measures.js'
import { finiteOrNull } from '../lib/counters.js'
import { summariseSequence } from '../lib/stats.js'
import { listVariedAxes, renderArmLabel, renderArmName, renderVariedAxes } from '../model/arms.js'
import { createColourChooser } from '../report/charts/colours.js'
import { findCountedValue } from './repeats.js'

/**
 * The results of a run's trials so far, and the names of its arms. Pure.
 * @import { Arm, AxisName, BoundBy, Quantity, TrialRecord } from '../model/types.ts'
 */
/**
 * A trial that ended. Its numbers are those that were measured, also if a gate spoiled the trial; null: not measured.
 * @typedef {object} LiveResult
 * @property {string} id
 * @property {number} round
 * @property {string} arm its id
 * @property {string} name of the arm (`renderArmName`)
 * @property {string} variedAxes the arm's values on the axes that vary; empty: none vary, or it can have none of them
 * @property {TrialRecord['outcome']} outcome
 * @property {BoundBy | null} boundBy null: it is not known
 * @property {string | null} reason the first of the record's; null: it has none
 * @property {number | null} ratePerSecond
 * @property {number | null} cpuPerRequestMicros
 * @property {number | null} p99Ms
 */

/**
 * An arm over the rounds so far.
 * @typedef {object} LiveRow
 * @property {string} armId
 * @property {string} label
 * @property {number} colour an index of the palette; 0: without sidecars
 * @property {Quantity} throughput in requests/s
 * @property {Quantity} cpuPerRequest in microseconds
 */

const DRAWN_QUANTITIES = /** @type {const} */ (['throughput', 'cpuPerRequest'])
/** @typedef {typeof DRAWN_QUANTITIES[number]} DrawnQuantity */

/**
 * The kept part of a record: a run has thousands of records, each with every thread of every process.
 * @typedef {Omit<LiveResult, 'arm' | 'name' | 'variedAxes'> & { arm: Arm, values: Record<DrawnQuantity, number | null>,
 *   trial: Pick<TrialRecord['trial'], 'isExclusive'>, goodUses: number }} KeptResult values: null: not measured, or a gate spoiled
 *   it; goodUses: uses that no gate spoiled; -1: it failed
 */

/**
 * Creates the list of the results of a run, which its events fill.
 * @returns createArmLabel, isOfPlan, isCounted: read the plan; plan: sets it; addTriedArm: adds an arm of a search; add: adds the
 *   result of an ended trial; countOutcomes, list, rows: read the results
 */
export function createResults() {
  /** @type {{ runId: string | null, arms: Arm[], rounds: number, isSearch: boolean }} */
  let plan = { runId: null, arms: [], rounds: 0, isSearch: false }
  /** @type {KeptResult[]} */
  let results = []
  /** Arms that a search has tried, by id. @type {Map<string, Arm>} */
  let triedArms = new Map()
  let chooseColour = createColourChooser()
  /** @type {AxisName[]} */
  let variedAxes = []

  const createArmLabel = (/** @type {Arm} */ arm) => ({
    name: renderArmName(arm),
    variedAxes: renderVariedAxes(arm, variedAxes),
  })
  const isOfPlan = (/** @type {Arm} */ arm) => plan.isSearch || plan.arms.some(({ id }) => id === arm.id)

  return {
    createArmLabel,
    isOfPlan,
    /**
     * Says whether a trial counts as one of the plan: not one that is measured again, nor one that finds the capacity.
     * @returns {boolean}
     */
    isCounted: (/** @type {TrialRecord['trial']} */ { arm, repeats }) => repeats === null && isOfPlan(arm),
    /**
     * Sets the plan. If the same run is planned again, with fewer arms, its results stay; a new run begins without results.
     * @param {{ run: { id: string }, arms: Arm[], rounds: number, trials: number | null }} planned trials: null in a search
     */
    plan({ run, arms, rounds, trials }) {
      if (run.id !== plan.runId) {
        results = []
        triedArms = new Map()
        chooseColour = createColourChooser()
      }
      plan = { runId: run.id, arms, rounds, isSearch: trials === null }
      variedAxes = listVariedAxes([...arms, ...triedArms.values()])
      // A colour depends on the arms that had one before: the plan's come first.
      for (const arm of arms) chooseColour(arm)
    },
    /**
     * Adds an arm that a search tries. Other runs have all arms in their plan, so nothing is added.
     * @param {Arm} arm
     */
    addTriedArm(arm) {
      if (!plan.isSearch || triedArms.has(arm.id)) return
      triedArms.set(arm.id, arm)
      variedAxes = listVariedAxes([...plan.arms, ...triedArms.values()])
      chooseColour(arm)
    },
    add: (/** @type {TrialRecord} */ record) => void results.push(createKeptResult(record)),
    /**
     * Counts the ended trials by outcome, including those that were measured again.
     * @returns {Record<TrialRecord['outcome'], number>}
     */
    countOutcomes() {
      const outcomes = { completed: 0, failed: 0, invalid: 0 }
      for (const { outcome } of results) outcomes[outcome]++
      return outcomes
    },
    /**
     * Lists the results.
     * @returns {LiveResult[]} in the order in which they ended
     */
    list: () =>
      results.map(({ arm, values, trial, goodUses, ...result }) => ({
        ...result,
        arm: arm.id,
        ...createArmLabel(arm),
      })),
    /**
     * Lists the arms in the order of the plan. In a search it lists only arms with results, in the order in which they were
     * tried.
     * @returns {LiveRow[]} throughput, cpuPerRequest: the median is null without a value; []: nothing is planned, or a search has no
     *   result yet
     */
    rows() {
      const hasResult = (/** @type {Arm} */ { id }) => results.some(({ arm }) => arm.id === id)
      const arms = plan.isSearch ? [...triedArms.values()].filter(hasResult) : plan.arms
      const rounds = results.reduce((most, { round }) => Math.max(most, round), plan.rounds)
      return arms.map(arm => ({
        armId: arm.id,
        label: renderArmLabel(arm, variedAxes),
        colour: chooseColour(arm),
        ...summariseRounds(
          results.filter(result => result.arm.id === arm.id),
          rounds,
        ),
      }))
    },
  }
}

/**
 * Creates the kept part of a record. Values that are not finite become null.
 * @param {TrialRecord} record
 * @returns {KeptResult}
 */
function createKeptResult(record) {
  const { trial, outcome, boundBy, reasons } = record
  const measure = (/** @type {string} */ name) => finiteOrNull(QUANTITIES[name].measure({ record }))
  return {
    id: trial.id,
    round: trial.round,
    arm: trial.arm,
    outcome,
    boundBy,
    ratePerSecond: measure('throughput'),
    cpuPerRequestMicros: measure('cpuPerRequest'),
    p99Ms: measure('p99'),
    reason: reasons[0] ?? null,
    trial: { isExclusive: trial.isExclusive },
    goodUses: countGoodUses(record),
    values: mapDrawnQuantities(name => measureRound(QUANTITIES[name], [record])),
  }
}

/**
 * Summarises the drawn quantities of an arm over its rounds, by confidence sequences: a viewer may end a run at any time, and only
 * their intervals hold then.
 * @param {KeptResult[]} results of the arm
 * @param {number} rounds of the plan, or more if a result is of a later one
 * @returns {Record<DrawnQuantity, Quantity>} the median is null without a value
 */
function summariseRounds(results, rounds) {
  const byRound = Array.from({ length: rounds }, (_, i) => results.filter(({ round }) => round === i + 1))
  return mapDrawnQuantities(name =>
    summariseSequence(byRound.map(trials => findCountedValue(trials, ({ values }) => values[name]))),
  )
}

/**
 * Creates a value for each drawn quantity.
 * @template T
 * @param {(name: DrawnQuantity) => T} createValue
 * @returns {Record<DrawnQuantity, T>} by name
 */
function mapDrawnQuantities(createValue) {
  return /** @type {Record<DrawnQuantity, T>} */ (
    Object.fromEntries(DRAWN_QUANTITIES.map(name => [name, createValue(name)]))
  )
}
