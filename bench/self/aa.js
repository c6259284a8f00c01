// How often the kit names a winner where there is none, and how often it finds a change of 2 %: repeats of real interleaved
// runs, drawn anew.
//   npm run bench:aa
import { GAP_LEAST_BESIDE, judgeRounds } from '../../src/analysis/verdict.js'
import { createRandom, shuffleItems } from '../../src/lib/random.js'
import { computeMedianRatio } from '../../src/lib/stats.js'
import { listComparisons } from '../../src/model/results.js'
import { handleInbound } from './burn.js'
import { createFinding, runKit } from './kit.js'

/** @import { Comparison, Summary } from '../../src/model/types.ts' */

const COMPARISONS = 100
// As many repeats as a default run has.
const DRAWN_REPEATS = 12
const MEASURED_REPEATS = 48
const PLANTED = 0.02

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function studyItself() {
  // One worker, as at a CPU limit of 1: versions of one plane are then pinned.
  const repeats = ['--rounds', `${MEASURED_REPEATS}`, '--workers', '1']
  const planes = await runKit(['cost', '--planes', 'pipy,envoy', ...repeats])
  const change = await runKit(['cost', '--planes', `pipy,pipy=${handleInbound('handles-one-event-more')}`, ...repeats])
  const [ofPlanes, ofChange] = [planes, change].map(({ summary, manifest }) => ({ summary, seed: manifest.run.seed }))
  const size = Number(findComparison(change.summary, false).ratio.median)
  const full = countVerdicts({ ...ofChange, isControl: false, scale: 1 })
  const small = countVerdicts({ ...ofChange, isControl: false, scale: (1 - PLANTED) / size })
  return [
    ...holdEqual('beside Envoy', ofPlanes),
    ...holdEqual('beside a copy', ofChange),
    createFinding(
      `a planted change found, of ${COMPARISONS} (pipy / a copy with one handler more at each sidecar that receives a request, ${size.toFixed(3)} in all repeats), at least 90`,
      full.lower,
      [],
      n => n >= 90,
    ),
    createFinding(
      `the same repeats, scaled to a change of 2 %, found, of ${COMPARISONS}, at least 90`,
      small.lower,
      [],
      n => n >= 90,
    ),
  ]
}

/** Holds one set of scripts against itself. @param {string} where @param {{ summary: Summary, seed: number }} measured */
function holdEqual(where, { summary, seed }) {
  const { ratio } = findComparison(summary, true)
  const [low, high] = [Number(ratio.low), Number(ratio.high)]
  const named = countVerdicts({ summary, seed, isControl: true, scale: 1 })
  return [
    createFinding(
      `a winner named between one set of scripts and itself ${where}, of ${COMPARISONS}, at most 5`,
      named.lower + named.higher,
      [],
      n => n <= 5,
    ),
    createFinding(
      `their ratio in all ${MEASURED_REPEATS} repeats ${where} [${low.toFixed(3)}, ${high.toFixed(3)}]: 1 within`,
      Number(ratio.median),
      [],
      () => low <= 1 && high >= 1,
    ),
  ]
}

/**
 * Draws as many repeats as a run has, none twice, judges them as a run does, and counts the verdicts. A coin says in each
 * repeat which of two equal arms is which: of equal arms that is as good as another repeat (a permutation test: Good,
 * Permutation, Parametric and Bootstrap Tests of Hypotheses, 3.1), so no difference that the sample has by chance stays. The
 * A/A spread of a drawn run is that of as many other repeats of its equal arms.
 * @param {{ summary: Summary, isControl: boolean, seed: number, scale: number }} options isControl: the equal arms are
 *   compared; scale: of every ratio
 */
function countVerdicts({ summary, isControl, seed, scale }) {
  const random = createRandom(seed)
  const listRatioValues = (/** @type {boolean} */ isControl) =>
    findComparison(summary, isControl).ratio.values.flatMap(value => value ?? [])
  const [compared, equal] = [listRatioValues(isControl), listRatioValues(true)]
  const swap = (/** @type {number} */ ratio) => (random() < 0.5 ? 1 / ratio : ratio)
  const counts = { lower: 0, higher: 0, other: 0 }
  for (let i = 0; i < COMPARISONS; i++) {
    const drawn = shuffleItems(compared, random).slice(0, DRAWN_REPEATS)
    const others = shuffleItems(equal, random).slice(0, DRAWN_REPEATS).map(swap)
    const { verdict } = judgeRounds({
      values: isControl ? drawn.map(swap) : drawn.map(ratio => ratio * scale),
      aaSpread: Math.abs(computeMedianRatio(others) - 1),
      ...{ seed: i, isSequential: false, gapLeast: GAP_LEAST_BESIDE, isSpoiled: false },
    })
    counts[verdict === 'lower' || verdict === 'higher' ? verdict : 'other']++
  }
  return counts
}

/** Finds the CPU per request of two planes, or of one and itself. @param {Summary} summary @param {boolean} isControl @returns {Comparison} */
function findComparison(summary, isControl) {
  const comparison = listComparisons(summary).find(
    c => c.isControl === isControl && c.quantity === 'cpuPerRequest' && c.service === null,
  )
  if (!comparison) throw new Error('the run compared no CPU per request')
  return comparison
}
