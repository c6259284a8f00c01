// The CPU that a request costs, by the time since its arm's turn began: it tells whether the start of a turn costs more.
import { listSidecars } from '../../src/judge/record/measures.js'
import { readTrialObservation } from '../../src/records/raw.js'
import { renderRawName } from '../../src/records/write.js'

/** @import { Sample, TrialRecord } from '../../src/model/types.ts' */

const TENTH_MS = 100

/**
 * @typedef {{ cpuSeconds: number, requests: number }} Piece of all turns, a tenth of a second since each began
 * @param {{ folder: string, record: TrialRecord }} trial of interleaved arms, whose turns are whole tenths of a second
 * @returns {Piece[]} as many as a turn has tenths
 */
export function profileTurn({ folder, record }) {
  const { trial, window, load } = record
  const observed = readTrialObservation(folder, renderRawName(trial))
  const perTenth = load?.interleaved?.perTenth
  if (!observed || !window || !perTenth) throw new Error(`the trial ${trial.id} has no samples or no counts`)
  const names = listSidecars(record).map(({ service }) => `${trial.arm.id}-${service}-sidecar`)
  const places = names.map(name => observed.observation.processes.findIndex(process => process.name === name))
  const cpuAt = interpolateCpu(observed.samples, places)
  const tenths = Number(trial.arm.load.sliceMs) / TENTH_MS
  const profile = Array.from({ length: tenths }, () => ({ cpuSeconds: 0, requests: 0 }))
  for (let first = 0; first + tenths <= perTenth.length; first += tenths) {
    const turn = perTenth.slice(first, first + tenths)
    // In the turns of others an arm has a few requests at most, which began as its own turn ended.
    if (turn.reduce((sum, count) => sum + count, 0) < tenths) continue
    for (const [i, requests] of turn.entries()) {
      const atMs = window.startMs + TENTH_MS * (first + i)
      profile[i].cpuSeconds += cpuAt(atMs + TENTH_MS) - cpuAt(atMs)
      profile[i].requests += requests
    }
  }
  return profile
}

/** @param {Sample[]} samples @param {number[]} places of the processes @returns {(epochMs: number) => number} CPU seconds of all */
function interpolateCpu(samples, places) {
  const points = samples.map(({ epochMs, readings }) => ({
    epochMs,
    cpuSeconds: places.reduce((sum, place) => sum + readings[place].cpuSeconds, 0),
  }))
  return epochMs => {
    const next = points.findIndex(point => point.epochMs >= epochMs)
    if (next < 1) return (points[next] ?? points[points.length - 1]).cpuSeconds
    const [before, after] = [points[next - 1], points[next]]
    const share = (epochMs - before.epochMs) / (after.epochMs - before.epochMs)
    return before.cpuSeconds + share * (after.cpuSeconds - before.cpuSeconds)
  }
}
