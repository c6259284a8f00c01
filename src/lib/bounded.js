/** Series that grow for as long as a trial runs and yet stay small. Runs in browsers, too. Pure. */

// A trial can be a soak of hours at ten points a second, and a chart shows no more points than it has pixels.
export const POINTS_MOST = 2000

/**
 * Appends a point. If there are then more than `most` (POINTS_MOST by default), every second one of the older half is dropped.
 * @param {[number, number][]} points are changed
 * @param {[number, number]} point
 * @param {number} [most] an even number
 */
export function appendPoint(points, point, most = POINTS_MOST) {
  points.push(point)
  if (points.length <= most) return
  const older = points.splice(0, most / 2)
  points.unshift(...older.filter((_, i) => i % 2 === 0))
}

/**
 * Appends a stretch of time, or lengthens the last one if the two overlap or touch. If there are then more than `most`, each two of
 * the older half are joined, with the gap between them.
 * @param {[number, number][]} stretches [from, to], in the order of time; are changed
 * @param {[number, number]} stretch [from, to], which begins no earlier than the last one
 * @param {number} [most] a multiple of 4; POINTS_MOST by default
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
