import { renderMebibytes, renderRange } from '../../lib/units.js'
import { listVariedAxes, renderArmLabel } from '../../model/arms.js'
import { renderGrowthEndings } from './numbers.js'

/** The answer of growth: how many sidecars each control plane served, and why no more. Pure. */
/**
 * @import { Answered } from '../sections.js'
 * @import { Cell, KindAnswer } from '../../answer/picture.js'
 */
/** @import { GrowthFit, ResultOf, SummaryArm } from '../../model/types.ts' */

/**
 * Creates the answer: a row for each arm, and a sentence about its endings.
 * @param {Pick<Answered<ResultOf<'growth'>>, 'result'>} answered
 * @returns {KindAnswer | null} null: nothing grew
 */
export function answerGrowth({ result: { arms, growths } }) {
  if (growths.length === 0) return null
  return {
    pictures: [
      {
        isOfProxies: true,
        columns: [{ heading: 'sidecars served', isBar: true }, { heading: 'memory of the control plane a sidecar' }],
        rows: growths.map(growth => ({ label: renderGrowthLabel(arms, growth), cells: drawGrowthCells(growth) })),
      },
    ],
    verdicts: growths.map(growth => `${renderGrowthLabel(arms, growth)}: ${renderGrowthEndings(growth)}.`),
  }
}

/**
 * Draws the sidecars that a control plane served, over all rounds, and its memory.
 * @param {GrowthFit} growth
 * @returns {(Cell | null)[]} two cells; the second is null if the memory was not fitted
 */
function drawGrowthCells({ rounds, memory }) {
  const served = rounds.map(({ sidecars }) => sidecars)
  const [least, most] = [Math.min(...served), Math.max(...served)]
  return [
    { text: renderRange(least, most), value: least },
    memory && {
      text: `${(memory.bytesPerSidecar / 1000).toFixed(1)} kB, over ${renderMebibytes(memory.baseBytes)} MiB`,
    },
  ]
}

/**
 * Renders the label of a growth's arm.
 * @param {SummaryArm[]} arms of the result
 * @param {Pick<GrowthFit, 'armId'>} growth
 * @returns {string} its id if the arm is not in the result
 */
export function renderGrowthLabel(arms, { armId }) {
  const arm = arms.find(({ id }) => id === armId)
  return arm ? renderArmLabel(arm, listVariedAxes(arms)) : armId
}
