import { describe, expect, it } from 'vitest'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import {
  computeGrowthNumbers,
  countSidecarsAtEnding,
  isHostCpuUsedUp,
  renderGrowthEnding,
  renderGrowthEndings,
} from '../../../src/kinds/growth/numbers.js'
import { createRecord } from '../../fakes/fake-records.js'

/** @import { GrowthRecord } from '../../../src/model/types.ts' */

const host = (/** @type {number} */ idle, /** @type {number} */ total) => ({
  ...{ idle, total, steal: 0, busy: total - idle, cpus: 2 },
})
const control = (/** @type {number} */ epochMs, /** @type {number} */ cpuSeconds, /** @type {number} */ anonBytes) => ({
  ...{ epochMs, cpuSeconds, anonBytes, peakBytes: null },
})

/**
 * A step of two sidecars that begins at a second, of which the client is answered after 0.4 s, or sees four backends.
 * @param {number} nth @param {{ anonBytes: number, isLate?: boolean }} how @returns {GrowthRecord['steps'][number]}
 */
function step(nth, { anonBytes, isLate = false }) {
  const startMs = 1000 * nth
  const server = { sinceMs: startMs + 100, lastNoMs: null, yesMs: startMs + 200, asked: 1 }
  const client = { ...server, yesMs: isLate ? null : startMs + 400, asked: 9, backends: isLate ? 4 : 5 }
  return {
    ...{ sidecars: 20 * nth, startMs, endMs: startMs + 500, availableFraction: 0.5, ownCpuSeconds: 0.05 },
    host: { start: host(0, 0), end: host(50, 200) },
    control: { start: control(startMs, nth, anonBytes - 2e6), end: control(startMs + 500, nth + 0.5, anonBytes) },
    members: [
      { name: `client-${nth}-1`, told: client },
      { name: `server-${nth}-1`, told: server },
    ],
  }
}

/** @type {GrowthRecord} */
const SEEN = {
  schemaVersion: /** @type {any} */ (1),
  ...{ cpus: 2, stepSidecars: 20, sidecarsMost: 100, backends: 5, deadlineSeconds: 150 },
  steps: [
    ...[step(1, { anonBytes: 12e6 }), step(2, { anonBytes: 14e6 }), step(3, { anonBytes: 16e6 })],
    step(4, { anonBytes: 90e6, isLate: true }),
  ],
  ended: { sidecars: 80, reason: 'deadline', why: 'client-4-1 (4 of 5 backends)' },
  // 0.1 cores, then 0.8 for a second, then 0.2.
  control: [
    ...[control(0, 0, 10e6), control(1000, 0.1, 12e6), control(1500, 0.5, 12e6), control(2000, 0.9, 95e6)],
    control(4000, 1.3, 16e6),
  ],
}

describe('the numbers of a growth', () => {
  const growth = computeGrowthNumbers(SEEN)

  it('are step by step, with who saw the fewest backends', () => {
    expect(growth.steps[0]).toEqual({
      ...{ sidecars: 20, converged: 2, backendsSeen: 5, seconds: 0.4, controlAnonBytes: 12e6, controlCpuSeconds: 0.5 },
      ...{ hostIdleFraction: 0.25, ownCores: 0.1 },
    })
    expect(growth.steps[3]).toMatchObject({ sidecars: 80, converged: 1, backendsSeen: 4, seconds: null })
    expect(growth).toMatchObject({ sidecars: 60, ended: { sidecars: 80, reason: 'deadline' }, hasControl: true })
  })

  it('are of the steps that held where they are a slope, and of every reading where they are a peak', () => {
    expect(growth.bytesPerSidecar).toBeCloseTo(100e3)
    expect(growth.controlAnonBytes).toEqual({ empty: 10e6, peak: 95e6 })
    expect(growth.controlPeakCores).toBeCloseTo(0.8)
  })

  it('are the rows of the table of quantities', () => {
    const record = { ...createRecord({}), growth }
    const of = (/** @type {string} */ name) => QUANTITIES[name].measure({ record })
    expect([of('grownSidecars'), of('grownStepSeconds'), of('grownPeak')]).toEqual([60, 0.4, 95e6])
    expect(QUANTITIES.grownSidecars.measure({ record: createRecord({}) })).toBeNull()
  })

  it('say that there was no control plane, and that no step held', () => {
    const none = computeGrowthNumbers({ ...SEEN, control: null, steps: [step(1, { anonBytes: 1, isLate: true })] })
    expect(none).toMatchObject({ hasControl: false, sidecars: 0, bytesPerSidecar: null, controlPeakCores: null })
  })
})

describe('the ending of a growth', () => {
  it('blames the machine for its own, and says no more of no failure than how far it went', () => {
    expect(renderGrowthEnding(null, 480)).toBe('no failure up to 480 sidecars, the most that were tried')
    expect(renderGrowthEnding('oom', 260)).toBe('failed at 260 sidecars: oom')
    expect(renderGrowthEnding('host-memory', 380)).toMatch(
      'no failure of the control plane up to 380 sidecars, where the machine',
    )
    expect(countSidecarsAtEnding({ sidecars: 240, failedAt: 260, reason: 'oom' })).toBe(260)
    expect(countSidecarsAtEnding({ sidecars: 240, failedAt: 260, reason: 'host-cpu' })).toBe(240)
  })

  it('is printed for all rounds, those that ended alike together', () => {
    const round = (/** @type {number} */ sidecars, /** @type {'oom' | null} */ reason) => ({
      ...{ round: 1, sidecars, failedAt: reason && sidecars + 20, reason, why: null },
    })
    const rounds = [round(240, 'oom'), round(260, 'oom'), round(480, null)]
    expect(renderGrowthEndings({ rounds, hasControl: true })).toBe(
      'failed at 260 to 280 sidecars: oom (2 of 3 repeats); no failure up to 480 sidecars, the most that were tried (1 of 3 repeats)',
    )
    expect(renderGrowthEndings({ rounds: rounds.slice(2), hasControl: false })).toMatch('; no control plane ran')
  })

  it('is of the machine if less than 5 % of it was idle', () => {
    expect(isHostCpuUsedUp({ start: host(0, 0), end: host(4, 100) })).toBe(true)
    expect(isHostCpuUsedUp({ start: host(0, 0), end: host(6, 100) })).toBe(false)
  })
})
