// How often the kit names a winner where there is none: an arm against itself, from real trials resampled.
//   npm run bench:aa
import { compareArms } from '../../src/analysis/compare.js'
import { ROOT } from '../../src/lib/paths.js'
import { createRandom } from '../../src/lib/random.js'
import { bench, finding } from './kit.js'

const COMPARISONS = 100
const ROUNDS = 6
const MEASURED_ROUNDS = 24

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function studyItself() {
  // Three arms of the same scripts: two to be compared, and one for the noise floor, as in a default run.
  const { records, manifest } = await bench([
    ...['--planes', `pipy,pipy=${ROOT}/pipy-scripts`, '--cpu', '0.25', '--rounds', `${MEASURED_ROUNDS}`],
  ])
  const random = createRandom(manifest.run.seed)
  const verdicts = Array.from({ length: COMPARISONS }, (_, seed) => {
    const rounds = Array.from({ length: ROUNDS }, () => 1 + Math.floor(random() * MEASURED_ROUNDS))
    const order = [0, 1, 2].sort(() => random() - 0.5)
    const drawn = rounds.flatMap((from, i) =>
      manifest.arms.flatMap((/** @type {any} */ arm, /** @type {number} */ k) =>
        records
          .filter(r => r.trial.round === from && r.trial.arm.id === manifest.arms[order[k]].id)
          .map(r => ({ ...r, trial: { ...r.trial, round: i + 1, arm } })),
      ),
    )
    const [primary] = compareArms({
      arms: manifest.arms,
      records: drawn,
      rounds: ROUNDS,
      seed,
      findDisparities: () => [],
      findWrong: () => [],
    })
    return primary
  })
  const winners = verdicts.filter(v => v.verdict === 'lower' || v.verdict === 'higher')
  const invalid = verdicts.filter(v => v.verdict === 'invalid')
  return [
    finding(
      `winners named in CPU per request, of ${COMPARISONS} A/A comparisons of ${ROUNDS} rounds, at most 5`,
      winners.length,
      [],
      n => n <= 5,
    ),
    finding('of them invalid, at most 20', invalid.length, [], n => n <= 20),
  ]
}
