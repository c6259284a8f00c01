/** Series that grow for as long as a trial goes on and yet stay small. Runs in browsers, too. Pure. */

// A trial can be a soak of hours at ten points a second, and nobody sees more points than a chart has pixels.
export const POINTS_MOST = 2000

/**
 * Appends a point. Of too many, every second one of the older half is dropped: what is looked at, the newest, stays
 * whole, and what is oldest has been halved most often.
 * @param {[number, number][]} points changed @param {[number, number]} point @param {number} [most]
 */
export function appendPoint(points, point, most = POINTS_MOST) {
  points.push(point)
  if (points.length <= most) return
  const older = points.splice(0, most / 2)
  points.unshift(...older.filter((_, i) => i % 2 === 0))
}

/**
 * Appends a stretch of time; one that goes on where the last one ended makes that longer. Of too many, each two of the
 * older half become one: coarser, as the points of that time are.
 * @param {[number, number][]} stretches [from, to], changed @param {[number, number]} stretch @param {number} [most]
 */
export function appendStretch(stretches, [from, to], most = POINTS_MOST) {
  const last = stretches.at(-1)
  if (last && from <= last[1]) {
    last[1] = Math.max(last[1], to)
    return
  }
  stretches.push([from, to])
  if (stretches.length <= most) return
  const older = stretches.splice(0, most / 2)
  for (let i = older.length - 2; i >= 0; i -= 2) stretches.unshift([older[i][0], older[i + 1][1]])
}
