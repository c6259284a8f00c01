// Whether two runs are told apart that differ, and not where they do not: the kit's Pipy sidecar, once more, and dearer by a tenth.
import { compareRuns } from '../../src/compare-runs.js'
import { bench, finding } from './kit.js'
import { burn, findTurns } from './sensitivity.js'

const DEARER = 0.1

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function compareTwoRuns() {
  const turns = await findTurns(DEARER)
  const run = (/** @type {string} */ plane) => bench(['--planes', `none,${plane}`, '--cpu', '0.25', '--rounds', '10'])
  const [first, again, dearer] = [await run('pipy'), await run('pipy'), await run(`pipy=${burn('dearer', turns)}`)]
  const judge = (/** @type {typeof first} */ next) => {
    const { comparisons, controls, warnings } = compareRuns({ old: first, new: next })
    const primary = comparisons.find(c => c.quantity === 'cpuPerRequest' && c.service === null)
    for (const warning of warnings) console.log(`          warning: ${warning}`)
    console.log(
      `          ${primary?.verdict} ${primary?.ratio.median?.toFixed(3)} [${primary?.ratio.low?.toFixed(3)}, ${primary?.ratio.high?.toFixed(3)}], applications alone ${controls[0]?.ratio.median?.toFixed(3)} ${primary?.reasons.join('; ')}`,
    )
    return { verdict: primary?.verdict, ratio: Number(primary?.ratio.median) }
  }
  const [same, other] = [judge(again), judge(dearer)]
  return [
    finding('a second run of the same, new / old', same.ratio, [], () => same.verdict === 'no-difference-shown'),
    finding(`a run dearer by a tenth (${turns} turns), new / old`, other.ratio, [], () => other.verdict === 'higher'),
  ]
}
