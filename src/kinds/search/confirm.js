import { TRIALS } from './trial-counts.js'

/**
 * The rule by which limits are confirmed: every judged trial at them met the p99, there are at least TRIALS.least, and the
 * next one meets it, too, by a one-sided 95 % prediction bound (Student's t of the logarithms of the p99s). Pure.
 * @import { Outcome } from './outcome.js'
 */

/** The rule in the words of reports. */
export const RULE = `confirmed: all trials at these limits met the p99, at least ${TRIALS.least}, and the next will by its 95 % prediction bound`

// Quantiles of Student's t at 95 %, by degrees of freedom from 1 on (NIST/SEMATECH e-Handbook, 1.3.6.7.2); the last serves for more.
const STUDENT = [6.314, 2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86, 1.833, 1.812]

/**
 * Predicts the p99 that the next trial does not exceed, with 95 % confidence (Hahn and Meeker, Statistical Intervals,
 * 4.7). A p99 of 0 counts as 1 ns.
 * @param {number[]} p99s milliseconds, of trials under the same limits
 * @returns {number | null} milliseconds; null: fewer than TRIALS.least trials
 */
export function predictP99Ms(p99s) {
  const count = p99s.length
  if (count < TRIALS.least) return null
  const logs = p99s.map(p99Ms => Math.log(Math.max(p99Ms, 1e-6)))
  const mean = logs.reduce((sum, log) => sum + log, 0) / count
  const deviation = Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1))
  const quantile = STUDENT[Math.min(count - 1, STUDENT.length) - 1]
  return Math.exp(mean + quantile * deviation * Math.sqrt(1 + 1 / count))
}

/**
 * The judgement of limits.
 * @typedef {object} Judgement
 * @property {number} met trials that met the p99
 * @property {number} besideOthers trials of these while other programs used the CPUs
 * @property {number} missed trials that missed the p99
 * @property {number} proofs trials that met the p99, without those beside other programs if one beside them was not judged
 * @property {number} notJudged trials that were not judged
 * @property {number | null} p99Ms the highest of the judged trials; null: none was measured
 * @property {number | null} boundMs the prediction bound of the next trial; null: fewer than TRIALS.least proofs have a p99
 * @property {boolean} isConfirmed by the rule
 * @property {string | undefined} why the reason of the first miss; else that the limits are confirmed; else the reason of the last
 *   trial that was not judged; undefined: none of these
 */

/**
 * Says whether a trial at limits proves that they meet the p99, and none missed it.
 * @param {Pick<Judgement, 'proofs' | 'missed'>} judgement
 * @returns {boolean}
 */
export const hasMetP99 = ({ proofs, missed }) => proofs > 0 && missed === 0

/**
 * Judges limits by all trials at them. Beside other programs, trials that missed the p99 are not judged: those that met it prove
 * nothing if there is one, since chance chose them.
 * @param {Outcome[]} outcomes of the trials at the limits; []: nothing is confirmed
 * @param {number} p99LimitMs
 * @returns {Judgement}
 */
export function judgeLimits(outcomes, p99LimitMs) {
  const met = outcomes.filter(({ held }) => held === true)
  const missed = outcomes.filter(({ held }) => held === false)
  const p99s = [...met, ...missed].flatMap(({ p99Ms }) => p99Ms ?? [])
  const hasDisturbedLoss = outcomes.some(({ held, isDisturbed }) => held === null && isDisturbed)
  const proofs = hasDisturbedLoss ? met.filter(({ isDisturbed }) => !isDisturbed) : met
  const boundMs = predictP99Ms(proofs.flatMap(({ p99Ms }) => p99Ms ?? []))
  const isBoundMet = boundMs !== null && boundMs <= p99LimitMs
  const isConfirmed = missed.length === 0 && proofs.length >= TRIALS.least && isBoundMet
  return {
    met: met.length,
    besideOthers: met.filter(({ isDisturbed }) => isDisturbed).length,
    missed: missed.length,
    proofs: proofs.length,
    notJudged: outcomes.length - met.length - missed.length,
    p99Ms: p99s.length > 0 ? Math.max(...p99s) : null,
    boundMs,
    isConfirmed,
    why: missed[0]?.why ?? (isConfirmed ? 'met in every trial' : outcomes.findLast(({ held }) => held === null)?.why),
  }
}
