import { expect, it } from 'vitest'
import { computeWindow } from '../../../src/judge/record/compute-window.js'

/** @import { ObservationRecord, Sample } from '../../../src/model/types.ts' */

const KIB = 1024
const STATE = { threads: [], cpuLimitCores: null, identity: [], cpuSet: '0' }
const EDGE = { states: [STATE], host: { idle: 1, steal: 0, busy: 1, total: 2, cpus: 1 }, ownCpuSeconds: 0 }
const LOOK = { memory: null, identity: [], workers: null }
const observation = /** @type {ObservationRecord} */ (
  /** @type {unknown} */ ({
    processes: [{ name: 'ratings-sidecar', service: 'ratings', role: 'sidecar', cpuLimitCores: null }],
    window: { startMs: 0, endMs: 2000 },
    ...{ start: EDGE, end: EDGE, before: [LOOK], after: [LOOK], overflows: [null], onHost: null },
    ...{ cpus: 1, sampleSource: 'cgroup', clockOffsetMs: 0 },
  })
)

/** Finds the growth of a window of two seconds. @param {(tenth: number) => number | null} bytesAt tenths of a second from its start */
function growthOf(bytesAt) {
  const samples = Array.from({ length: 41 }, (_, i) => i - 10).map(tenth => ({
    epochMs: 100 * tenth,
    ...(tenth === 0 && { edge: /** @type {const} */ ('start') }),
    ...(tenth === 20 && { edge: /** @type {const} */ ('end') }),
    readings: [{ atSeconds: tenth / 10, cpuSeconds: 0, anonBytes: bytesAt(tenth) }],
  }))
  return computeWindow({ observation, samples: /** @type {any} */ (samples) })?.processes[0].memory.grownBytes
}

it('finds memory that grows in each quarter of a window, and none that a warm-up adds, or a step', () => {
  expect(growthOf(tenth => 1e7 + 10 * KIB * tenth)).toBe(200 * KIB)
  expect(growthOf(tenth => 1e7 + 10 * KIB * Math.min(tenth, 14))).toBeUndefined()
  expect(growthOf(tenth => 1e7 + 900 * KIB * Math.floor((tenth + 10) / 8))).toBeUndefined()
  expect(growthOf(() => null)).toBeUndefined()
})
