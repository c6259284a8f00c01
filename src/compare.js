import { nameOf, nameOnAxis } from './arms.js'
import { groupOf } from './axes.js'
import { GATE_WORDS } from './gates.js'
import { MEASURES, sidecarsOf, valueOfRound } from './measures.js'
import { hasTrend, ROUNDS_LEAST, summariseRatios } from './stats.js'

/**
 * Verdicts: what the rounds have shown of two planes, and no more. Pure.
 * @import { Arm, AxisName, Comparison, Quantity, TrialRecord, Verdict } from './types.ts'
 * @import { Measure } from './measures.js'
 */

/** A gap smaller than this is no difference, however narrow the interval. */
export const GAP_LEAST = 0.03

/**
 * @typedef {object} Compared
 * @property {Arm[]} arms
 * @property {TrialRecord[]} records
 * @property {number} rounds
 * @property {number} seed of the resampling
 * @property {AxisName[]} [contrasts] axes on which a plane is compared with itself
 * @property {(a: Arm, b: Arm) => string[]} findDisparities why two planes did not do equal work
 */

/**
 * Every pair of planes at the same link, cap, load and conditions, every plane with itself on the axes of contrast,
 * and every A/A pair, in every quantity.
 * @param {Compared} run
 * @returns {Comparison[]}
 */
export function compareArms(run) {
  const controls = run.arms.filter(arm => arm.repeatOf !== null)
  const planes = run.arms.filter(arm => arm.repeatOf === null && arm.plane !== 'none')
  const ofControls = controls.flatMap(b => {
    const a = planes.find(arm => arm.id === b.repeatOf)
    return a ? comparePair({ run, a, b, controls: [] }) : []
  })
  const pairs = planes.flatMap((a, i) =>
    planes
      .slice(i + 1)
      .filter(b => groupOf(a) === groupOf(b))
      .map(b => ({ a, b })),
  )
  const ofPlanes = pairs.flatMap(({ a, b }) => comparePair({ run, a, b, controls: ofControls }))
  const ofAxes = (run.contrasts ?? []).flatMap(contrast =>
    findContrasts(planes, contrast).flatMap(({ a, b }) => comparePair({ run, a, b, controls: ofControls, contrast })),
  )
  return [...ofPlanes, ...ofAxes, ...ofControls]
}

/**
 * Each arm and the first that differs from it in nothing but an axis.
 * @param {Arm[]} arms
 * @param {AxisName} axis
 */
function findContrasts(arms, axis) {
  const keyOf = (/** @type {Arm} */ arm) => `${nameOf(arm)} ${groupOf(arm, axis)}`
  return arms.flatMap(a => {
    const b = /** @type {Arm} */ (arms.find(arm => keyOf(arm) === keyOf(a)))
    return a === b ? [] : [{ a, b }]
  })
}

/**
 * @param {{ run: Compared, a: Arm, b: Arm, controls: Comparison[], contrast?: AxisName | null }} options
 * @returns {Comparison[]}
 */
function comparePair({ run, a, b, controls, contrast = null }) {
  const [ofA, ofB] = [a, b].map(arm => run.records.filter(r => r.trial.arm.id === arm.id))
  const rounds = Array.from({ length: run.rounds }, (_, i) =>
    [ofA, ofB].map(records => records.filter(r => r.trial.round === i + 1)),
  )
  const services = new Set(ofA.flatMap(r => sidecarsOf(r).map(p => p.service)))
  const disparities = contrast === null ? run.findDisparities(a, b) : []
  return MEASURES.filter(measure => measure.kinds.includes(a.load.kind)).flatMap(measure =>
    [null, ...(measure.isPerService ? services : [])].map(service => {
      const noise = controls.find(
        c => c.quantity === measure.name && c.service === service && [groupOf(a), groupOf(b)].includes(groupOf(c)),
      )?.ratio.median
      return compareBy({
        run,
        a,
        b,
        trials: rounds,
        measure,
        service,
        contrast,
        aaSpread: noise == null ? null : Math.abs(noise - 1),
        disparities,
      })
    }),
  )
}

/**
 * @param {{ run: Compared, a: Arm, b: Arm, trials: TrialRecord[][][], measure: Measure, service: string | null,
 *   contrast: AxisName | null, aaSpread: number | null, disparities: string[] }} options trials: of a and of b, by round
 * @returns {Comparison}
 */
function compareBy({ run, a, b, trials, measure, service, contrast, aaSpread, disparities }) {
  const rounds = trials.map(pair => {
    const sides = [a, b].map((arm, i) => ({
      arm,
      trials: pair[i],
      value: valueOfRound(pair[i], measure.use, r => measure.measure(r, service)),
    }))
    const [x, y] = sides.map(side => side.value)
    return { sides, ratio: x !== null && y ? x / y : null }
  })
  const ratio = summariseRatios(
    rounds.map(r => r.ratio),
    run.seed,
  )
  const spoiled = disparities.length > 0 ? disparities : findSpoiled(rounds, measure)
  const verdict = judge({
    ratio,
    floor: Math.max(GAP_LEAST, aaSpread ?? 0),
    isSpoiled: disparities.length > 0 || (spoiled.length > 0 && run.rounds >= ROUNDS_LEAST),
  })
  const ratios = rounds.flatMap(r => r.ratio ?? [])
  const drift = hasTrend(ratios)
    ? [`the ratio drifted from ${ratios[0].toFixed(3)} to ${ratios.at(-1)?.toFixed(3)}`]
    : []
  const few = verdict === 'indicative' ? [`${ratios.length} rounds: ${ROUNDS_LEAST} are needed`] : []
  return {
    ...{ a: nameOnAxis(a, contrast), b: nameOnAxis(b, contrast), link: a.link, capCores: a.capCores, load: a.load },
    ...{ conditions: a.conditions, contrast, quantity: measure.name, service, ratio, aaSpread, verdict },
    reasons: [...spoiled, ...few, ...drift],
  }
}

/**
 * The rule of a verdict: no winner below six rounds, where the interval includes 1, where the gap is below the
 * floor, or where a round was spoiled.
 * @param {{ ratio: Quantity, floor: number, isSpoiled: boolean }} options
 * @returns {Verdict}
 */
export function judge({ ratio: { median, low, high }, floor, isSpoiled }) {
  if (median === null || isSpoiled) return 'invalid'
  if (low === null || high === null) return 'indicative'
  if ((low <= 1 && high >= 1) || Math.abs(median - 1) < floor) return 'no-difference-shown'
  return median < 1 ? 'lower' : 'higher'
}

/**
 * Why rounds have no ratio, each reason with how many: `generator bound in 4 of 6 rounds`.
 * @param {{ sides: { arm: Arm, trials: TrialRecord[], value: number | null }[], ratio: number | null }[]} rounds
 * @param {Measure} measure
 */
function findSpoiled(rounds, measure) {
  /** @type {Map<string, { rounds: Set<number>, names: Set<string> }>} */
  const found = new Map()
  for (const [i, { sides }] of rounds.entries()) {
    for (const { arm, trials, value } of sides) {
      if (value !== null || trials.length === 0) continue
      for (const words of wordsFor(trials, measure)) {
        const entry = found.get(words) ?? { rounds: new Set(), names: new Set() }
        entry.rounds.add(i)
        entry.names.add(nameOf(arm))
        found.set(words, entry)
      }
    }
  }
  return [...found]
    .sort((x, y) => y[1].rounds.size - x[1].rounds.size)
    .map(([words, { rounds: in_, names }]) => {
      const whose = names.size === 1 ? ` (${[...names][0]})` : ''
      return `${words} in ${in_.size} of ${rounds.length} rounds${whose}`
    })
}

/**
 * @param {TrialRecord[]} trials of one arm in one round, none of them good
 * @param {Measure} measure
 */
function wordsFor(trials, { name, use }) {
  const words = trials.flatMap(({ outcome, boundBy, gates }) => {
    if (outcome === 'failed') return ['trial failed']
    const isUnbound = name === 'capacity' && boundBy !== 'sidecar' && boundBy !== null
    return [
      ...(isUnbound ? [`${boundBy} bound`] : []),
      ...gates.filter(gate => gate.spoils.includes(use)).map(({ gate }) => GATE_WORDS[gate]),
    ]
  })
  return new Set(words.length > 0 ? words : ['not measured'])
}
