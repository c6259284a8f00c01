import { hasTail, quantileMs, valueOfRound } from '../judge/measures.js'
import { QUANTITIES } from '../judge/quantities.js'
import { useOf } from '../judge/quantity.js'
import { groupBy } from '../lib/group-by.js'
import { summariseValues } from '../lib/stats.js'
import { nameOf } from '../model/arms.js'
import { describeAxes, findVaried, groupOf, isBaselineOf } from '../model/axes.js'
import { drawDistributions } from './charts/distributions.js'
import { tabulateLines } from './charts/tables.js'

/** Draws response times by percentile. Pure. @import { SummaryArm, TrialRecord } from '../model/types.ts' */

/**
 * Draws every link, cap and load beside arms without sidecars. @param {{ arms: SummaryArm[],
 *   recordsOf: (arm: SummaryArm) => TrialRecord[], colourFor: (arm: SummaryArm) => number }} run
 */
export function drawPercentiles({ arms, recordsOf, colourFor }) {
  const loaded = arms.filter(arm => arm.load.kind !== 'idle')
  const sidecars = loaded.filter(arm => arm.hasSidecars)
  const groups = groupBy(sidecars.length > 0 ? sidecars : loaded, arm => groupOf(arm))
  return [...groups.values()].flatMap((own, i) => {
    const [first] = own
    const baselines = loaded.filter(arm => !own.includes(arm) && isBaselineOf(arm, first))
    const lines = [...baselines, ...own].flatMap(arm => {
      const grid = findMedianTimes(recordsOf(arm), arm)
      return grid.length > 0 ? [{ label: nameOf(arm), colour: colourFor(arm), grid }] : []
    })
    if (lines.length === 0) return []
    const isOpen = first.load.kind === 'open'
    const name = isOpen ? 'latency' : `response time at saturation (${first.load.users} users)`
    const what = `${isOpen ? 'Latency' : 'Response time at saturation'} by percentile`
    const title = [what, describeAxes(first, findVaried(arms))].filter(Boolean).join(': ')
    const given = { title, name, lines }
    return [{ ...drawDistributions(given), id: `distribution-${i + 1}`, table: tabulateLines(given) }]
  })
}

/**
 * Finds, for each percentile, the median of its values in the rounds. Percentiles for which all rounds together have too
 * few requests are left out.
 * @param {TrialRecord[]} records of one arm @param {SummaryArm} arm @returns {[number, number][]} [quantile, ms]
 */
function findMedianTimes(records, { load }) {
  const use = useOf(QUANTITIES.p99, load)
  const rounds = [...groupBy(records, r => r.trial.round).values()]
  const requests = records.reduce((sum, r) => sum + (r.load?.verified ?? 0), 0)
  const quantiles = records.find(r => r.load?.distribution)?.load?.distribution?.grid.map(([q]) => q) ?? []
  return quantiles.flatMap(q => {
    if (!hasTail(requests, q)) return []
    const { median } = summariseValues(rounds.map(trials => valueOfRound(trials, use, r => quantileMs(r, q))))
    return median === null ? [] : [/** @type {[number, number]} */ ([q, median])]
  })
}
