import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { renderTable } from '../../src/report/table.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'

/** @import { ProcessSpec } from '../../src/model/types.ts' */

describe('runPlan', () => {
  /** @type {string} */
  let folder
  beforeEach(() => {
    folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'run-test-')), 'run')
  })
  afterEach(() => rmSync(path.dirname(folder), { recursive: true, force: true }))

  it('measures every arm in every round, and sums exactly', async () => {
    const target = await createFakeTarget({ cores: spec => (spec.role === 'sidecar' ? 0.2 : 0.05) })
    const { summary, records } = await runFake({ folder, target })
    expect(records.map(r => r.outcome)).toEqual(Array(24).fill('completed'))
    expect(summary.arms.map(a => a.plane)).toEqual(['none', 'cheap', 'dear', 'cheap'])

    const [nothing, cheap] = summary.arms
    const rate = records[0].load.verified / records[0].window.seconds
    expect(cheap.throughputPerSecond).toEqual({ median: rate, low: rate, high: rate, values: Array(6).fill(rate) })
    expect(cheap.cpuPerRequestMicros.median).toBeCloseTo((0.4 / rate) * 1e6, 6)
    expect(cheap.sidecars.map(s => s.service)).toEqual(['gateway', 'ratings'])
    expect(cheap.sidecars[0].cpuPerRequestMicros.median).toBeCloseTo((0.2 / rate) * 1e6, 6)
    expect(cheap.sidecars[0].cpuOfCap.median).toBeCloseTo(0.8, 9)
    expect(cheap.sidecars[0].throttledFraction.median).toBe(0.5)
    expect(cheap.sidecars[0].memory.rssBytes.median).toBe(4e6)
    expect(cheap.responseTimeMs?.p99.median).toBeCloseTo(9.9, 9)
    expect(cheap.responseTimeMs?.p999.median).toBeNull()
    expect(nothing).toMatchObject({ capCores: null, sidecars: [], cpuPerRequestMicros: { median: null } })
    expect(target.running.size).toBe(0)
  })

  it('leaves a table that names what bound each arm', async () => {
    const target = await createFakeTarget({ cores: spec => (spec.role === 'sidecar' ? 0.25 : 0.05) })
    const { summary } = await runFake({ folder, target })
    const table = renderTable({ ...summary, notMeasured: [{ plane: 'envoy', reason: 'not here' }] })
    expect(table.match(/Not measured: envoy: not here/g)).toHaveLength(1)
    expect(table).toMatch(/cheap +0\.25 .* sidecar/)
    expect(table).toMatch(/none +- .* users/)
  })

  it('goes on when a sidecar dies in a window, and keeps why', async () => {
    const isDying = (/** @type {ProcessSpec} */ { role, folder }) => role === 'sidecar' && folder.includes('r2-')
    const target = await createFakeTarget({
      ending: (spec, isObserved) => (isObserved && isDying(spec) ? 'signal SIGSEGV' : null),
    })
    const { summary, records } = await runFake({ folder, target })
    const failed = records.filter(r => r.outcome === 'failed')
    expect(failed.map(r => [r.trial.round, r.trial.arm.plane]).sort()).toEqual([
      [2, 'cheap'],
      [2, 'cheap'],
      [2, 'dear'],
    ])
    expect(failed[0].reasons[0]).toMatch(/'s sidecar died under load with signal SIGSEGV; the end of its log: boom$/)
    expect(records).toHaveLength(24)
    const [sample] = readFileSync(`${folder}/raw/${failed[0].trial.id}/samples.jsonl`, 'utf8').split('\n')
    expect(Object.keys(JSON.parse(sample).processes)).toContain('gateway-sidecar')
    expect(summary.arms.flatMap(a => a.throughputPerSecond.values)).toContain(null)
    expect(target.running.size).toBe(0)
  })

  it('calls a trial invalid whose cap was not in force', async () => {
    const target = await createFakeTarget({
      capCores: spec => (spec.service === 'ratings' && spec.role === 'sidecar' ? null : spec.cpuCores),
    })
    const { summary, records } = await runFake({ folder, target })
    expect(records.filter(r => r.outcome === 'invalid')).toHaveLength(18)
    expect(records.find(r => r.outcome === 'invalid').reasons).toEqual([
      "cap: ratings's sidecar was to be capped at 0.25 cores, and the kernel says no quota",
    ])
    expect(summary.arms[1]).toMatchObject({
      trials: { completed: 0, failed: 0, invalid: 6 },
      throughputPerSecond: { median: null },
    })
  })

  it('runs an unsteady window again at the end of its round, keeps both, and takes its CPU per request from the first', async () => {
    let calls = 0
    const load = createFakeLoad({ results: () => (calls++ === 0 ? { verifiedInSecondHalf: 300, verified: 900 } : {}) })
    const { summary, records } = await runFake({ folder, target: await createFakeTarget(), load })
    expect(records).toHaveLength(25)
    const again = records.find(r => r.trial.repeats)
    expect(again.trial.id).toBe(`${again.trial.repeats}-again`)
    expect(records.indexOf(again)).toBe(4)
    const arm = summary.arms.find(a => a.id === again.trial.arm.id)
    expect(arm?.throughputPerSecond.values[0]).toBeCloseTo(1000 / again.window.seconds, 6)
  })

  it('gives an arm whose users were cold a longer warm-up from then on', async () => {
    let calls = 0
    const load = createFakeLoad({ results: () => (calls++ === 0 ? { coldUsers: 2 } : {}) })
    const { records } = await runFake({ folder, target: await createFakeTarget(), load })
    const { arm } = records[0].trial
    const warmups = records.filter(r => r.trial.arm.id === arm.id).map(r => r.trial.arm.load.warmupSeconds)
    expect(warmups).toEqual([arm.load.warmupSeconds, ...Array(6).fill(2 * arm.load.warmupSeconds)])
  })

  it('stops when it is aborted, keeps what was measured, and leaves nothing running', async () => {
    const target = await createFakeTarget()
    const abort = new AbortController()
    let calls = 0
    const load = createFakeLoad({
      results: () => {
        if (++calls === 5) abort.abort(new Error('interrupted'))
        return {}
      },
    })
    await expect(runFake({ folder, target, load, signal: abort.signal })).rejects.toThrow('interrupted')
    expect(readRun(folder).records.length).toBeGreaterThanOrEqual(4)
    expect(JSON.parse(readFileSync(`${folder}/summary.json`, 'utf8')).arms).toHaveLength(4)
    expect(target.running.size).toBe(0)
  })
})
