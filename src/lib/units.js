/** Units as they are shown, and as people write them. Runs in browsers, too: it imports nothing. Pure. */

export const MIB = 2 ** 20
export const GIB = 2 ** 30

/** Renders bytes in MiB, with one decimal and without the unit. @param {number} bytes */
export const renderMebibytes = bytes => (bytes / MIB).toFixed(1)

/**
 * Renders a fraction in percent: 0.5 as `50 %`.
 * @param {number} share a fraction
 * @param {number} [digits] decimals
 */
export const renderPercent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`

/**
 * Renders a number and its noun, such as `1 arm` or `2 arms`.
 * @param {number} many
 * @param {string} noun
 */
export const renderNounCount = (many, noun) => `${many} ${noun}${many === 1 ? '' : 's'}`

/**
 * Renders a range, such as `12 to 30`; one value, if both ends are the same.
 * @template {number | string} T
 * @param {T} least
 * @param {T} most
 */
export const renderRange = (least, most) => (least === most ? `${least}` : `${least} to ${most}`)

/**
 * Renders an interval behind its value, such as ` [1.2, 1.5]`.
 * @param {{ low: number | null, high: number | null }} ends
 * @param {(end: number) => string} show
 * @param {string} [absent] for a value without an interval; empty by default
 */
export const renderInterval = ({ low, high }, show, absent = '') =>
  low === null || high === null ? absent : ` [${show(low)}, ${show(high)}]`

/**
 * Renders the value of a point, with its distance from a fitted line in brackets: `12.3 (+0.4)`.
 * @param {number} value
 * @param {number} residual
 * @param {{ digits?: number, residualDigits?: number }} [options] decimals; digits: 1 by default; residualDigits: as many by default
 */
export const renderWithResidual = (value, residual, { digits = 1, residualDigits = digits } = {}) =>
  `${value.toFixed(digits)} (${residual >= 0 ? '+' : ''}${residual.toFixed(residualDigits)})`

/** Renders the time left, in minutes from a minute and a half on. @param {number} seconds */
export const renderSecondsLeft = seconds =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds)} s left`

/**
 * Renders an estimate in minutes, rounded up.
 * @param {number} seconds
 * @param {number | null} mostSeconds on a busy machine; null: not known
 */
export const renderMinutes = (seconds, mostSeconds) =>
  `about ${Math.ceil(seconds / 60)} min${mostSeconds === null ? '' : `, up to ${Math.ceil(mostSeconds / 60)} min on a busy machine`}`

/** Renders the minute of a moment, `2026-01-31 12:30`. @param {string} moment ISO 8601 */
export const renderMinute = moment => moment.slice(0, 16).replace('T', ' ')

/** Renders a duration in whole milliseconds, such as `500ms`. @param {number} seconds */
export const renderMilliseconds = seconds => `${Math.round(seconds * 1000)}ms`

/**
 * Parses a time.
 * @param {string} text such as 20ms or 1.5s
 * @returns {number | null} null: it is no time above 0
 */
export function parseMilliseconds(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? []
  return Number(number) > 0 ? Number(number) * (unit === 's' ? 1000 : 1) : null
}

/**
 * Parses a size: K is 1000, Ki is 1024.
 * @param {string} text such as 64MiB or 1000
 * @returns {number | null} bytes, rounded; null: it is no size of a byte or more
 */
export function parseBytes(text) {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*((?:[KMG]i?)?B?)$/.exec(text) ?? []
  const bytes = Number(number) * (unit.includes('i') ? 1024 : 1000) ** Math.max(0, 'BKMG'.indexOf(unit[0]))
  return bytes >= 1 ? Math.round(bytes) : null
}
