import { answerCapacity } from './answer.js'
import { drawCrossings, renderCrossings } from './crossings.js'

/** Sections of windows under load. Pure. @import { Sections } from '../sections.js' */
/** @import { ResultOf } from '../../model/types.ts' */

/** @type {Sections<ResultOf<'capacity'>>} */
export const capacitySections = {
  kind: 'capacity',
  renderHeading: renderLimitHeading,
  summarise: () => ({}),
  createAnswer: answerCapacity,
  renderFindings(result, summary) {
    const crossings = renderCrossings(result, summary)
    return crossings.length > 0 ? ['Where one takes less than another:', ...crossings.map(line => `  ${line}`)] : []
  },
  drawCharts: drawCrossings,
}

/**
 * Renders the heading beside results of other kinds: the CPU limits, or that there is none.
 * @param {ResultOf<'capacity'>} result
 * @returns {string}
 */
function renderLimitHeading({ arms }) {
  const limits = [...new Set(arms.flatMap(arm => arm.cpuLimitCores ?? []))]
  return limits.length === 0 ? 'One after the other, without a CPU limit' : `At a CPU limit of ${limits.join(' or ')}`
}
