import { createSidecars } from '../judge/sidecars.js'

/**
 * Series of each sidecar over time, from a trial's samples. Pure.
 * @import { Reading, SampleLine, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 */

/**
 * @param {{ record: Pick<TrialRecord, 'window' | 'processes'>, samples: SampleLine[] }} trial
 * @returns {SidecarSeries[]} one per sidecar
 */
export function describeSeries({ record: { window, processes }, samples }) {
  if (window === null) return []
  const specs = processes.map(({ service, role, capCores }) => ({ service, role, cpuCores: capCores }))
  const sidecars = createSidecars({ most: Number.POSITIVE_INFINITY })
  for (const { epochMs, processes: read } of samples) {
    // Values that could not be read are missing; createSidecars expects that.
    const readings = specs.map(({ service, role }) => /** @type {Reading | undefined} */ (read[`${service}-${role}`]))
    sidecars.sample({ specs, sample: { epochMs, readings }, windowStartMs: window.startMs })
  }
  return sidecars.series()
}
