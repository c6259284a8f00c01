import { UsageError } from '../lib/errors.js'
import { QUANTITIES } from './comparison.js'

/**
 * Parses and judges a ratio that must hold, such as `new/old instructions@client <= 1.01`. Pure.
 * @import { Breakdown, Quantity, Row } from './comparison.js'
 */

/**
 * @typedef {object} Threshold
 * @property {string} expression
 * @property {Quantity} quantity
 * @property {'old' | 'new'} a the numerator of the ratio; the other side is the denominator
 * @property {string | null} service null: each sidecar
 * @property {string} operator
 * @property {number} limit
 */

/**
 * Parses a threshold such as `new/old handshake@client <= 1`.
 * @param {string} expression
 * @param {string[]} services of the counted sidecars
 * @returns {Threshold}
 * @throws {UsageError} for another form, quantity or sidecar, and for a limit that is not above 0
 */
export function parseLabThreshold(expression, services) {
  const createError = (/** @type {string} */ why) =>
    new UsageError(`--threshold '${expression}': ${why}; write it as 'new/old instructions <= 1.01'`)
  const match = /^\s*(new\/old|old\/new)\s+(\w+)(?:@([a-z0-9-]+))?\s*(<=|>=|<|>)\s*(\S+)\s*$/.exec(expression)
  if (!match) throw createError('it is no condition on new/old')
  const [, sides, quantity, service = null, operator, number] = match
  if (!(quantity in QUANTITIES))
    throw createError(`unknown quantity "${quantity}", only ${Object.keys(QUANTITIES).join(', ')} are counted`)
  if (service !== null && !services.includes(service))
    throw createError(`unknown sidecar "${service}", only ${services.join(', ')} are counted`)
  const limit = Number(number)
  if (!(limit > 0) || !Number.isFinite(limit)) throw createError(`"${number}" is no ratio above 0`)
  const a = sides.startsWith('new') ? 'new' : 'old'
  return { expression, quantity: /** @type {Quantity} */ (quantity), a, service, operator, limit }
}

/** @typedef {{ rows: Row[], breakdowns: Pick<Breakdown, 'link' | 'service'>[] }} Judged breakdowns: of all sidecars */

/** @typedef {'held' | 'crossed' | 'undecided'} Verdict */

/**
 * Judges thresholds by the counted rows.
 * @param {Threshold[]} thresholds
 * @param {Judged} judged
 * @returns {Record<Verdict, string[]>} sentences, one for each threshold and sidecar, by verdict
 */
export function judgeThresholds(thresholds, judged) {
  const verdicts = thresholds.flatMap(threshold => judgeThreshold(threshold, judged))
  const listSentences = (/** @type {Verdict} */ name) =>
    verdicts.flatMap(({ verdict, sentence }) => (verdict === name ? [sentence] : []))
  return { held: listSentences('held'), crossed: listSentences('crossed'), undecided: listSentences('undecided') }
}

/**
 * Judges a threshold for each sidecar that it names. It is undecided if the ratio was not measured, or no further from
 * the limit than two counts of one side are from each other.
 * @param {Threshold} threshold
 * @param {Judged} options
 * @returns {{ verdict: Verdict, sentence: string }[]} one for each sidecar, or one if it names none that was counted
 */
function judgeThreshold({ expression, quantity, a, service, operator, limit }, { rows, breakdowns }) {
  const createVerdict = (/** @type {Verdict} */ verdict, /** @type {string} */ why) => ({
    verdict,
    sentence: `--threshold '${expression}' is ${verdict}${why}`,
  })
  const sidecars = breakdowns.filter(breakdown => service === null || breakdown.service === service)
  if (sidecars.length === 0) return [createVerdict('undecided', ': no sidecar that it names was counted')]
  return sidecars.map(sidecar => {
    const name = `${sidecar.service} of ${sidecar.link}`
    const isOfSidecar = (/** @type {Row} */ row) => row.link === sidecar.link && row.service === sidecar.service
    const row = rows.find(candidate => candidate.quantity === quantity && isOfSidecar(candidate))
    if (!row) return createVerdict('undecided', `: ${quantity} of ${name} was not counted on both sides`)
    const value = a === 'new' ? row.ratio : 1 / row.ratio
    if (Math.abs(value - limit) <= row.spread * value) {
      const apart = `two counts of one side are ${(100 * row.spread).toFixed(3)} % apart`
      const advice = 'set a limit further off, or count more --requests'
      return createVerdict('undecided', ` for ${name}: ${value.toFixed(5)}, and ${apart}; ${advice}`)
    }
    const isHeld = operator.startsWith('<') === value < limit
    return createVerdict(isHeld ? 'held' : 'crossed', ` by ${name}: ${value.toFixed(5)}`)
  })
}
