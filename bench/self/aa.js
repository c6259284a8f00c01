// How often the kit names a winner where there is none, and how often it finds a change of 2 %: repeats of real interleaved
// runs, drawn anew.
//   npm run bench:aa
import { compareArms } from '../../src/analysis/compare.js'
import { createRandom } from '../../src/lib/random.js'
import { burn, findTurns } from './burn.js'
import { bench, finding } from './kit.js'

/** @import { Arm, TrialRecord } from '../../src/model/types.ts' */

const COMPARISONS = 100
// As many repeats as a default run has.
const DRAWN_REPEATS = 12
const MEASURED_REPEATS = 48
const DEARER = 0.02

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function studyItself() {
  const same = await bench(['cost', '--planes', 'pipy,envoy', '--rounds', `${MEASURED_REPEATS}`])
  // What a run prints as its noise floor: one set of scripts, and itself.
  const ofSame = countVerdicts(same, { isCompared: arm => arm.plane === 'pipy', isSwapped: true })
  const [{ ratio }] = same.summary.comparisons.filter(
    c => c.isControl && c.quantity === 'cpuPerRequest' && c.service === null,
  )
  const [low, high] = [Number(ratio.low), Number(ratio.high)]
  const turns = await findTurns(DEARER)
  const planted = await bench([
    ...['cost', '--planes', `pipy,pipy=${burn('dearer', turns)}`, '--rounds', `${MEASURED_REPEATS}`],
  ])
  const ofPlanted = countVerdicts(planted, { isCompared: arm => arm.repeatOf === null, isSwapped: false })
  const size = ofPlanted.median.toFixed(3)
  return [
    finding(
      `a winner named between one set of scripts and itself, of ${COMPARISONS}, at most 5`,
      ofSame.named,
      [],
      n => n <= 5,
    ),
    finding('of these comparisons invalid, at most 20', ofSame.invalid, [], n => n <= 20),
    finding(
      `their ratio in all ${MEASURED_REPEATS} repeats [${low.toFixed(3)}, ${high.toFixed(3)}]: 1 within`,
      Number(ratio.median),
      [],
      () => low <= 1 && high >= 1,
    ),
    finding(
      `a planted change found (${size} times the CPU per request), of ${COMPARISONS}, at least 90`,
      ofPlanted.named,
      [],
      n => n >= 90,
    ),
  ]
}

/**
 * Draws as many repeats as a run has, none twice, and compares two arms in them.
 * @param {{ records: TrialRecord[], manifest: any }} run
 * @param {{ isCompared: (arm: Arm) => boolean, isSwapped: boolean }} options isCompared: of two arms; isSwapped: a coin says in
 *   each repeat which arm is which: of equal arms that is as good as another repeat (a permutation test: Good, Permutation,
 *   Parametric and Bootstrap Tests of Hypotheses, 3.1), and whatever the sample has of a difference by chance is gone
 */
function countVerdicts({ records, manifest }, { isCompared, isSwapped }) {
  const random = createRandom(manifest.run.seed)
  const pair = /** @type {Arm[]} */ (manifest.arms.filter(isCompared))
  if (pair.length !== 2) throw new Error(`two arms are compared, and there are ${pair.length}`)
  const comparisons = Array.from({ length: COMPARISONS }, (_, seed) => {
    const repeats = Array.from({ length: MEASURED_REPEATS }, (_, i) => i + 1)
      .map(round => ({ round, order: random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, DRAWN_REPEATS)
    const arms = pair.map((arm, i) => ({ ...arm, id: `arm-${i}`, variant: i === 0 ? null : 'other', repeatOf: null }))
    const drawn = repeats.flatMap(({ round }, i) => {
      const isOther = isSwapped && random() < 0.5
      return pair.flatMap((arm, k) =>
        records
          .filter(r => r.trial.round === round && r.trial.arm.id === arm.id)
          .map(r => ({ ...r, trial: { ...r.trial, round: i + 1, arm: arms[isOther ? 1 - k : k] } })),
      )
    })
    const findNone = () => []
    const [comparison] = compareArms({
      ...{ arms, records: drawn, rounds: DRAWN_REPEATS, seed, findDisparities: findNone, findWrong: findNone },
    })
    return comparison
  })
  const isNamed = (/** @type {import('../../src/model/types.ts').Comparison} */ { verdict }) =>
    ['lower', 'higher'].includes(verdict)
  const named = comparisons.filter(isNamed)
  const ratios = named
    .map(({ ratio }) => Math.max(Number(ratio.median), 1 / Number(ratio.median)))
    .sort((a, b) => a - b)
  return {
    named: named.length,
    invalid: comparisons.filter(({ verdict }) => verdict === 'invalid').length,
    median: ratios[ratios.length >> 1] ?? Number.NaN,
  }
}
