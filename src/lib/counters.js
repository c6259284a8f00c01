/** Counters, and numbers that may not be readable. Pure. */

/**
 * Gives a number, or null for one that could not be read.
 * @param {number | null | undefined} value
 * @returns {number | null} null: the value is null, undefined, NaN or infinite
 */
export function finiteOrNull(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/**
 * Computes the rise of a counter.
 * @param {number | null | undefined} later
 * @param {number | null | undefined} earlier
 * @returns {number | null} below 0: the counter fell; null: one of the values could not be read
 */
export function computeRise(later, earlier) {
  const [end, start] = [finiteOrNull(later), finiteOrNull(earlier)]
  return end === null || start === null ? null : end - start
}
