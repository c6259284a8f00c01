import { renderMebibytes, renderNounCount, renderPercent, renderSecondsLeft } from '../lib/units.js'

/**
 * The words that the terminal and the page share. Runs in browsers, too. Pure.
 * @import { RunSnapshot } from './state.js'
 * @import { SidecarNow } from '../judge/sidecars.js'
 * @import { PartSoFar, RatioSoFar } from './repeats.js'
 */

const UNKNOWN = '–'

/** The number of sidecars that a terminal and a chart have room for. */
export const SIDECARS_SHOWN = 6
// More do not fit into a line of progress.
const ROWS_MOST = 4
const RATIOS_MOST = 2

/**
 * Renders a ratio: `pipy uses 56.9 % less CPU per request than envoy [52.1, 61.0] so far`; without an interval, the number of
 * repeats in its place.
 * @param {RatioSoFar} ratio
 * @returns {string}
 */
export function renderRatioSoFar({ a, b, words, median, low, high, repeats }) {
  const isLess = median < 1
  // Without the sign of a zero.
  const formatShare = (/** @type {number} */ ratio) =>
    (100 * (isLess ? 1 - ratio : ratio - 1)).toFixed(1).replace(/^-(?=0\.0$)/, '')
  const gap = words.replace('%', `${formatShare(median)} %`)
  if (low === null || high === null)
    return `${a} ${gap} than ${b} (${renderNounCount(repeats, 'repeat')}: no interval yet)`
  const ends = isLess ? [high, low] : [low, high]
  return `${a} ${gap} than ${b} [${ends.map(formatShare).join(', ')}] so far`
}

/**
 * Renders the place of a part: `at 1 CPU each, repeat 2 of 6`.
 * @param {Pick<PartSoFar, 'conditions' | 'repeat' | 'repeats' | 'isMost'>} part
 * @returns {string}
 */
export function renderPartPlace({ conditions, repeat, repeats, isMost }) {
  return [conditions, `repeat ${repeat} of ${isMost ? 'at most ' : ''}${repeats}`].filter(Boolean).join(', ')
}

/**
 * Renders the values and ratios of a part in a line: the first ROWS_MOST values and RATIOS_MOST ratios, and the number of the
 * others. Values are left out if none of them is known.
 * @param {PartSoFar} part
 * @returns {string} empty: there are neither
 */
export function renderPartValues({ rows, ratios }) {
  const knownRows = rows.some(({ text }) => text !== UNKNOWN) ? rows : []
  const values = knownRows.slice(0, ROWS_MOST).map(({ label, text }) => `${label} ${text}`)
  if (knownRows.length > ROWS_MOST) values.push(`and ${knownRows.length - ROWS_MOST} more`)
  const pairs = ratios.slice(0, RATIOS_MOST).map(renderRatioSoFar)
  if (ratios.length > RATIOS_MOST) pairs.push(`and ${renderNounCount(ratios.length - RATIOS_MOST, 'more pair')}`)
  return [values.join(', '), ...pairs].filter(Boolean).join('; ')
}

/**
 * Renders the place of a trial in the plan: `trial 3 of 12`, or in a search `trial 3`.
 * @param {Pick<RunSnapshot, 'nth' | 'trials'>} snapshot
 * @returns {string | null} null: no trial of the plan has begun
 */
export function renderTrialPlace({ nth, trials }) {
  if (nth === null) return null
  return trials === null ? `trial ${nth}` : `trial ${nth} of ${trials}`
}

/**
 * Renders the number of ended trials: `3 of 12 trials ended`, in a search without the total.
 * @param {Pick<RunSnapshot, 'done' | 'trials'>} snapshot
 * @returns {string}
 */
export function renderEndedCount({ done, trials }) {
  return trials === null
    ? `${renderNounCount(done, 'trial')} ended`
    : `${done} of ${renderNounCount(trials, 'trial')} ended`
}

/**
 * Renders the time left: `3 min left`.
 * @param {number | null} seconds null: not known
 * @returns {string | null} null: not known
 */
export function renderTimeLeft(seconds) {
  return seconds === null ? null : renderSecondsLeft(seconds)
}

/**
 * Renders the link of an arm and its values on the axes that vary. A link that varies is named once.
 * @param {NonNullable<RunSnapshot['arm']>} arm
 * @returns {string}
 */
export function renderArmAxes({ link, variedAxes }) {
  const linkText = `link ${link}`
  const isLinkVaried = variedAxes.split(', ').includes(linkText)
  return [isLinkVaried ? null : linkText, variedAxes].filter(Boolean).join(', ')
}

/**
 * Renders the CPU of a sidecar: `0.412 of 1 cores`.
 * @param {Pick<SidecarNow, 'cores' | 'cpuLimitCores'>} sidecar
 * @returns {string} `–` in place of a use that is not known
 */
export function renderCpuUse({ cores, cpuLimitCores }) {
  const used = cores === null ? UNKNOWN : cores.toFixed(3)
  return cpuLimitCores === null ? `${used} cores` : `${used} of ${cpuLimitCores} cores`
}

/**
 * Renders the share of scheduler periods that were throttled: `throttled 12 %`.
 * @param {Pick<SidecarNow, 'throttledFraction'>} sidecar
 * @returns {string | null} null: it is not known, or there is no CPU limit
 */
export function renderThrottling({ throttledFraction }) {
  return throttledFraction === null ? null : `throttled ${renderPercent(throttledFraction)}`
}

/**
 * Renders anonymous memory in MiB, or the working set if only that is known, which the text then says.
 * @param {SidecarNow} sidecar
 * @returns {string | null} null: neither is known
 */
export function renderMemoryUse({ anonBytes, workingSetBytes }) {
  if (anonBytes !== null) return `${renderMebibytes(anonBytes)} MiB`
  return workingSetBytes === null ? null : `${renderMebibytes(workingSetBytes)} MiB working set`
}

/**
 * Renders a number that may not be known.
 * @param {number | null} value null: not known
 * @param {number} [digits] after the point; 0 by default
 * @returns {string} `–` for null
 */
export function renderNumber(value, digits = 0) {
  return value === null ? UNKNOWN : value.toFixed(digits)
}
