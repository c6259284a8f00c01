import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { evaluateClaims, parseClaims } from '../../../src/analysis/claims/claims.js'
import { testGrowth } from '../../../src/analysis/claims/growth.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { FailureReason } from '../../../src/model/types.ts' */
/** @import { GrowthClaim } from '../../../src/analysis/claims/schema.js' */

const among = { plane: 'pipy', controlCpuLimitCores: 1.5, controlMemoryBytes: 2 ** 28 }
/** @type {GrowthClaim} */
const failing = { among, tolerance: 0.15, failsAt: 260, reason: 'oom' }

/**
 * A run of some rounds that all ended alike.
 * @param {{ sidecars?: number, failedAt?: number | null, reason?: FailureReason | null, rounds?: number,
 *   perSidecar?: number[], seconds?: Record<number, (number | null)[]>, conditions?: object }} ended
 */
function run({ sidecars = 480, failedAt = null, reason = null, rounds = 6, ...grown }) {
  const { perSidecar = [], seconds = {}, conditions = {} } = grown
  const { plane, ...limits } = among
  const growth = { grownBytesPerSidecar: summariseValues(perSidecar) }
  const arm = { plane, conditions: { ...limits, ...conditions }, fields: { id: 'arm', growth } }
  const fit = {
    ...{ plane, variant: null, profile: null, armId: 'arm', hasControl: true, sidecarsMost: 480, memory: null },
    rounds: Array.from({ length: rounds }, (_, i) => ({ round: i + 1, sidecars, failedAt, reason, why: null })),
    steps: Object.entries(seconds).map(([at, values]) => ({ sidecars: Number(at), seconds: summariseValues(values) })),
  }
  return createSummary([arm], { experiment: 'grow', growths: [fit] })
}

describe('a published limit', () => {
  it.each(
    /** @type {[Parameters<typeof run>[0], string, string][]} */ ([
      [{ sidecars: 240, failedAt: 260, reason: 'oom' }, 'reproduced', ''],
      [{ sidecars: 400, failedAt: 420, reason: 'oom' }, 'direction only', 'with another number of sidecars'],
      [{ sidecars: 240, failedAt: 260, reason: 'deadline' }, 'direction only', 'not by oom'],
      [{ sidecars: 480 }, 'contradicted', ''],
      [{ sidecars: 200 }, 'not testable here', 'fewer than the published 260'],
      [{ sidecars: 200, failedAt: 220, reason: 'host-memory' }, 'not testable here', 'the machine ended it'],
      [{ sidecars: 240, failedAt: 260, reason: 'oom', rounds: 1 }, 'not testable here', '1 rounds, 6 are needed'],
    ]),
  )('against %j is %s', (ended, status, reason) => {
    const answer = testGrowth(failing, run(ended))
    expect(answer.status).toBe(status)
    expect(answer.reason).toMatch(reason)
  })

  it('where nothing fails is held against how far it went, and never against a multiple', () => {
    expect(testGrowth(failing, run({})).ours).toBe(
      'no failure up to 480 sidecars, the most that were tried (6 of 6 repeats)',
    )
  })

  it('is not tested by other limits, nor by a run without them', () => {
    const other = testGrowth(failing, run({ conditions: { controlMemoryBytes: 2 ** 29 } }))
    expect(other).toMatchObject({ status: 'not testable here', ours: null })
    expect(other.reason).toMatch('no arm here is pipy, control plane at 1.5 cores, control plane with 256 MiB')
    const few = { ...run({}), results: [], notMeasured: [{ plane: 'pipy', reason: 'this machine has 2 CPUs' }] }
    expect(testGrowth(failing, few).reason).toMatch('this machine has 2 CPUs')
  })
})

describe('a published size', () => {
  const claim = { among, tolerance: 0.15, quantity: 'grownPerSidecar', value: 787e3 }
  it.each(
    /** @type {[number[], string, string][]} */ ([
      [Array(6).fill(800e3), 'reproduced', ''],
      [Array(6).fill(96e3), 'direction only', 'rises with the sidecars, outside of the tolerance'],
      [[-1e3, -1e3, 1e3, 1e3, 1e3, 1e3], 'contradicted', 'does not rise'],
    ]),
  )('of a slope of %j is %s', (perSidecar, status, reason) => {
    const answer = testGrowth(claim, run({ perSidecar }))
    expect([answer.status, answer.reason]).toEqual([status, expect.stringMatching(reason)])
    expect(answer.ours).toMatch('control kB a sidecar')
  })

  it('has no direction if it is no slope', () => {
    const cores = testGrowth({ among, tolerance: 0.15, quantity: 'grownPeakCores', value: 2.7 }, run({}))
    expect(cores).toMatchObject({ status: 'not testable here', reason: 'not measured: too few steps held' })
  })
})

describe('published times', () => {
  const steps = [
    { sidecars: 200, leastSeconds: 20, mostSeconds: 40 },
    { sidecars: 400, leastSeconds: 90, mostSeconds: 150 },
  ]
  const six = (/** @type {number} */ value) => Array(6).fill(value)
  it.each(
    /** @type {[Record<number, (number | null)[]>, string][]} */ ([
      [{ 200: six(30), 400: six(100) }, 'reproduced'],
      [{ 200: six(0.8), 400: six(1.1) }, 'direction only'],
      [{ 200: six(1.1), 400: six(0.8) }, 'contradicted'],
      [{ 200: six(1), 400: [0.9, 1.1, 0.9, 1.1, 0.9, 1.1] }, 'not testable here'],
      [{ 200: six(1) }, 'not testable here'],
      // The first step was not taken in the last round, which then has no rise.
      [{ 200: [...six(1.1), null], 400: [...six(0.8), 9] }, 'contradicted'],
    ]),
  )('against %j are %s', (seconds, status) => {
    expect(testGrowth({ among, tolerance: 0.15, steps }, run({ seconds })).status).toBe(status)
  })
})

it('every claim of grow has an answer from a run, and none is that there is no experiment', () => {
  const file = parseClaims(readFileSync('bench/claims/grow.yaml', 'utf8'), 'grow.yaml', { experiments: ['grow'] })
  const results = evaluateClaims({ files: [file], summaries: [run({ perSidecar: Array(6).fill(96e3) })] })
  expect(results.map(({ id, status }) => [id, status])).toEqual([
    ['grow-256-mb', 'contradicted'],
    ['grow-256-mb-per-pod', 'direction only'],
    ['grow-512-mb', 'not testable here'],
    ['grow-512-mb-per-pod', 'not testable here'],
    ['grow-512-mb-4-cpu', 'not testable here'],
    ['grow-512-mb-4-cpu-per-pod', 'not testable here'],
    ['grow-512-mb-4-cpu-peak', 'not testable here'],
    ['grow-convergence', 'not testable here'],
  ])
  for (const { reason } of results) expect(reason).not.toMatch('no such experiment')
})
