import { nameOf } from '../../model/arms.js'

/**
 * The colours of arms. Pure. @import { Arm } from '../../model/types.ts'
 * @typedef {Pick<Arm, 'plane' | 'variant' | 'profile' | 'hasSidecars'>} Colourable
 */

/** Colours arms by name: 0 without sidecars, else from 1 in their order. @param {Colourable[]} [arms] the first */
export function createColours(arms = []) {
  /** @type {Map<string, number>} */
  const colours = new Map()
  const colourFor = (/** @type {Colourable} */ arm) => {
    if (!arm.hasSidecars) return 0
    const name = nameOf({ ...arm, repeatOf: null })
    const colour = colours.get(name) ?? colours.size + 1
    colours.set(name, colour)
    return colour
  }
  for (const arm of arms) colourFor(arm)
  return colourFor
}
