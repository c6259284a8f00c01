import { answerCapacity } from './answer.js'
import { drawCrossings, renderCrossings } from './crossings.js'

/** Windows under load: the cost of planes, and what bound them. Pure. @import { Sections } from '../sections.js' */
/** @import { Summary } from '../../model/types.ts' */

/** @type {Sections} */
export const capacitySections = {
  heading: nameCaps,
  answer: answerCapacity,
  findings(summary) {
    const crossings = renderCrossings(summary)
    return crossings.length > 0 ? ['Where one takes less than another:', ...crossings.map(line => `  ${line}`)] : []
  },
  charts: drawCrossings,
}

/** @param {Summary} summary */
function nameCaps({ arms }) {
  const caps = [...new Set(arms.flatMap(arm => arm.cpuLimitCores ?? []))]
  return caps.length === 0 ? 'One after the other, without a CPU limit' : `At a CPU limit of ${caps.join(' or ')}`
}
