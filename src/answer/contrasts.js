import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { renderChange, renderPair, renderQuantityLabel } from './pair.js'

/**
 * Verdicts on contrasts, which compare a proxy with itself under another value of an axis. Pure.
 * @import { Comparison } from '../model/types.ts'
 */

/** The most contrasts of a proxy that get a sentence each. */
const CONTRASTS_MOST = 2

/**
 * Renders how an axis changes the primary quantity of each proxy, against the first value of the axis. Up to CONTRASTS_MOST
 * contrasts of a proxy get a sentence each; more are summed up in one sentence, with the smallest and the largest change.
 * @param {{ comparisons: Comparison[], primary?: string }} options primary: the quantity, by default CPU per request
 * @returns {string[]} sentences; []: no contrast has a ratio in this quantity
 */
export function renderContrasts({ comparisons, primary = PRIMARY.name }) {
  const allContrasts = comparisons.filter(c => c.contrast !== null && !c.isControl && c.service === null)
  const contrasts = allContrasts.filter(({ quantity, ratio }) => quantity === primary && ratio.median !== null)
  return [...groupBy(contrasts, c => c.b).values()].flatMap(proxyContrasts => {
    const judged = proxyContrasts.filter(({ verdict }) => verdict !== 'invalid')
    if (proxyContrasts.length <= CONTRASTS_MOST) return proxyContrasts.map(c => renderPair(c))
    // A range needs two verdicts.
    if (judged.length < 2) return proxyContrasts.slice(0, CONTRASTS_MOST).map(c => renderPair(c))
    const sorted = judged.toSorted((x, y) => Number(x.ratio.median) - Number(y.ratio.median))
    const [least, most] = [sorted[0], sorted[sorted.length - 1]].map(c => `${renderChange(c)} (${c.a})`)
    return [`Against ${proxyContrasts[0].b}, ${renderQuantityLabel(primary)} is from ${least} to ${most}.`]
  })
}
