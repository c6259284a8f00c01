import { mib, percent, timeLeft } from '../lib/units.js'

/**
 * The words in which the terminal and the page say the same. Runs in browsers, too. Pure.
 * @import { RunSnapshot } from './state.js'
 * @import { SidecarNow } from '../judge/sidecars.js'
 */

const UNKNOWN = '–'

/** The number of sidecars shown where there is little room. */
export const SIDECARS_SHOWN = 6

/** @param {Pick<RunSnapshot, 'nth' | 'trials'>} snapshot */
export function sayTrial({ nth, trials }) {
  if (nth === null) return null
  return trials === null ? `trial ${nth}` : `trial ${nth} of ${trials}`
}

/** @param {number | null} seconds */
export function sayLeft(seconds) {
  return seconds === null ? null : timeLeft(seconds)
}

/**
 * An arm: its link, unless the rest names it, and what else it has that others have not.
 * @param {NonNullable<RunSnapshot['arm']>} arm
 */
export function sayArm({ link, what }) {
  return [what.split(', ').includes(`link ${link}`) ? null : `link ${link}`, what].filter(Boolean).join(', ')
}

/** @param {Pick<SidecarNow, 'cores' | 'capCores'>} sidecar */
export function sayCores({ cores, capCores }) {
  const used = cores === null ? UNKNOWN : cores.toFixed(3)
  return capCores === null ? `${used} cores` : `${used} of ${capCores} cores`
}

/** @param {Pick<SidecarNow, 'throttledFraction'>} sidecar */
export function sayThrottled({ throttledFraction }) {
  return throttledFraction === null ? null : `throttled ${percent(throttledFraction)}`
}

/** @param {Pick<SidecarNow, 'anonBytes' | 'workingSetBytes'>} sidecar a kernel that does not say the one says the other */
export function sayMemory({ anonBytes, workingSetBytes }) {
  if (anonBytes !== null) return `${mib(anonBytes)} MiB`
  return workingSetBytes === null ? null : `${mib(workingSetBytes)} MiB working set`
}

/** @param {number | null} value @param {number} [digits] */
export function sayNumber(value, digits = 0) {
  return value === null ? UNKNOWN : value.toFixed(digits)
}
