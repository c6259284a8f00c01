import { renderContrasts } from '../../answer/contrasts.js'
import { renderSureness } from '../../answer/noise.js'
import { renderPairs } from '../../answer/pairs.js'
import { chooseQuantities, drawProxies } from '../../answer/proxies.js'
import { renderCommand } from '../../lib/render-command.js'
import { renderNounCount } from '../../lib/units.js'
import { listArms } from '../../model/results.js'
import { computeAxisCosts, drawAxisCosts, renderAxisCosts } from './axis-costs.js'

/** The answer of interleaved arms: the cost of a request. Pure. */
/**
 * @import { Answered } from '../sections.js'
 * @import { ResultOf, Summary, SummaryArm } from '../../model/types.ts'
 * @import { KindAnswer } from '../../answer/picture.js'
 */

const DEFAULT_QUANTITIES = ['cpuPerRequest', 'rss']

/**
 * Creates the answer: the cost of each proxy and of each value of an axis, with the verdicts and how sure they are.
 * @param {Answered<ResultOf<'cost'>>} answered
 * @returns {KindAnswer | null} null: nothing was measured
 */
export function answerCost({ result, summary, measured }) {
  if (measured.length === 0) return null
  const { arms, comparisons } = result
  const quantities = chooseQuantities(summary, DEFAULT_QUANTITIES)
  const costs = computeAxisCosts(result, summary)
  const costSentences = renderAxisCosts(costs)
  const { basis, notes } = renderSureness(result, {
    repeats: `${result.cpus ? 'pinned ' : ''}interleaved repeat`,
    drawn: quantities,
  })
  return {
    pictures: [...drawAxisCosts(costs), ...drawProxies({ arms, comparisons, quantities })],
    verdicts: [
      ...renderPairs({ comparisons }),
      // Costs of an axis compare both proxies: their sentence replaces the contrasts, which compare each proxy with itself.
      ...(costSentences.length > 0 ? costSentences : renderContrasts({ comparisons })),
    ],
    // The condition stands before the number of repeats, which comes last.
    basis: [...basis.slice(0, -1), ...renderUsersCondition(result, summary), ...basis.slice(-1)],
    notes,
  }
}

/**
 * Renders the number of users for which a comparison holds, and the command for other numbers.
 * @param {ResultOf<'cost'>} result
 * @param {Pick<Summary, 'results'>} summary
 * @returns {string[]} one sentence; []: nothing was compared, an arm has a rate or other users than the first, or the title
 *   has the number, since all parts of the run have the same
 */
function renderUsersCondition({ arms, comparisons, cpus }, summary) {
  const { users } = arms[0].load
  const haveSameUsers = (/** @type {SummaryArm[]} */ ofArms) =>
    ofArms.every(({ load }) => load.ratePerSecond === undefined && load.users === users)
  const isCompared = comparisons.some(({ isControl }) => !isControl)
  const isInTitle = haveSameUsers(listArms(summary))
  if (!isCompared || isInTitle || !haveSameUsers(arms)) return []
  const placement = cpus ? '' : ', unpinned'
  return [
    `At ${renderNounCount(users, 'user')}${placement}; other loads move it: ${renderCommand('bench', 'conditions')}.`,
  ]
}
