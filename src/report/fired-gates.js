import { groupBy } from '../lib/group-by.js'
import { listVariedAxes, renderArmLabel } from '../model/arms.js'
import { listArms } from '../model/results.js'

/**
 * The gates that fired in a run, which reports call checks. Pure.
 * @import { Summary, SummaryArm } from '../model/types.ts'
 */

/**
 * A gate that fired, with the arms in whose trials it did.
 * @typedef {object} FiredGate
 * @property {string} gate
 * @property {string} name of the gate, with its part
 * @property {string} arms with the trials in which it fired: `pipy 6/6, envoy 2/6`
 * @property {string} reason of the first arm
 */

/**
 * Lists the gates that fired, each with all its arms; `failed` stands for trials that failed.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {FiredGate[]} [] if none fired
 */
export function listFiredGates(summary) {
  const arms = listArms(summary)
  const variedAxes = listVariedAxes(arms)
  const spoils = arms.flatMap(arm => {
    const { completed, failed, invalid } = arm.trials
    const total = completed + failed + invalid
    const label = renderArmLabel(arm, variedAxes)
    return arm.spoiled.map(spoil => ({ ...spoil, name: renderGate(spoil), share: `${label} ${spoil.trials}/${total}` }))
  })
  return [...groupBy(spoils, ({ name }) => name)].map(([name, gateSpoils]) => ({
    gate: gateSpoils[0].gate,
    name,
    arms: gateSpoils.map(({ share }) => share).join(', '),
    reason: gateSpoils[0].reason,
  }))
}

/**
 * Renders the name of a gate, with its part if it has one: `resolution of the change`.
 * @param {Pick<SummaryArm['spoiled'][number], 'gate' | 'part'>} spoil
 * @returns {string}
 */
export function renderGate({ gate, part }) {
  return part ? `${gate} of the ${part}` : gate
}

/** Renders a line for each gate that fired. @param {Pick<Summary, 'results'>} summary @returns {string[]} [] if none fired */
export function renderFiredGates(summary) {
  return listFiredGates(summary).map(({ name, arms, reason }) => `Check ${name} (${arms} trials): ${reason}`)
}
