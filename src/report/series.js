import { createSidecars } from '../judge/sidecars.js'

/**
 * Series of sidecars, from samples. Pure.
 * @import { Reading, SampleLine, TrialRecord } from '../model/types.ts'
 */

/**
 * Creates a series for each sidecar of a trial, in seconds from the start of its window.
 * @param {{ record: Pick<TrialRecord, 'window' | 'processes'>, samples: SampleLine[] }} trial
 * @returns {import('../judge/sidecars.js').SidecarSeries[]} []: the trial has no window, or no samples
 */
export function createSidecarSeries({ record: { window, processes }, samples }) {
  if (window === null) return []
  const specs = processes.map(({ service, role, cpuLimitCores }) => ({ service, role, cpuLimitCores }))
  // Interleaved arms share one file of samples, which has the processes of all.
  const names = processes.map(({ armId, service, role }) => [armId, service, role].filter(Boolean).join('-'))
  const sidecars = createSidecars({ most: Number.POSITIVE_INFINITY })
  for (const { epochMs, processes: read } of samples) {
    // createSidecars expects that values which could not be read are missing.
    const readings = names.map(name => /** @type {Reading | undefined} */ (read[name]))
    sidecars.sample({ specs, sample: { epochMs, readings }, windowStartMs: window.startMs })
  }
  return sidecars.series()
}

/**
 * Thins out a series so that it looks the same: both ends stay, and the lowest and the highest point of each stretch
 * between them.
 * @param {[number, number][]} points
 * @param {number} most the number of points that may stay, at least 4
 * @returns {[number, number][]} the same array, if it is short enough
 */
export function thinSeries(points, most) {
  if (points.length <= most) return points
  const inner = points.slice(1, -1)
  const stretches = Math.max(1, Math.floor((most - 2) / 2))
  const thinned = Array.from({ length: stretches }, (_, i) => {
    const from = Math.floor((i * inner.length) / stretches)
    const to = Math.floor(((i + 1) * inner.length) / stretches)
    let [low, high] = [from, from]
    for (let index = from; index < to; index++) {
      if (inner[index][1] < inner[low][1]) low = index
      if (inner[index][1] > inner[high][1]) high = index
    }
    return [...new Set([low, high])].sort((a, b) => a - b).map(index => inner[index])
  })
  return [points[0], ...thinned.flat(), points[points.length - 1]]
}
