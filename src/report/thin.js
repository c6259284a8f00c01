/** Fewer points that look the same. Pure. */

/**
 * The lowest and the highest point of each stretch of a series, in their order, so that no extreme is lost; the first and
 * the last point stay.
 * @param {[number, number][]} points
 * @param {number} most that are left, at least 4
 * @returns {[number, number][]}
 */
export function thinSeries(points, most) {
  if (points.length <= most) return points
  const inner = points.slice(1, -1)
  const stretches = Math.max(1, Math.floor((most - 2) / 2))
  const thinned = Array.from({ length: stretches }, (_, i) => {
    const from = Math.floor((i * inner.length) / stretches)
    const to = Math.floor(((i + 1) * inner.length) / stretches)
    let [low, high] = [from, from]
    for (let at = from; at < to; at++) {
      if (inner[at][1] < inner[low][1]) low = at
      if (inner[at][1] > inner[high][1]) high = at
    }
    const [first, second] = [Math.min(low, high), Math.max(low, high)]
    return first === second ? [inner[first]] : [inner[first], inner[second]]
  })
  return [points[0], ...thinned.flat(), points[points.length - 1]]
}
