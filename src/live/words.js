import { mib, percent, timeLeft } from '../lib/units.js'

/**
 * The words that the terminal and the page share. Runs in browsers, too. Pure.
 * @import { RunSnapshot } from './state.js' @import { SidecarNow } from '../judge/sidecars.js'
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

/** Names what sets an arm apart, and its link. @param {NonNullable<RunSnapshot['arm']>} arm */
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

/** Says the working set where anonymous memory is not known. @param {SidecarNow} sidecar */
export function sayMemory({ anonBytes, workingSetBytes }) {
  if (anonBytes !== null) return `${mib(anonBytes)} MiB`
  return workingSetBytes === null ? null : `${mib(workingSetBytes)} MiB working set`
}

/** @param {number | null} value @param {number} [digits] */
export function sayNumber(value, digits = 0) {
  return value === null ? UNKNOWN : value.toFixed(digits)
}
