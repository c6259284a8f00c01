import { groupBy } from '../lib/group-by.js'
import { labelOf } from '../model/arms.js'
import { findVaried } from '../model/axes.js'

/**
 * The gates that fired in a run, each once. Pure.
 * @import { Summary } from '../model/types.ts'
 */

/**
 * @typedef {object} Fired
 * @property {string} gate
 * @property {string} arms `pipy 6/6, envoy 2/6`: of its trials
 * @property {string} reason the first
 */

/**
 * @param {Pick<Summary, 'arms'>} summary
 * @returns {Fired[]}
 */
export function listFired({ arms }) {
  const varied = findVaried(arms)
  const fired = arms.flatMap(arm => {
    const { completed, failed, invalid } = arm.trials
    const of = completed + failed + invalid
    return arm.spoiled.map(({ gate, trials, reason }) => ({ gate, trials, of, reason, label: labelOf(arm, varied) }))
  })
  return [...groupBy(fired, f => f.gate)].map(([gate, own]) => ({
    gate,
    arms: own.map(f => `${f.label} ${f.trials}/${f.of}`).join(', '),
    reason: own[0].reason,
  }))
}

/**
 * A line for every gate.
 * @param {Pick<Summary, 'arms'>} summary
 */
export function renderFired(summary) {
  return listFired(summary).map(({ gate, arms, reason }) => `Gate ${gate} (${arms} trials): ${reason}`)
}
