import { listPairs, pairUp } from '../analysis/compare.js'
import { formatValue, listCompared, measureRound, QUANTITIES } from '../judge/quantities.js'
import { countGoodUses, listCounted } from '../judge/record/measures.js'
import { findRecordPart } from '../kinds/parts.js'
import { medianRatio, summariseSequence } from '../lib/stats.js'
import { describeAxes, findVaried, labelOf, nameOf } from '../model/arms.js'

/**
 * Values and ratios of the repeats of a run so far. Each is computed as the report computes it, and each interval is of a
 * confidence sequence, so that it holds at whichever repeat a viewer ends the run. Pure.
 * @import { Arm, AxisName, TrialRecord } from '../model/types.ts'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 */

/**
 * The part of a record that is kept: a run has thousands, each with every thread of every process.
 * @typedef {object} KeptTrial
 * @property {Pick<TrialRecord['trial'], 'interleaving' | 'isExclusive'>} trial
 * @property {number} goodUses uses that it is good for
 * @property {number | null} cost in the quantity that compares arms under this load
 * @property {number | null} ratePerSecond
 */

/** @typedef {Map<string, KeptTrial[][]>} Kept */

/**
 * @typedef {object} ValueRow
 * @property {string} label
 * @property {number | null} cost
 * @property {string} text with units, such as `184 µs at 4268 requests/s`; `–`: no repeat has a value
 */

/**
 * @typedef {object} RatioSoFar
 * @property {string} a
 * @property {string} b
 * @property {string} words that `a` has against `b`, with a gap for the share: `uses % less CPU per request`
 * @property {number} median
 * @property {number | null} low null: too few repeats for an interval
 * @property {number | null} high
 * @property {number} repeats with a ratio
 * @property {boolean} isNarrower than after the repeat before
 */

/**
 * @typedef {object} PartSoFar the repeats of one kind of trial
 * @property {string[]} arms their ids
 * @property {string} conditions such as `at 1 CPU each`; empty: nothing sets the part apart
 * @property {number} repeat the last that ended
 * @property {number} repeats planned
 * @property {boolean} isMost the run may end before
 * @property {ValueRow[]} rows
 * @property {RatioSoFar[]} ratios
 */

/** Makes the list of a run's repeats. */
export function createRepeats() {
  /** By arm, then by round. @type {Kept} */
  let kept = new Map()
  /** @type {Arm[]} */
  let arms = []
  /** @type {AxisName[]} */
  let contrasts = []
  /** By the arms of the part. @type {Map<string, PartSoFar>} */
  let parts = new Map()

  return {
    clear() {
      kept = new Map()
      parts = new Map()
    },
    /** @param {{ arms: Arm[], contrasts: AxisName[] }} planned */
    plan(planned) {
      ;({ arms, contrasts } = planned)
    },
    /** @param {TrialRecord} record */
    add(record) {
      const { round, interleaving, isExclusive, arm } = record.trial
      const measure = (/** @type {QuantityRow | undefined} */ row) => (row ? measureRound(row, [record]) : null)
      // A kind with a part of its own has other quantities, which it tells trial by trial.
      const hasPart = findRecordPart(record) !== undefined
      const rounds = kept.get(arm.id) ?? []
      kept.set(arm.id, rounds)
      rounds[round - 1] ??= []
      rounds[round - 1].push({
        trial: { interleaving, isExclusive },
        goodUses: countGoodUses(record),
        cost: hasPart ? null : measure(quantityOf(arm)),
        ratePerSecond: hasPart || arm.load.kind !== 'closed' ? null : measure(QUANTITIES.throughput),
      })
    },
    /**
     * Computes the values of a part once a repeat of it has ended.
     * @param {{ round: number, rounds: number, isMost: boolean, arms: string[] }} ended arms: their ids
     */
    end({ round, rounds, isMost, arms: ids }) {
      const ofPart = arms.filter(({ id, repeatOf }) => ids.includes(id) && repeatOf === null)
      const key = ids.join(' ')
      const before = parts.get(key)
      parts.set(key, {
        arms: ids,
        conditions: nameConditions(ofPart),
        repeat: round,
        repeats: rounds,
        isMost,
        rows: summariseArms(ofPart, { kept, rounds: round }),
        ratios: summarisePairs(ofPart, { kept, rounds: round, contrasts, before: before?.ratios ?? [] }),
      })
    },
    /** Lists the parts in the order in which they ran. */
    list: () => [...parts.values()],
  }
}

/** Finds the quantity that compares arms under a load. @param {Arm} arm @returns {QuantityRow | undefined} */
function quantityOf(arm) {
  return listCompared([arm.load.kind])[0]
}

/** @param {Arm[]} arms of one part */
function nameConditions(arms) {
  const caps = new Set(arms.flatMap(({ cpuLimitCores }) => cpuLimitCores ?? []))
  return caps.size === 1 ? `at ${[...caps][0]} CPU each` : ''
}

/** @param {Arm[]} arms @param {{ kept: Kept, rounds: number }} options @returns {ValueRow[]} */
function summariseArms(arms, { kept, rounds }) {
  const varied = findVaried(arms)
  return arms.map(arm => {
    const byRound = splitByRound(kept, { armId: arm.id, rounds })
    const summarise = (/** @type {'cost' | 'ratePerSecond'} */ name) =>
      summariseSequence(byRound.map(trials => firstOf(trials, name))).median
    const [cost, ratePerSecond] = [summarise('cost'), summarise('ratePerSecond')]
    const row = quantityOf(arm)
    const texts = [
      cost === null || !row ? [] : [`${formatValue(row, cost)} ${row.unit}`],
      ratePerSecond === null ? [] : [`${formatValue(QUANTITIES.throughput, ratePerSecond)} requests/s`],
    ].flat()
    return { label: labelOf(arm, varied), cost, text: texts.join(' at ') || '–' }
  })
}

/**
 * @param {Arm[]} arms of one part
 * @param {{ kept: Kept, rounds: number, contrasts: AxisName[], before: RatioSoFar[] }} options
 * @returns {RatioSoFar[]} each plane against the first under the same conditions, and a plane against itself by contrasts
 */
function summarisePairs(arms, { kept, rounds, contrasts, before }) {
  const pairs = listPairs({ arms, contrasts })
  const seconds = new Set(pairs.flatMap(({ b, contrast }) => (contrast === null ? [b] : [])))
  const varied = findVaried(arms)
  return pairs
    .filter(({ a, contrast }) => contrast !== null || !seconds.has(a))
    .flatMap(({ a, b, contrast }) => {
      const [ofA, ofB] = [a, b].map(({ id: armId }) => splitByRound(kept, { armId, rounds }))
      const values = ofA.map((trials, i) => {
        const ratios = pairUp(trials, ofB[i]).map(([x, y]) => divide(firstOf(x, 'cost'), firstOf(y, 'cost')))
        return ratios.find(ratio => ratio !== null) ?? null
      })
      const present = values.filter(value => value !== null)
      const compared = quantityOf(a)?.compared
      if (present.length === 0 || !compared) return []
      const nameSide = (/** @type {Arm} */ arm) =>
        contrast === null ? labelOf(arm, varied) : `${nameOf(arm)} with ${describeAxes(arm, [contrast])}`
      const [nameOfA, nameOfB] = [nameSide(a), nameSide(b)]
      const { low, high } = summariseSequence(values)
      const median = medianRatio(present)
      const last = before.find(ratio => ratio.a === nameOfA && ratio.b === nameOfB)
      return {
        a: nameOfA,
        b: nameOfB,
        words: median < 1 ? compared.less : compared.more,
        ...{ median, low, high, repeats: present.length },
        isNarrower: widthOf({ low, high }) < widthOf(last ?? { low: null, high: null }),
      }
    })
}

/** @param {Pick<RatioSoFar, 'low' | 'high'>} interval */
function widthOf({ low, high }) {
  return low === null || high === null ? Number.POSITIVE_INFINITY : high - low
}

/** @param {Kept} kept @param {{ armId: string, rounds: number }} options @returns {KeptTrial[][]} */
function splitByRound(kept, { armId, rounds }) {
  const trials = kept.get(armId) ?? []
  return Array.from({ length: rounds }, (_, i) => trials[i] ?? [])
}

/** Takes the trial of a round that counts in a report. @param {KeptTrial[]} trials @param {'cost' | 'ratePerSecond'} name */
function firstOf(trials, name) {
  const counted = listCounted(trials, ({ goodUses }) => goodUses)
  return counted.find(trial => trial[name] !== null)?.[name] ?? null
}

/** @param {number | null} a @param {number | null} b */
function divide(a, b) {
  return a && b ? a / b : null
}
