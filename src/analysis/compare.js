import { GATES } from '../judge/gates.js'
import { chooseRequiredUse, listComparedQuantities, measureRound } from '../judge/quantities.js'
import { groupByRound, listSidecars } from '../judge/record/measures.js'
import { groupBy } from '../lib/group-by.js'
import { hasTrend } from '../lib/stats.js'
import { AXES, createGroupKey, renderArmName, renderAxes, renderContenderName } from '../model/arms.js'
import {
  chooseRoundsLeast,
  computeGapLeast,
  GAP_LEAST_BESIDE,
  hasTooManySpoiledRounds,
  judgeRounds,
} from './verdict.js'

/** Compares two arms by the ratios of their rounds. Pure. */
/** @import { Arm, AxisName, Comparison, Manifest, TrialRecord } from '../model/types.ts' */
/** @import { QuantityRow } from '../judge/record/quantity-row.js' */

/**
 * The arms of a run that are compared, with their records.
 * @typedef {object} ComparisonInput
 * @property {Arm[]} arms
 * @property {TrialRecord[]} records
 * @property {number} rounds
 * @property {number} seed of the resampling
 * @property {number} [precision] target width of the intervals, high / low - 1; absent: the number of rounds was fixed in advance
 * @property {boolean} [isCutShort] the run ended early, maybe by a user who watched its results
 * @property {Set<string>} [leftOut] ids of arms whose pairs, except A/A pairs, are not compared
 * @property {AxisName[]} [contrasts] axes on which a plane is compared with itself
 * @property {(a: Arm, b: Arm) => string[]} listDisparities lists why two planes did not do equal work; [] if they did
 * @property {(a: Arm, b: Arm) => string[]} [renderUnequal] renders the checks in which the work differs because a plane runs as its
 *   mesh deploys it
 * @property {(a: Arm, b: Arm) => string[]} listWrong lists the checks that either arm of a contrast fails; [] if none
 */

/**
 * Compares planes, a plane with itself by contrasts, and A/A pairs, whose differences are the noise of the others. Pairs with
 * an arm of `leftOut` are skipped, except A/A pairs.
 * @param {ComparisonInput} run
 * @returns {Comparison[]} A/A pairs last; []: there is no pair
 */
export function compareArms(run) {
  const controls = run.arms.filter(arm => arm.repeatOf !== null)
  const planes = run.arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  const controlComparisons = controls.flatMap(b => {
    const a = planes.find(arm => arm.id === b.repeatOf)
    return a ? comparePair({ run, a, b, controls: [] }) : []
  })
  const pairs = listPairs(run).filter(({ a, b }) => ![a, b].some(({ id }) => run.leftOut?.has(id)))
  const pairComparisons = pairs.flatMap(pair => comparePair({ run, ...pair, controls: controlComparisons }))
  return [...pairComparisons, ...controlComparisons]
}

/**
 * Lists the pairs that are compared: planes under the same conditions, then a plane with itself by contrasts; no A/A pairs.
 * @param {Pick<ComparisonInput, 'arms' | 'contrasts'>} run
 * @returns {{ a: Arm, b: Arm, contrast: AxisName | null }[]} contrast: the axis in which the two differ; null: they are two
 *   planes
 */
export function listPairs({ arms, contrasts = [] }) {
  const armsWithoutRepeats = arms.filter(arm => arm.repeatOf === null)
  const planes = armsWithoutRepeats.filter(arm => arm.hasSidecars)
  const planePairs = planes.flatMap((a, i) =>
    planes
      .slice(i + 1)
      .filter(b => createGroupKey(a) === createGroupKey(b))
      .map(b => ({ a, b, contrast: null })),
  )
  const contrastPairs = contrasts.flatMap(contrast => {
    const contrastArms = AXES[contrast].isCostOfAll ? armsWithoutRepeats : planes
    return listContrastPairs(contrastArms, contrast).map(pair => ({ ...pair, contrast }))
  })
  return [...planePairs, ...contrastPairs]
}

/**
 * Pairs each arm with the first arm of the same contender that differs from it in one axis alone.
 * @param {Arm[]} arms
 * @param {AxisName} axis
 * @returns {{ a: Arm, b: Arm }[]} b: the first one, which has no pair of its own; []: no contender has two values of the axis
 */
function listContrastPairs(arms, axis) {
  const createArmKey = (/** @type {Arm} */ arm) => `${renderContenderName(arm)} ${createGroupKey(arm, axis)}`
  return arms.flatMap(a => {
    const b = /** @type {Arm} */ (arms.find(arm => createArmKey(arm) === createArmKey(a)))
    return a === b ? [] : [{ a, b }]
  })
}

/**
 * Compares two arms of a run in every quantity.
 * @param {{ run: ComparisonInput, a: Arm, b: Arm, controls: Comparison[], contrast?: AxisName | null }} options controls: the
 *   A/A pairs that show their noise; contrast: null: the two are planes, or an A/A pair
 * @returns {Comparison[]} one for each quantity and for each service; []: the load and the arm have no such quantity
 */
function comparePair({ run, a, b, controls, contrast = null }) {
  const [sideA, sideB] = [a, b].map(arm => ({
    arm,
    name: renderArmName(arm),
    records: run.records.filter(r => r.trial.arm.id === arm.id),
  }))
  const { isCutShort = false } = run
  const records = [...sideA.records, ...sideB.records]
  const plannedRounds = a.rounds ?? run.rounds
  const { rounds, isSequential } = chooseSummarisedRounds({ plannedRounds, records, isCutShort })
  return compareQuantities({
    a: sideA,
    b: sideB,
    rounds,
    isSequential,
    seed: run.seed,
    contrast,
    ...(hasSharedDeployment(run.records, a, b) && { gapLeast: GAP_LEAST_BESIDE }),
    // A target width takes precedence, also over a shared deployment.
    ...(run.precision && { isSequential: true, gapLeast: computeGapLeast(run.precision) }),
    disparities: contrast === null ? run.listDisparities(a, b) : run.listWrong(a, b),
    unequal: contrast === null ? run.renderUnequal?.(a, b) : [],
    findNoise: (quantity, service) => findAaSpread(controls, { quantity, service, arms: [a, b] }),
  })
}

/**
 * Says whether a run ended early or has not ended (`ended` is null).
 * @param {Pick<Manifest, 'ended'>} manifest
 * @returns {boolean} false also: an older kit made it, which records no end
 */
export function isRunCutShort({ ended }) {
  return ended !== undefined && ended !== 'finished'
}

/**
 * Chooses how many rounds of arms are summarised: those with records if the run was cut short, else the planned ones.
 * @param {{ plannedRounds: number, records: TrialRecord[], isCutShort: boolean }} options records: of the arms
 * @returns {{ rounds: number, isSequential: boolean }} isSequential: the run has fewer rounds than planned, so only the intervals
 *   of a confidence sequence hold, and not those of a fixed number of rounds
 */
export function chooseSummarisedRounds({ plannedRounds, records, isCutShort }) {
  const lastRound = Math.max(0, ...records.map(({ trial }) => trial.round))
  return isCutShort && lastRound < plannedRounds
    ? { rounds: lastRound, isSequential: true }
    : { rounds: plannedRounds, isSequential: false }
}

/**
 * Says whether two interleaved arms were ever in one deployment.
 * @param {TrialRecord[]} records of the run
 * @param {Arm} a
 * @param {Arm} b
 * @returns {boolean} false also: `a` is not interleaved
 */
function hasSharedDeployment(records, a, b) {
  if (!a.load.isInterleaved) return false
  const listInterleavings = (/** @type {Arm} */ arm) =>
    records.flatMap(({ trial }) => (trial.arm.id === arm.id ? (trial.interleaving ?? []) : []))
  const interleavings = new Set(listInterleavings(a))
  return listInterleavings(b).some(interleaving => interleavings.has(interleaving))
}

/**
 * Finds the A/A difference that is the noise of arms: of the A/A pair under the same conditions or, for interleaved arms, of
 * any A/A pair on their link.
 * @param {Comparison[]} controls A/A pairs
 * @param {{ quantity: string, service: string | null, arms: Pick<Arm, 'link' | 'cpuLimitCores' | 'load' | 'conditions'>[] }}
 *   options
 * @returns {number | null} |ratio - 1|, a fraction; null: there is no such pair, or its quantity has no value
 */
export function findAaSpread(controls, { quantity, service, arms }) {
  const groups = arms.map(arm => createGroupKey(arm))
  const controlsOfQuantity = controls.filter(c => c.quantity === quantity && c.service === service)
  // One A/A pair gives the noise of all arms that are measured side by side on a link.
  const interleavedControl = controlsOfQuantity.find(
    c => c.load.isInterleaved && arms[0].load.isInterleaved && c.link === arms[0].link,
  )
  const control = controlsOfQuantity.find(c => groups.includes(createGroupKey(c))) ?? interleavedControl
  return control === undefined || control.ratio.median === null ? null : Math.abs(control.ratio.median - 1)
}

/** @typedef {{ arm: Arm, name: string, records: TrialRecord[] }} Side one of two sides; records: of the arm, in all rounds */

/**
 * Two arms of one run, or of two, that are compared.
 * @typedef {object} Pair
 * @property {Side} a
 * @property {Side} b
 * @property {number} rounds
 * @property {number} seed of the resampling
 * @property {AxisName | null} [contrast] the axis in which the two differ; null: they are two planes, or of two runs
 * @property {boolean} [isSequential] the results decided how many rounds there are
 * @property {number} [gapLeast] a smaller gap is no difference, if an A/A pair shows the noise
 * @property {string[]} disparities why the two did not do equal work
 * @property {string[]} [unequal] the same if one is as a mesh deploys it: reported, and no reason against a verdict
 */

/**
 * Compares two arms in every quantity that the load and the arm have, for all sidecars together and for each service.
 * @param {Pair & { findNoise: (quantity: string, service: string | null) => number | null }} pair findNoise: returns the A/A
 *   difference as a share; null: it is not known
 * @returns {Comparison[]} one for each quantity and for each service in the records of a; []: the load and the arm have no such quantity
 */
export function compareQuantities({ findNoise, ...pair }) {
  const { arm, records } = pair.a
  const services = new Set(records.flatMap(r => listSidecars(r).map(p => p.service)))
  const sumDisparities = renderSimulationMismatch(arm, pair.b.arm)
  const rows = listComparedQuantities([arm.load.kind]).filter(({ sidecars, compared }) => {
    // A contrast can pair arms without sidecars: they lack the quantities of sidecars.
    const isMeasurable = arm.hasSidecars || !sidecars || !pair.contrast
    return isMeasurable && (compared.isOf?.(arm) ?? true)
  })
  return rows.flatMap(row =>
    [null, ...(row.sidecars ? services : [])].map(service => {
      const isSum = row.sidecars !== undefined && service === null
      const disparities = isSum ? [...pair.disparities, ...sumDisparities] : pair.disparities
      return compareQuantity({ ...pair, disparities, row, service, aaSpread: findNoise(row.name, service) })
    }),
  )
}

/**
 * Renders the reason why sums over sidecars cannot be compared: two arms simulate different numbers of them, which are in no sum.
 * @param {Arm} a
 * @param {Arm} b
 * @returns {string[]} one reason; []: both simulate the same number
 */
function renderSimulationMismatch(a, b) {
  const renderSimulatedShare = (/** @type {Arm} */ { conditions: { sidecars, simulated = 0 } }) =>
    `${simulated} of ${sidecars}`
  const isUnlike = a.conditions.simulated !== b.conditions.simulated
  return isUnlike ? [`simulated sidecars are in no sum: ${renderSimulatedShare(a)} and ${renderSimulatedShare(b)}`] : []
}

/**
 * Compares two arms in one quantity by the ratio a/b of each round.
 * @param {Pair & { row: QuantityRow, service: string | null, aaSpread: number | null }} options service: whose sidecar is
 *   compared, null: all; aaSpread: the A/A difference as a share, null: not known
 * @returns {Comparison} verdict: `invalid` without equal work (`disparities`) or with too many spoiled rounds; ratio: its
 *   values are null for rounds without a value of both arms; gapLeast: absent if the pair has none
 */
export function compareQuantity({ a, b, row, service, contrast = null, aaSpread, disparities, unequal = [], ...pair }) {
  const { seed, isSequential = false } = pair
  const rounds = measurePairRounds({ a, b, rounds: pair.rounds }, { row, service })
  const values = rounds.map(r => r.ratio)
  const spoiledReasons = disparities.length > 0 ? disparities : listSpoiledReasons(rounds, row)
  const isSpoiled =
    disparities.length > 0 || (spoiledReasons.length > 0 && hasTooManySpoiledRounds(values, isSequential))
  const judgement = judgeRounds({ values, seed, isSequential, gapLeast: pair.gapLeast, aaSpread, isSpoiled })
  const { ratio, verdict, gapLeast } = judgement
  const renderName = (/** @type {Side} */ { arm, name }) =>
    contrast === null ? name : `${name} with ${renderAxes(arm, [contrast])}`
  const { kind, link, cpuLimitCores, load, conditions } = a.arm
  return {
    a: renderName(a),
    b: renderName(b),
    kind,
    link,
    cpuLimitCores,
    load,
    conditions,
    contrast,
    isControl: b.arm.repeatOf !== null,
    quantity: row.name,
    service,
    ratio,
    aaSpread,
    verdict,
    reasons: [...spoiledReasons, ...unequal, ...listDoubts({ values, verdict, isSequential })],
    ...(pair.gapLeast !== undefined && { gapLeast }),
  }
}

/**
 * The measurements of a round.
 * @typedef {object} MeasuredRound
 * @property {{ name: string, trials: TrialRecord[], value: number | null }[]} sides those of a and b; value: null: no trial has it
 * @property {number | null} ratio a/b; null: a side has no value, or 0
 */

/**
 * Measures a quantity of two arms in each round. If a round has several pairs of trials (`pairTrials`), the first with a ratio counts.
 * @param {Pick<Pair, 'a' | 'b' | 'rounds'>} pair
 * @param {{ row: QuantityRow, service: string | null }} quantity
 * @returns {MeasuredRound[]}
 */
function measurePairRounds({ a, b, rounds }, { row, service }) {
  const [roundsOfA, roundsOfB] = [a, b].map(({ records }) => groupByRound(records, rounds))
  return roundsOfA.map((trialsOfA, i) => {
    const candidates = pairTrials(trialsOfA, roundsOfB[i]).map(pair => {
      const sides = [a, b].map(({ name }, side) => {
        const trials = pair[side]
        return { name, trials, value: measureRound(row, trials, { service }) }
      })
      const [over, under] = sides.map(side => side.value)
      return { sides, ratio: over && under ? over / under : null }
    })
    return candidates.find(({ ratio }) => ratio !== null) ?? candidates[0]
  })
}

/**
 * Lists the doubts about a verdict: too few rounds for an interval, and a drift of the ratio over the rounds.
 * @param {{ values: (number | null)[], verdict: Comparison['verdict'], isSequential: boolean }} comparison values: ratios by round
 * @returns {string[]} []: there are none
 */
function listDoubts({ values, verdict, isSequential }) {
  const ratios = values.filter(value => value !== null)
  const roundsNote = `${ratios.length} rounds: ${chooseRoundsLeast(isSequential)} are needed`
  const doubts = verdict === 'indicative' ? [roundsNote] : []
  if (!hasTrend(ratios)) return doubts
  return [...doubts, `the ratio drifted from ${ratios[0].toFixed(3)} to ${ratios.at(-1)?.toFixed(3)}`]
}

/**
 * Pairs the trials of a round that were in one deployment. If none were, it creates one pair: all trials of a and all of b.
 * @template {{ trial: { interleaving?: string } }} T
 * @param {T[]} trialsOfA trials of a in one round
 * @param {T[]} trialsOfB trials of b in the same round
 * @returns {T[][][]} pairs; each pair is a list of trials of a and a list of trials of b
 */
export function pairTrials(trialsOfA, trialsOfB) {
  const sharedPairs = trialsOfA.flatMap(x => {
    const y = trialsOfB.find(
      ({ trial }) => trial.interleaving !== undefined && trial.interleaving === x.trial.interleaving,
    )
    return y ? [[[x], [y]]] : []
  })
  return sharedPairs.length > 0 ? sharedPairs : [[trialsOfA, trialsOfB]]
}

/**
 * Lists why rounds have no ratio, the most frequent reason first: `generator bound in 4 of 6 rounds`.
 * @param {MeasuredRound[]} rounds
 * @param {QuantityRow} row
 * @returns {string[]} a reason of one side has its name; []: each side has a value other than 0 in every round in which it has trials
 */
function listSpoiledReasons(rounds, row) {
  const occurrences = rounds.flatMap(({ sides }, round) => {
    const sidesWithoutValue = sides.filter(({ trials, value }) => !value && trials.length > 0)
    return sidesWithoutValue.flatMap(({ name, trials }) =>
      [...listMissingReasons(trials, row)].map(reason => ({ reason, round, name })),
    )
  })
  const countedReasons = [...groupBy(occurrences, ({ reason }) => reason)].map(([reason, group]) => {
    const count = new Set(group.map(({ round }) => round)).size
    const names = [...new Set(group.map(({ name }) => name))]
    const side = names.length > 1 ? '' : ` (${names[0]})`
    return { count, text: `${reason} in ${count} of ${rounds.length} rounds${side}` }
  })
  return countedReasons.sort((x, y) => y.count - x.count).map(({ text }) => text)
}

/**
 * Lists why trials have no value of a quantity, each reason once.
 * @param {TrialRecord[]} trials of one arm in one round, at least one, none of them good
 * @param {QuantityRow} row
 * @returns {Set<string>} at least one reason; `not measured` if no gate explains it
 */
function listMissingReasons(trials, row) {
  const use = chooseRequiredUse(row, trials[0].trial.arm.load)
  const reasons = trials.flatMap(({ outcome, boundBy, gates }) => {
    if (outcome === 'failed') return ['trial failed']
    const isUnbound = row.use === 'capacity' && boundBy !== 'sidecar' && boundBy !== null
    return [
      ...(isUnbound ? [`${boundBy} bound`] : []),
      ...gates.filter(gate => gate.spoils.includes(use)).map(({ gate }) => GATES.get(gate)?.words ?? gate),
    ]
  })
  return new Set(reasons.length > 0 ? reasons : ['not measured'])
}
