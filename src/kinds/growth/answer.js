import { renderMebibytes } from '../../lib/units.js'
import { listVariedAxes, renderArmLabel } from '../../model/arms.js'
import { renderEndings } from './numbers.js'

/** The answer of growth: how many sidecars each control plane served, and why no more. Pure. */
/**
 * @import { Answered } from '../sections.js'
 * @import { KindAnswer } from '../../answer/picture.js'
 */
/** @import { GrowthFit, ResultOf } from '../../model/types.ts' */

/**
 * Creates the answer: a row for each arm, and a sentence about its endings.
 * @param {Pick<Answered<ResultOf<'growth'>>, 'result'>} answered
 * @returns {KindAnswer | null} null: nothing grew
 */
export function answerGrowth({ result: { arms, growths } }) {
  if (growths.length === 0) return null
  const varied = listVariedAxes(arms)
  const renderGrowthLabel = (/** @type {GrowthFit} */ { armId }) => {
    const arm = arms.find(({ id }) => id === armId)
    return arm ? renderArmLabel(arm, varied) : armId
  }
  return {
    pictures: [
      {
        isOfProxies: true,
        columns: [{ heading: 'sidecars served', isBar: true }, { heading: 'memory of the control plane a sidecar' }],
        rows: growths.map(growth => {
          const reached = growth.rounds.map(({ sidecars }) => sidecars)
          const [least, most] = [Math.min(...reached), Math.max(...reached)]
          const { memory } = growth
          return {
            label: renderGrowthLabel(growth),
            cells: [
              { text: least === most ? `${most}` : `${least} to ${most}`, value: least },
              memory && {
                text: `${(memory.bytesPerSidecar / 1000).toFixed(1)} kB, over ${renderMebibytes(memory.baseBytes)} MiB`,
              },
            ],
          }
        }),
      },
    ],
    verdicts: growths.map(growth => `${renderGrowthLabel(growth)}: ${renderEndings(growth)}.`),
  }
}
