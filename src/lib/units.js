/**
 * Units as they are shown. Runs in browsers, too: it imports nothing. Pure.
 */

export const MIB = 2 ** 20
export const GIB = 2 ** 30

/** @param {number} bytes */
export const mib = bytes => (bytes / MIB).toFixed(1)

/**
 * @param {number} share a fraction
 * @param {number} [digits]
 */
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`

/** @param {number} seconds of which those below a minute and a half are said as such */
export const timeLeft = seconds =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds)} s left`
