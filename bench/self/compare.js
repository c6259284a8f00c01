// Whether two runs are told apart that differ, and not where they do not: the kit's Pipy sidecar, once more, and dearer by a
// tenth. The arms of one run stand for three runs: between runs of different hours lies what the machine did, and `compare`
// then says no more than that.
import { compareRuns } from '../../src/analysis/compare-runs.js'
import { summarise } from '../../src/analysis/summarise.js'
import { createBurnVariant, findTurns } from './burn.js'
import { createFinding, runKit, writeExperiment } from './kit.js'

const DEARER = 0.1
const ROUNDS = 10
const WINDOW_SECONDS = 10

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function compareTwoRuns() {
  const turns = await findTurns(DEARER)
  const experiment = writeExperiment('compare', { rounds: ROUNDS, windowSeconds: WINDOW_SECONDS })
  const { folder, manifest, records } = await runKit([
    experiment,
    '--planes',
    `pipy,pipy=${createBurnVariant('dearer', turns)}`,
  ])
  /** @param {(arm: import('../../src/model/types.ts').Arm) => boolean} isArm */
  const createRunOfArms = isArm => {
    const arms = manifest.arms.filter(isArm).map((/** @type {any} */ arm) => ({ ...arm, id: 'arm', repeatOf: null }))
    const armRecords = records
      .filter(r => isArm(r.trial.arm))
      .map(r => ({ ...r, trial: { ...r.trial, arm: { ...r.trial.arm, id: 'arm', repeatOf: null } } }))
    const run = { manifest: { ...manifest, arms }, records: armRecords }
    return { folder, ...run, summary: summarise(run) }
  }
  const old = createRunOfArms(arm => arm.variant === null && arm.repeatOf === null)
  const judge = (/** @type {typeof old} */ next) => {
    const { comparisons } = compareRuns({ old, new: next })
    const [{ verdict, ratio, reasons }] = comparisons
    const [median, low, high] = [ratio.median, ratio.low, ratio.high].map(v => v?.toFixed(3))
    console.log(`          ${verdict} ${median} [${low}, ${high}] ${reasons.join('; ')}`)
    return { verdict, ratio: Number(ratio.median) }
  }
  const [same, other] = [
    judge(createRunOfArms(arm => arm.repeatOf !== null)),
    judge(createRunOfArms(arm => arm.variant !== null)),
  ]
  return [
    createFinding('the same once more, new / old', same.ratio, [], () => same.verdict === 'no-difference-shown'),
    createFinding(`dearer by a tenth (${turns} turns), new / old`, other.ratio, [], () => other.verdict === 'higher'),
  ]
}
