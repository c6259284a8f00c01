import { formatRatio } from '../analysis/claims/answers.js'
import { findPlateaus, WITHIN } from '../analysis/plateaus.js'
import { QUANTITIES } from '../judge/quantities.js'
import { formatValue } from '../judge/quantity.js'
import { percent } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { AXES, describeAxes, findVaried } from '../model/axes.js'

/** Plateaus as sentences. Pure. @import { Plateau } from '../analysis/plateaus.js' */

/** @param {Parameters<typeof findPlateaus>[0]} summary */
export function renderPlateaus(summary) {
  const plateaus = findPlateaus(summary)
  const varied = findVaried(summary.arms).filter(name => name !== summary.shows.across)
  return plateaus.length === 0
    ? []
    : [
        `Plateau, the smallest value that is within ${percent(WITHIN - 1)} of the best (ratio to the best, round by round [95 % interval]):`,
        ...plateaus.map(plateau => {
          const where = describeAxes(plateau.arm, varied)
          return `  ${nameOf(plateau.arm)}${where ? `, ${where}` : ''}: ${renderPlateau(plateau, summary.shows.across)}`
        }),
      ]
}

/** @param {Plateau} plateau @param {import('../model/types.ts').Summary['shows']['across']} across */
function renderPlateau({ quantity, best, from, last, ratio, nearest, isSure, missing }, across) {
  const row = QUANTITIES[quantity]
  const label = across === null ? '' : AXES[across].label
  const least = `${row.label} is least at ${label} ${best.at} (${formatValue(row, best.median)})`
  const found =
    from === last
      ? `no plateau up to ${last}${nearest ? `: of the smaller values ${nearest.at} is nearest, ratio ${formatRatio(nearest.ratio)}` : ''}`
      : `the plateau begins at ${label} ${from}, ratio ${formatRatio(ratio)}`
  const doubt = isSure ? '' : ratio.low === null ? ', indicative only' : ', not told apart by intervals'
  return `${least}; ${found}${doubt}${missing.length > 0 ? `; no value at ${missing.join(', ')}` : ''}`
}
