import { renderSureness } from '../../answer/noise.js'
import { renderContrasts, renderPairs } from '../../answer/pairs.js'
import { chooseQuantities, drawProxies } from '../../answer/proxies.js'

/** The answer of interleaved arms: the cost of a request. Pure. */
/** @import { Told } from '../sections.js' @import { KindAnswer } from '../../answer/picture.js' */

const USUAL = ['cpuPerRequest', 'rss']

/** @param {Told} told @returns {KindAnswer | null} null: nothing was measured */
export function answerCost({ summary, measured }) {
  if (measured.length === 0) return null
  const { arms, comparisons } = summary
  return {
    pictures: drawProxies({ arms, comparisons, quantities: chooseQuantities(summary, USUAL) }),
    verdicts: [...renderPairs({ comparisons }), ...renderContrasts({ comparisons })],
    basis: renderSureness(summary, { repeats: `${summary.interleaved?.cpus ? 'pinned ' : ''}interleaved repeat` }),
  }
}
