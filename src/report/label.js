import { nameOf } from '../arms.js'
import { BASELINE_AXES, describeAxes, findVaried } from '../axes.js'

/**
 * @import { SummaryArm } from '../types.ts'
 */

/**
 * An arm's name with what it does not share with the others. Pure.
 * @param {SummaryArm} arm
 * @param {SummaryArm[]} arms
 */
export function labelOf(arm, arms) {
  const varied = findVaried(arms).filter(name => arm.plane !== 'none' || BASELINE_AXES.includes(name))
  const where = describeAxes(arm, varied)
  return `${nameOf(arm)}${where ? `, ${where}` : ''}`
}
