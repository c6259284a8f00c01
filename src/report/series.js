import { createSidecarTracker } from '../judge/sidecars.js'

/**
 * Series of sidecars, from samples. Pure.
 * @import { Reading, SampleLine, TrialRecord } from '../model/types.ts'
 */

/**
 * Creates a series for each sidecar of a trial, in seconds from the start of its window, with the points of all samples.
 * @param {{ record: Pick<TrialRecord, 'window' | 'processes'>, samples: SampleLine[] }} trial
 * @returns {import('../judge/sidecars.js').SidecarSeries[]} [] if the trial has no window, no samples or no sidecars
 */
export function createSidecarSeries({ record: { window, processes }, samples }) {
  if (window === null) return []
  const specs = processes.map(({ service, role, cpuLimitCores }) => ({ service, role, cpuLimitCores }))
  // Interleaved arms share one file of samples, so the names of their processes begin with the id of the arm.
  const names = processes.map(({ armId, service, role }) => [armId, service, role].filter(Boolean).join('-'))
  const sidecars = createSidecarTracker({ most: Number.POSITIVE_INFINITY })
  for (const { epochMs, processes: readingsByName } of samples) {
    // A sample lacks the processes that could not be read, and a reading the values.
    const readings = names.map(name => /** @type {Reading | undefined} */ (readingsByName[name]))
    sidecars.sample({ specs, sample: { epochMs, readings }, windowStartMs: window.startMs })
  }
  return sidecars.series()
}

/**
 * Thins out a series so that it looks the same: both ends stay, and the lowest and the highest point of each stretch
 * between them.
 * @param {[number, number][]} points of x and y
 * @param {number} most the number of points that may stay, at least 4
 * @returns {[number, number][]} the same array if it is short enough
 */
export function thinSeries(points, most) {
  if (points.length <= most) return points
  const inner = points.slice(1, -1)
  const stretches = Math.max(1, Math.floor((most - 2) / 2))
  const keptPoints = Array.from({ length: stretches }, (_, i) => {
    const from = Math.floor((i * inner.length) / stretches)
    const to = Math.floor(((i + 1) * inner.length) / stretches)
    let [low, high] = [from, from]
    for (let index = from; index < to; index++) {
      if (inner[index][1] < inner[low][1]) low = index
      if (inner[index][1] > inner[high][1]) high = index
    }
    return [...new Set([low, high])].sort((a, b) => a - b).map(index => inner[index])
  })
  return [points[0], ...keptPoints.flat(), points[points.length - 1]]
}
