import { describe, expect, it } from 'vitest'
import { summariseGrowths } from '../../src/kinds/growth/sections.js'
import { computeControlNeeds } from '../../src/kinds/rollout/needs.js'
import { renderFindings } from '../../src/kinds/sections.js'
import { createAnswer } from '../../src/report/answer/answer.js'
import { createArm, createRecord } from '../fakes/fake-records.js'
import { createSummary } from '../fakes/fake-summary.js'

/** @import { FailureReason, TrialRecord } from '../../src/model/types.ts' */

const answerOf = (/** @type {import('../../src/model/types.ts').Summary} */ summary) =>
  createAnswer(summary).verdicts.join(' ')
const MB = 1e6
const ARM = { plane: 'pipy', conditions: { sidecars: 800 } }

/**
 * Steps of 20 that take 0.1 MB a sidecar above 10 MB, the last of which failed where a reason is given.
 * @param {number} round @param {number} steps @param {FailureReason | null} reason @returns {TrialRecord}
 */
function grown(round, steps, reason = null) {
  const held = Array.from({ length: steps }, (_, i) => ({
    ...{ sidecars: 20 * (i + 1), converged: 20, backendsSeen: 5, seconds: 0.5 + i / 100 },
    ...{ controlAnonBytes: 10 * MB + 2 * MB * (i + 1) + (i === 1 ? MB / 2 : 0), controlCpuSeconds: 0.1 },
    ...{ hostIdleFraction: 0.5, ownCores: 0.1 },
  }))
  const failing = { ...held[0], sidecars: 20 * (steps + 1), seconds: null, controlAnonBytes: 90 * MB }
  return createRecord({
    round,
    growth: {
      ...{ cpus: 2, sidecarsMost: 480, backends: 5, hasControl: true, sidecars: 20 * steps },
      ended: reason && { sidecars: 20 * (steps + 1), reason, why: `because\nof ${reason}` },
      steps: reason ? [...held, failing] : held,
      ...{ controlAnonBytes: { empty: 10 * MB, peak: 90 * MB }, controlPeakCores: 0.3, bytesPerSidecar: 1e5 },
    },
  })
}

describe('summariseGrowths', () => {
  const [fit] = summariseGrowths({ arms: [createArm({})], records: [grown(1, 8), grown(2, 6, 'oom')] })

  it('says how each round ended', () => {
    expect(fit.rounds).toEqual([
      { round: 1, sidecars: 160, failedAt: null, reason: null, why: null },
      { round: 2, sidecars: 120, failedAt: 140, reason: 'oom', why: 'because\nof oom' },
    ])
  })

  it('fits a robust line through the memory after each step that held, with its interval and residuals', () => {
    const { memory } = fit
    expect(memory).toMatchObject({ baseBytes: 10 * MB })
    expect(memory?.bytesPerSidecar).toBeCloseTo(1e5)
    expect(memory?.low).toBeLessThanOrEqual(1e5)
    expect(memory?.high).toBeGreaterThanOrEqual(1e5)
    expect(memory?.points.map(p => p.sidecars)).toEqual([20, 40, 60, 80, 100, 120, 140, 160])
    expect(memory?.points[1].residualBytes).toBeCloseTo(MB / 2)
  })

  it('takes the median of the rounds for a step', () => {
    expect(fit.steps[0]).toMatchObject({ sidecars: 20, seconds: { median: 0.5, values: [0.5, 0.5] } })
    expect(fit.steps.at(-1)?.seconds.values).toEqual([expect.closeTo(0.57), null])
  })

  it('fits no line through two points, and leaves out what did not grow', () => {
    expect(summariseGrowths({ arms: [createArm({})], records: [grown(1, 2)] })[0].memory).toBeNull()
    expect(summariseGrowths({ arms: [createArm({})], records: [createRecord({})] })).toEqual([])
  })

  it('is rendered as lines', () => {
    const arm = { plane: 'pipy', conditions: { sidecars: 480 }, fields: { id: fit.armId } }
    const summary = createSummary([arm], { growths: [fit] })
    expect(renderFindings(summary)).toEqual([
      'With more and more sidecars:',
      '  pipy: no failure up to 160 sidecars, the most that were tried (1 of 2 repeats); failed at 140 sidecars: oom (1 of 2 repeats)',
      '    oom: because',
      expect.stringMatching(
        /^ {4}memory of the control plane: 9\.5 MiB \+ 100\.0 kB a sidecar \[.*\], off by at most 0\.48 MiB$/,
      ),
      expect.stringMatching(/^ {6}20: 11\.4 \(\+0\.00\) {2}40: 13\.8 \(\+0\.48\)/),
      expect.stringMatching(/^ {4}seconds of a step: 20: 0\.50 {2}40: 0\.51/),
    ])
    expect(answerOf(summary)).toMatch('pipy: no failure up to 160 sidecars')
    expect(renderFindings(createSummary([]))).toEqual([])
  })
})

/** @param {number} sidecars @returns {TrialRecord} */
function rolledOut(sidecars) {
  const phase = /** @type {any} */ ({ seconds: 2, controlCpuSeconds: 0.01 + 0.002 * sidecars })
  const rollout = /** @type {any} */ ({ sidecars, first: phase, change: { ...phase, seconds: 1 } })
  const memory = { controlAnonBytes: { empty: MB, stable: MB, peak: MB }, controlPeakBytes: 2 * MB + 1e5 * sidecars }
  return createRecord({ arm: { id: `of-${sidecars}` }, rollout: { ...rollout, ...memory } })
}

describe('what the control plane of 800 sidecars needs', () => {
  it('is what the largest rollout took, by the line through all of them, with room', () => {
    const [need] = computeControlNeeds({ records: [400, 100, 200, 300, 800, 600].map(rolledOut), sidecars: 800 })
    expect(need).toMatchObject({ plane: 'pipy', sidecars: 800, measuredMost: 800 })
    expect(need.memory?.bytesPerSidecar).toBeCloseTo(1e5)
    expect(need.memory?.points.map(point => point.sidecars)).toEqual([100, 200, 300, 400, 600, 800])
    expect(need.changeCpu?.secondsPerSidecar).toBeCloseTo(0.002)
    expect(need.coresMost).toBeCloseTo(1.61)
    expect(need.limits?.cores).toBeCloseTo(1.5 * 1.61)
    expect(need.limits?.bytes).toBeCloseTo(1.25 * 82 * MB)
    const summary = createSummary([ARM], { controlNeeds: [need] })
    expect(answerOf(summary)).toBe(
      'pipy: the control plane of 800 sidecars needs 2415m CPU and 98Mi memory, with room; measured with 800 sidecars.',
    )
    expect(renderFindings(summary).join('\n')).toMatch(
      /CPU of a change of all: 2\.00 \[.*\] ms a sidecar, 1\.61 s of 800/,
    )
  })

  it('is extrapolated if the machine holds fewer, and then says so', () => {
    const controlNeeds = computeControlNeeds({ records: [100, 200, 300].map(rolledOut), sidecars: 800 })
    expect(controlNeeds[0].limits?.bytes).toBeCloseTo(1.25 * 82 * MB)
    const [head, memory] = renderFindings(createSummary([ARM], { controlNeeds }))
    expect(head).toMatch('(EXTRAPOLATED from at most 300)')
    expect(memory).toMatch('too few sizes for an interval')
  })

  it('is not computed from two rollouts', () => {
    const controlNeeds = computeControlNeeds({ records: [100, 200].map(rolledOut), sidecars: 800 })
    expect(controlNeeds[0].limits).toBeNull()
    expect(answerOf(createSummary([ARM], { controlNeeds }))).toMatch(
      'its memory was read for fewer than three numbers of sidecars',
    )
    const untimed = [100, 200, 300].map(rolledOut).map(record => {
      const { first, ...rollout } = /** @type {any} */ (record.rollout)
      return { ...record, rollout: { ...rollout, first: { ...first, controlCpuSeconds: null }, change: undefined } }
    })
    const needs = computeControlNeeds({ records: untimed, sidecars: 800 })
    expect(answerOf(createSummary([ARM], { controlNeeds: needs }))).toMatch(
      'no time and CPU time of a rollout were read',
    )
  })
})
