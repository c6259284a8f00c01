import { renderArmName } from '../../model/arms.js'

/** The colours of planes in the charts of a run. Pure. @import { ColourFor } from '../../kinds/sections.js' */

/**
 * Creates the function that gives each arm the index of its colour (`chooseColour`): 0 without sidecars, else from 1 on.
 * Arms of one name share a colour, and so do A/A repeats.
 * @param {Parameters<ColourFor>[0][]} [arms] that take the first colours; further ones take the next as they come
 * @returns {ColourFor}
 */
export function createColourChooser(arms = []) {
  /** @type {Map<string, number>} */
  const colours = new Map()
  /** @type {ColourFor} */
  const chooseArmColour = arm => {
    if (!arm.hasSidecars) return 0
    const name = renderArmName({ ...arm, repeatOf: null })
    const colour = colours.get(name) ?? colours.size + 1
    colours.set(name, colour)
    return colour
  }
  for (const arm of arms) chooseArmColour(arm)
  return chooseArmColour
}
