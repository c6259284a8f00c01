import { readCpuCores } from '../../src/kinds/search/step.js'

/**
 * A search without a run: sidecars that need what the test says, and what becomes of each trial.
 * @import { Arm } from '../../src/model/types.ts' @import { Outcome } from '../../src/kinds/search/outcome.js'
 */

/** @typedef {{ arm: Arm, outcome: Outcome }} FakeTrial */

/**
 * What a sidecar truly needs, and what disturbs it.
 * @typedef {object} Truth
 * @property {number} [capacityPerSecond] at any cap
 * @property {number} [cores] to hold; with less than 0.9 of it, it fails clearly
 * @property {number} [coresPerRequestPerSecond] on top of `cores`
 * @property {number} [bytes] with less the kernel kills it
 * @property {number} [peakBytes] what it takes without a limit
 * @property {number} [unchargedBytes]
 * @property {number} [spoiledEvery] every so-manieth trial is spoiled by others
 * @property {boolean} [isBeside] others use the CPUs in every trial, and spoil nothing else
 * @property {(trial: { arm: Arm, nth: number }) => boolean | null | 'killed' | undefined} [disturb] what comes of a trial whatever is
 *   true; undefined: the truth
 */

/** @param {Truth} truth @returns {(arm: Arm) => Outcome} */
export function createFakeSidecar(truth) {
  const { capacityPerSecond = Number.POSITIVE_INFINITY, cores = 0, coresPerRequestPerSecond = 0 } = truth
  const { bytes = 0, peakBytes = bytes, unchargedBytes = 0, spoiledEvery = 0, isBeside = false } = truth
  const { disturb = () => undefined } = truth
  let nth = 0
  return arm => {
    nth++
    const { ratePerSecond = 0 } = arm.load
    const { memoryLimitBytes } = arm.conditions
    const needed = cores + coresPerRequestPerSecond * ratePerSecond
    const cap = readCpuCores(arm) ?? Number.POSITIVE_INFINITY
    const outcome = (/** @type {boolean | null} */ held, /** @type {string} */ why, isClear = false) => ({
      ...{
        trial: `t${nth}`,
        held,
        isClear,
        isDisturbed: isBeside,
        why,
        coresMost: Math.min(cap, needed),
        p99Ms: held ? 5 : null,
      },
      ...{ peakBytesMost: Math.min(memoryLimitBytes ?? peakBytes, peakBytes), unchargedBytes },
      ...{ rssBytesMost: 0, isNeedSeen: held !== false },
      survived: why === 'killed for memory' ? false : held === null ? null : true,
    })
    if (spoiledEvery > 0 && nth % spoiledEvery === 0) return outcome(null, 'a busy neighbour')
    const disturbed = disturb({ arm, nth })
    if (disturbed === 'killed') return outcome(false, 'killed for memory', true)
    if (disturbed !== undefined) return outcome(disturbed, disturbed ? 'held by chance' : 'disturbed')
    if (memoryLimitBytes !== null && memoryLimitBytes < bytes) return outcome(false, 'killed for memory', true)
    if (cap < 0.9 * needed) return outcome(false, 'bound by the sidecar', true)
    if (cap < needed || ratePerSecond > capacityPerSecond) return outcome(false, 'p99 over the limit')
    return outcome(true, 'held')
  }
}

/**
 * Takes a search to its end.
 * @template T @param {Generator<Arm, T, Outcome>} search @param {(arm: Arm) => Outcome} sidecar
 * @param {number} [most] trials, after which it is taken for endless @returns {{ result: T, trials: FakeTrial[] }}
 */
export function runSearch(search, sidecar, most = 600) {
  /** @type {FakeTrial[]} */
  const trials = []
  let step = search.next()
  while (!step.done) {
    if (trials.length === most) throw new Error(`the search has not ended after ${most} trials`)
    const outcome = sidecar(step.value)
    trials.push({ arm: step.value, outcome })
    step = search.next(outcome)
  }
  return { result: step.value, trials }
}

/**
 * How the trials of a step went: + held, - failed, ! failed clearly, ? spoiled.
 * @param {{ trials: string[] }} step @param {FakeTrial[]} trials
 */
export function renderStep(step, trials) {
  return step.trials
    .map(id => trials.find(({ outcome }) => outcome.trial === id)?.outcome)
    .map(o => (o?.held === null ? '?' : o?.held ? '+' : o?.isClear ? '!' : '-'))
    .join('')
}

/**
 * Whether a step is judged by its trials: held after two that held, failed after two that failed or one that did so
 * clearly, not judged after six that were spoiled.
 * @param {{ held: boolean | null, trials: string[] }} step @param {FakeTrial[]} trials
 */
export function isJudgedRightly(step, trials) {
  const signs = renderStep(step, trials)
  const count = (/** @type {string} */ sign) => signs.split(sign).length - 1
  const [held, failed, clear, spoiled] = ['+', '-', '!', '?'].map(count)
  if (step.held === null) return spoiled === 6 && held < 2 && failed < 2 && clear === 0
  if (step.held) return held === 2 && failed < 2 && clear === 0 && spoiled < 6
  return held < 2 && spoiled < 6 && (clear === 1 ? signs.endsWith('!') && failed < 2 : failed === 2)
}
