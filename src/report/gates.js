import { groupBy } from '../lib/group-by.js'
import { labelOf } from '../model/arms.js'
import { findVaried } from '../model/axes.js'

/**
 * Lists the gates that fired in a run, each once. Pure. @import { Summary, SummaryArm } from '../model/types.ts'
 * @typedef {{ gate: string, name: string, arms: string, reason: string }} Fired arms: `pipy 6/6, envoy 2/6` trials
 */

/** Lists the gates that fired. @param {Pick<Summary, 'arms'>} summary @returns {Fired[]} */
export function listFired({ arms }) {
  const varied = findVaried(arms)
  const fired = arms.flatMap(arm => {
    const { completed, failed, invalid } = arm.trials
    const of = completed + failed + invalid
    return arm.spoiled.map(one => ({ ...one, name: nameOfGate(one), of, label: labelOf(arm, varied) }))
  })
  return [...groupBy(fired, f => f.name).values()].map(own => ({
    gate: own[0].gate,
    name: own[0].name,
    arms: own.map(f => `${f.label} ${f.trials}/${f.of}`).join(', '),
    reason: own[0].reason,
  }))
}

/** Names a gate: `resolution of the change`. @param {Pick<SummaryArm['spoiled'][number], 'gate' | 'part'>} fired */
export function nameOfGate({ gate, part }) {
  return part ? `${gate} of the ${part}` : gate
}

/** Renders a line for every gate. @param {Pick<Summary, 'arms'>} summary */
export function renderFired(summary) {
  return listFired(summary).map(({ name, arms, reason }) => `Gate ${name} (${arms} trials): ${reason}`)
}
