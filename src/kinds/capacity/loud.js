import { formatValue, QUANTITIES, quantityOf } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { groupOf, nameOf } from '../../model/arms.js'
import { renderTooFew } from './cpu-requests.js'
import { findExclusion } from './excluded.js'

/** The verdict on a loud pair (`--loud`): the p99 of the quiet pairs beside it. Pure. @import { SummaryArm } from '../../model/types.ts' */

/** Renders for each loud rate, the highest first, the p99 of each proxy's quiet pairs, and how many times that without it. @param {SummaryArm[]} arms */
export function renderLoudPairs(arms) {
  const measured = arms.filter(({ repeatOf }) => repeatOf === null)
  const loud = measured.filter(({ load }) => load.loudPerSecond !== undefined)
  const groups = groupBy(loud, arm => groupOf(arm))
  return [...groups.values()].toSorted((a, b) => rateOf(b[0]) - rateOf(a[0])).map(group => renderRate(group, measured))
}

/** Renders the sentence of one loud rate. @param {SummaryArm[]} group of that rate @param {SummaryArm[]} arms all, with those without a loud pair */
function renderRate(group, arms) {
  const texts = group.map(arm => {
    const keyOf = (/** @type {SummaryArm} */ one) => `${nameOf(one)} ${groupOf(one, 'loudPerSecond')}`
    const quiet = arms.find(other => rateOf(other) === 0 && keyOf(other) === keyOf(arm))
    const [beside, without] = [arm, quiet].map(one => (one ? quantityOf(one, 'p99').median : null))
    if (beside === null) return { missing: findExclusion([arm], 'latency')?.reason ?? renderTooFew(arm) }
    const times = without === null ? '' : ` (${(beside / without).toFixed(1)} × that without)`
    return { text: `${nameOf(arm)} ${formatValue(QUANTITIES.p99, beside)} ms${times}` }
  })
  const [lack] = texts.flatMap(({ missing }) => missing ?? [])
  const parts = texts.flatMap(({ text }) => text ?? [])
  const names = group.filter((_, i) => texts[i].missing !== undefined).map(nameOf)
  const lacks = lack === undefined ? [] : [`no p99 of ${names.join(', ')}: ${lack}`]
  return `Quiet pairs beside ${rateOf(group[0])} requests/s to one: ${[...(parts.length > 0 ? [`p99 ${parts.join(', ')}`] : []), ...lacks].join('; ')}.`
}

/** Reads the rate of the loud pair; 0: there is none. @param {SummaryArm} arm */
const rateOf = ({ load }) => load.loudPerSecond ?? 0
