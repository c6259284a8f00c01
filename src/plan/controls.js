import { UsageError } from '../lib/errors.js'

/** Which control planes configure the sidecars of an experiment. Pure. */
/** @import { PlaneChoice } from '../model/types.ts' */

/**
 * @typedef {object} Asked
 * @property {PlaneChoice[]} planes
 * @property {string[] | null} given on the command line: each must be had by a plane
 * @property {string[]} own of the experiment
 * @property {(plane: string) => string[]} controlsOf the controls of a plane
 */

/**
 * The planes, once with each control of theirs that was asked for, else with their first. One that names its control
 * keeps it.
 * @param {Asked} asked @returns {PlaneChoice[]} @throws {UsageError} where no plane has a control that was asked for
 */
export function chooseControls({ planes, given, own, controlsOf }) {
  const offers = planes.map(({ plane }) => ({ plane, controls: controlsOf(plane) }))
  const unknown = given?.find(name => offers.every(({ controls }) => !controls.includes(name)))
  if (unknown !== undefined) {
    const told = offers.map(({ plane, controls }) => `${plane} has ${controls.join(', ') || 'none'}`)
    throw new UsageError(`--control ${unknown}: no plane of this run has it: ${[...new Set(told)].join('; ')}`)
  }
  return planes.flatMap((choice, i) => {
    if (choice.control !== undefined) return [choice]
    const { controls } = offers[i]
    const asked = (given ?? own).filter(name => controls.includes(name))
    const chosen = asked.length > 0 ? asked : controls.slice(0, 1)
    return chosen.length > 0 ? chosen.map(control => ({ ...choice, control })) : [choice]
  })
}
