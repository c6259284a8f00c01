/**
 * A line of `doctor`.
 * @typedef {object} DoctorFinding
 * @property {'ok' | 'warning' | 'missing'} level missing: a default run is not possible
 * @property {string} text
 * @property {string[]} [more] further lines under the text
 */

/**
 * Creates a finding without further lines.
 * @param {DoctorFinding['level']} level
 * @param {string} text
 * @returns {DoctorFinding}
 */
export function createFinding(level, text) {
  return { level, text }
}
