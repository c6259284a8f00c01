/** The test for steady growth of memory, for counts of requests in the lab and for windows. Pure. */

const KIB = 1024
// A leak grows in each part of the requests by at least this much; a heap grows by a step now and then.
const PART_LEAST_BYTES = 16 * KIB
// Growth from here on is shown in KiB.
const KIB_LEAST_BYTES = 100

/**
 * Computes the bytes by which memory grew in all parts together, if it grew steadily.
 * @param {number[]} bytes at the start of the first part and at the end of each; NaN: not read
 * @returns {number | null} null: it grew by less than PART_LEAST_BYTES in some part, by less than half of the mean in the last,
 *   there is no part, or a value is NaN
 */
export function computeSteadyGrowth(bytes) {
  const parts = bytes.slice(1).map((later, i) => later - bytes[i])
  const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length
  // A leak does not slow down; a heap that fills up does.
  const isSteady =
    parts.length > 0 && parts.every(part => part >= PART_LEAST_BYTES) && parts[parts.length - 1] >= mean / 2
  return isSteady ? bytes[bytes.length - 1] - bytes[0] : null
}

/**
 * Renders the growth of memory a request: `0.4 KiB a request`, or in bytes below KIB_LEAST_BYTES.
 * @param {number} bytes of a request
 * @returns {string}
 */
export function renderGrowthPerRequest(bytes) {
  return `${bytes >= KIB_LEAST_BYTES ? `${(bytes / KIB).toFixed(1)} KiB` : `${Math.round(bytes)} bytes`} a request`
}
