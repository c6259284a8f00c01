import { renderSureness } from '../../answer/noise.js'
import { renderContrasts, renderPairs } from '../../answer/pairs.js'
import { chooseQuantities, drawProxies } from '../../answer/proxies.js'
import { computeAxisCosts, drawAxisCosts, renderAxisCosts } from './axis-costs.js'

/** The answer of interleaved arms: the cost of a request. Pure. */
/** @import { Answered } from '../sections.js' @import { ResultOf } from '../../model/types.ts' @import { KindAnswer } from '../../answer/picture.js' */

const USUAL = ['cpuPerRequest', 'rss']

/** @param {Answered<ResultOf<'cost'>>} answered @returns {KindAnswer | null} null: nothing was measured */
export function answerCost({ result, summary, measured }) {
  if (measured.length === 0) return null
  const { arms, comparisons } = result
  const quantities = chooseQuantities(summary, USUAL)
  const costs = computeAxisCosts(result, summary)
  return {
    pictures: [...drawProxies({ arms, comparisons, quantities }), ...drawAxisCosts(costs)],
    verdicts: [...renderPairs({ comparisons }), ...renderContrasts({ comparisons }), ...renderAxisCosts(costs)],
    basis: renderSureness(result, { repeats: `${result.cpus ? 'pinned ' : ''}interleaved repeat`, drawn: quantities }),
  }
}
