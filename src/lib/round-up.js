/**
 * Rounds up to a whole number, after cutting off the error of floating point, which would lift a whole number to the next one.
 * @param {number} value
 * @returns {number}
 */
export function roundUp(value) {
  return Math.ceil(Number(value.toFixed(6)))
}
