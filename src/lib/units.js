/** Units as they are shown, and as people write them. Runs in browsers, too: it imports nothing. Pure. */

export const MIB = 2 ** 20
export const GIB = 2 ** 30

/** @param {number} bytes */
export const mib = bytes => (bytes / MIB).toFixed(1)

/** @param {number} share a fraction @param {number} [digits] */
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`

/** @param {number} many @param {string} noun */
export const count = (many, noun) => `${many} ${noun}${many === 1 ? '' : 's'}`

/** @param {number} seconds of which those below a minute and a half are said as such */
export const timeLeft = seconds =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds)} s left`

/** @param {number} seconds @param {number | null} mostSeconds that a busy machine may make of them */
export const aboutMinutes = (seconds, mostSeconds) =>
  `about ${Math.ceil(seconds / 60)} min${mostSeconds === null ? '' : `, up to ${Math.ceil(mostSeconds / 60)} min on a busy machine`}`

/** @param {string} text such as 20ms or 1.5s @returns {number | null} null: no time above 0 */
export function readMilliseconds(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? []
  return Number(number) > 0 ? Number(number) * (unit === 's' ? 1000 : 1) : null
}

/** @param {string} text such as 64MiB or 1000 @returns {number | null} null: no size of a byte or more */
export function readBytes(text) {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*((?:[KMG]i?)?B?)$/.exec(text) ?? []
  const bytes = Number(number) * (unit.includes('i') ? 1024 : 1000) ** Math.max(0, 'BKMG'.indexOf(unit[0]))
  return bytes >= 1 ? Math.round(bytes) : null
}
