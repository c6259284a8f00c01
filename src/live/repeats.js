import { listPairs, pairTrials } from '../analysis/compare.js'
import { formatValue, listComparedQuantities, measureRound, QUANTITIES } from '../judge/quantities.js'
import { countGoodUses, listCountedTrials } from '../judge/record/measures.js'
import { findRecordPart } from '../kinds/parts.js'
import { computeMedianRatio, summariseSequence } from '../lib/stats.js'
import { listVariedAxes, renderArmLabel, renderArmName, renderAxes } from '../model/arms.js'

/**
 * Values and ratios of the repeats of a run so far. Medians are those of the report; each interval is of a confidence sequence,
 * so that it holds after whichever repeat a viewer ends the run. Pure.
 * @import { Arm, AxisName, TrialRecord } from '../model/types.ts'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 */

/**
 * The part of a record that is kept: a run has thousands, each with every thread of every process.
 * @typedef {object} KeptTrial
 * @property {Pick<TrialRecord['trial'], 'interleaving' | 'isExclusive'>} trial
 * @property {number} goodUses uses that no gate spoiled; -1: it failed
 * @property {number | null} cost in the quantity that compares arms under this load; null: not measured, spoiled, or its kind has a
 *   part of its own in the record
 * @property {number | null} ratePerSecond null: no closed loop, or as `cost`
 */

/**
 * Trials by the arm's id, then by round: the first round is at 0, and one without trials may be missing.
 * @typedef {Map<string, KeptTrial[][]>} KeptTrials
 */

/**
 * An arm over the repeats so far.
 * @typedef {object} ValueRow
 * @property {string} label of the arm
 * @property {number | null} cost the median of the repeats; null: none has a value
 * @property {string} text with units, such as `184 µs at 4268 requests/s`; `–`: no repeat has a value
 */

/**
 * The ratio of two arms over the repeats so far.
 * @typedef {object} RatioSoFar
 * @property {string} a the name of the first arm
 * @property {string} b that of the second
 * @property {string} words the predicate of `a`, in which the share replaces `%`: `uses % less CPU per request`
 * @property {number} median of `a` over `b`, repeat by repeat
 * @property {number | null} low null: too few repeats for an interval
 * @property {number | null} high
 * @property {number} repeats with a ratio
 * @property {boolean} isNarrower the interval is narrower than after the repeat before, or is the first
 */

/**
 * The repeats of one kind of trial.
 * @typedef {object} PartSoFar
 * @property {string[]} arms ids, also of A/A arms
 * @property {string} conditions such as `at 1 CPU each`; empty: nothing sets the part apart
 * @property {number} repeat the last that ended
 * @property {number} repeats planned
 * @property {boolean} isMost the run may end with fewer
 * @property {ValueRow[]} rows of all arms but A/A arms
 * @property {RatioSoFar[]} ratios []: no pair has one yet
 */

/**
 * Creates the list of the repeats of a run, which its events fill.
 * @returns clear: forgets trials and values; plan: sets the arms; add: adds a trial; end: computes the values of a part; list:
 *   lists the parts
 */
export function createRepeats() {
  /** @type {KeptTrials} */
  let trialsByArm = new Map()
  /** @type {Arm[]} */
  let arms = []
  /** @type {AxisName[]} */
  let contrasts = []
  /** By the joined ids of the part's arms. @type {Map<string, PartSoFar>} */
  let parts = new Map()

  return {
    /** Forgets the trials and values of a run; its plan stays until the next. */
    clear() {
      trialsByArm = new Map()
      parts = new Map()
    },
    /**
     * Sets the arms and contrasts of the plan.
     * @param {{ arms: Arm[], contrasts: AxisName[] }} planned
     */
    plan(planned) {
      ;({ arms, contrasts } = planned)
    },
    /**
     * Adds a trial. Its values are part of the results once its repeat ends.
     * @param {TrialRecord} record
     */
    add(record) {
      const { round, arm } = record.trial
      const rounds = trialsByArm.get(arm.id) ?? []
      trialsByArm.set(arm.id, rounds)
      rounds[round - 1] ??= []
      rounds[round - 1].push(createKeptTrial(record))
    },
    /**
     * Computes the values of a part after one of its repeats has ended, without A/A arms.
     * @param {{ round: number, rounds: number, isMost: boolean, arms: string[] }} ended arms: their ids
     */
    end({ round, rounds, isMost, arms: ids }) {
      const partArms = arms.filter(({ id, repeatOf }) => ids.includes(id) && repeatOf === null)
      const key = ids.join(' ')
      const previousPart = parts.get(key)
      parts.set(key, {
        arms: ids,
        conditions: renderSharedLimit(partArms),
        repeat: round,
        repeats: rounds,
        isMost,
        rows: summariseArms(partArms, { trialsByArm, rounds: round }),
        ratios: summarisePairs(partArms, {
          trialsByArm,
          rounds: round,
          contrasts,
          previousRatios: previousPart?.ratios ?? [],
        }),
      })
    },
    /**
     * Lists the parts in the order in which they ran.
     * @returns {PartSoFar[]} []: no repeat has ended
     */
    list: () => [...parts.values()],
  }
}

/**
 * Creates the kept part of a record.
 * @param {TrialRecord} record
 * @returns {KeptTrial}
 */
function createKeptTrial(record) {
  const { interleaving, isExclusive, arm } = record.trial
  const measure = (/** @type {QuantityRow | undefined} */ row) => (row ? measureRound(row, [record]) : null)
  // A kind with a part of its own in the record has other quantities: each of its trials has a line.
  const hasPart = findRecordPart(record) !== undefined
  return {
    trial: { interleaving, isExclusive },
    goodUses: countGoodUses(record),
    cost: hasPart ? null : measure(findComparedQuantity(arm)),
    ratePerSecond: hasPart || arm.load.kind !== 'closed' ? null : measure(QUANTITIES.throughput),
  }
}

/**
 * Finds the first quantity that compares arms under the load of an arm.
 * @param {Arm} arm
 * @returns {QuantityRow | undefined} undefined: none does
 */
function findComparedQuantity(arm) {
  return listComparedQuantities([arm.load.kind])[0]
}

/**
 * Renders the CPU limit that all arms with a limit share: `at 1 CPU each`.
 * @param {Arm[]} arms of one part
 * @returns {string} empty: they have several limits, or none
 */
function renderSharedLimit(arms) {
  const limits = new Set(arms.flatMap(({ cpuLimitCores }) => cpuLimitCores ?? []))
  return limits.size === 1 ? `at ${[...limits][0]} CPU each` : ''
}

/**
 * Computes the medians of each arm over the rounds so far.
 * @param {Arm[]} arms
 * @param {{ trialsByArm: KeptTrials, rounds: number }} options rounds: how many have ended
 * @returns {ValueRow[]} in the order of the arms
 */
function summariseArms(arms, { trialsByArm, rounds }) {
  const variedAxes = listVariedAxes(arms)
  return arms.map(arm => {
    const trialsByRound = splitByRound(trialsByArm, { armId: arm.id, rounds })
    const computeMedian = (/** @type {'cost' | 'ratePerSecond'} */ name) =>
      summariseSequence(trialsByRound.map(trials => findCountedValue(trials, trial => trial[name]))).median
    const [cost, ratePerSecond] = [computeMedian('cost'), computeMedian('ratePerSecond')]
    const row = findComparedQuantity(arm)
    const texts = [
      ...(cost === null || !row ? [] : [`${formatValue(row, cost)} ${row.unit}`]),
      ...(ratePerSecond === null ? [] : [`${formatValue(QUANTITIES.throughput, ratePerSecond)} requests/s`]),
    ]
    return { label: renderArmLabel(arm, variedAxes), cost, text: texts.join(' at ') || '–' }
  })
}

/**
 * Computes the ratios of the first plane to every other one under the same conditions, and of a plane to itself along each
 * contrast.
 * @param {Arm[]} arms of one part
 * @param {{ trialsByArm: KeptTrials, rounds: number, contrasts: AxisName[], previousRatios: RatioSoFar[] }} options
 *   previousRatios: those after the repeat before
 * @returns {RatioSoFar[]} without the pairs that have no ratio yet, or whose load compares no quantity
 */
function summarisePairs(arms, { trialsByArm, rounds, contrasts, previousRatios }) {
  const pairs = listPairs({ arms, contrasts })
  // Only the first plane is never the second arm of a pair of planes.
  const secondArms = new Set(pairs.flatMap(({ b, contrast }) => (contrast === null ? [b] : [])))
  const variedAxes = listVariedAxes(arms)
  return pairs
    .filter(({ a, contrast }) => contrast !== null || !secondArms.has(a))
    .flatMap(({ a, b, contrast }) => {
      const compared = findComparedQuantity(a)?.compared
      const summary = summariseRatio(listRoundRatios(trialsByArm, { a, b, rounds }))
      if (summary === null || !compared) return []
      const renderSide = (/** @type {Arm} */ arm) =>
        contrast === null
          ? renderArmLabel(arm, variedAxes)
          : `${renderArmName(arm)} with ${renderAxes(arm, [contrast])}`
      const names = { a: renderSide(a), b: renderSide(b) }
      const previousRatio = previousRatios.find(ratio => ratio.a === names.a && ratio.b === names.b)
      return {
        ...names,
        words: summary.median < 1 ? compared.less : compared.more,
        ...summary,
        isNarrower: computeWidth(summary) < computeWidth(previousRatio ?? { low: null, high: null }),
      }
    })
}

/**
 * Lists the ratio of the cost of one arm to that of another, round by round.
 * @param {KeptTrials} trialsByArm
 * @param {{ a: Arm, b: Arm, rounds: number }} options
 * @returns {(number | null)[]} of `a` to `b`; null: the round has none
 */
function listRoundRatios(trialsByArm, { a, b, rounds }) {
  const [trialsOfA, trialsOfB] = [a, b].map(({ id: armId }) => splitByRound(trialsByArm, { armId, rounds }))
  return trialsOfA.map((trials, i) => {
    const pairs = pairTrials(trials, trialsOfB[i])
    const ratios = pairs.map(([x, y]) => divideOrNull(findCountedCost(x), findCountedCost(y)))
    return ratios.find(ratio => ratio !== null) ?? null
  })
}

/**
 * Summarises the ratios of the rounds so far.
 * @param {(number | null)[]} ratios by round
 * @returns {Pick<RatioSoFar, 'median' | 'low' | 'high' | 'repeats'> | null} null: no round has a ratio
 */
function summariseRatio(ratios) {
  const knownRatios = ratios.filter(ratio => ratio !== null)
  if (knownRatios.length === 0) return null
  const { low, high } = summariseSequence(ratios)
  return { median: computeMedianRatio(knownRatios), low, high, repeats: knownRatios.length }
}

/**
 * Computes the width of an interval.
 * @param {Pick<RatioSoFar, 'low' | 'high'>} interval
 * @returns {number} Infinity without an interval, so that the first interval counts as narrower
 */
function computeWidth({ low, high }) {
  return low === null || high === null ? Number.POSITIVE_INFINITY : high - low
}

/**
 * Splits the trials of an arm by round.
 * @param {KeptTrials} trialsByArm
 * @param {{ armId: string, rounds: number }} options
 * @returns {KeptTrial[][]} from the first round on; []: the round has no trials
 */
function splitByRound(trialsByArm, { armId, rounds }) {
  const trialsByRound = trialsByArm.get(armId) ?? []
  return Array.from({ length: rounds }, (_, i) => trialsByRound[i] ?? [])
}

/**
 * Finds the value of a round, as a report does: that of the first trial with a value among those that count (`listCountedTrials`).
 * @template {Pick<KeptTrial, 'trial' | 'goodUses'>} T
 * @param {T[]} trials of one arm and round
 * @param {(trial: T) => number | null} read reads the value of a trial
 * @returns {number | null} null: no trial has one
 */
export function findCountedValue(trials, read) {
  const countedTrials = listCountedTrials(trials, ({ goodUses }) => goodUses)
  return countedTrials.map(read).find(value => value !== null) ?? null
}

/**
 * Finds the cost of a round, as `findCountedValue`.
 * @param {KeptTrial[]} trials of one arm and round
 * @returns {number | null} null: no trial has one
 */
const findCountedCost = trials => findCountedValue(trials, ({ cost }) => cost)

/**
 * Divides a by b.
 * @param {number | null} a
 * @param {number | null} b
 * @returns {number | null} null: one of them is null or 0
 */
function divideOrNull(a, b) {
  return a && b ? a / b : null
}
