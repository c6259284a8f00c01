import { describe, expect, it } from 'vitest'
import { createSidecarSeries, thinSeries } from '../../src/report/series.js'
import { createRecord } from '../fakes/fake-records.js'

const record = createRecord({ window: { startMs: 1000, endMs: 2000, seconds: 1, startLateMs: 0, endLateMs: 0 } })

/** @param {[number, number | null, number | null, number | null, number][]} rows ms, CPU s, throttled periods, bytes, clock s */
const read = rows =>
  createSidecarSeries({
    record,
    samples: rows.map(([epochMs, cpuSeconds, throttledPeriods, anonBytes, atSeconds]) => ({
      epochMs,
      processes: {
        'gateway-sidecar': /** @type {any} */ ({ atSeconds, cpuSeconds, throttledPeriods, anonBytes }),
      },
    })),
  })

describe('createSidecarSeries', () => {
  it('gives cores between readings by their own clock, and seconds from the start of the window', () => {
    const [series] = read([
      [900, 1, 0, 100, 5],
      [1000, 1.05, 0, 200, 5.1],
      [1200, 1.25, 0, 300, 5.3],
    ])
    expect(series).toMatchObject({ service: 'gateway', cpuLimitCores: 0.25, throttled: [] })
    expect(series.cores.map(([s, v]) => [s, Number(v.toFixed(6))])).toEqual([
      [0, 0.5],
      [0.2, 1],
    ])
    expect(series.anonBytes).toEqual([
      [-0.1, 100],
      [0, 200],
      [0.2, 300],
    ])
  })

  it('takes the processes of its own arm from samples of all that stand side by side', () => {
    const processes = record.processes.map(process => ({ ...process, armId: 'b' }))
    const [at, later] = [1, 2].map(second => ({ atSeconds: second, throttledPeriods: 0, anonBytes: 7 * second }))
    const samples = [at, later].map((sample, i) => ({
      epochMs: 1000 * (i + 1),
      processes: /** @type {any} */ ({
        'a-gateway-sidecar': { ...sample, cpuSeconds: 0.9 * i },
        'b-gateway-sidecar': { ...sample, cpuSeconds: 0.1 * i },
      }),
    }))
    const [series] = createSidecarSeries({ record: { ...record, processes }, samples })
    expect(series.cores).toEqual([[1, 0.1]])
  })

  it('joins the times in which the quota was used up', () => {
    const [series] = read([
      [1000, 1, 0, 1, 1],
      [1100, 1, 1, 1, 1.1],
      [1200, 1, 2, 1, 1.2],
      [1300, 1, 2, 1, 1.3],
      [1400, 1, 3, 1, 1.4],
    ])
    expect(series.throttled).toEqual([
      [0, 0.2],
      [0.3, 0.4],
    ])
  })

  it('leaves out what was not read, and never takes it for 0', () => {
    const [series] = read([
      [1000, 1, null, null, 1],
      [1100, null, null, null, 1.1],
      [1200, 1.1, null, 7, 1.2],
    ])
    expect(series.cores.map(([s, v]) => [s, Number(v.toFixed(6))])).toEqual([[0.2, 0.5]])
    expect(series.anonBytes).toEqual([[0.2, 7]])
    expect(series.throttled).toEqual([])
  })

  it('is empty for a trial without a window', () => {
    expect(createSidecarSeries({ record: { ...record, window: null }, samples: [] })).toEqual([])
  })
})

/** @type {[number, number][]} */
const wave = Array.from({ length: 5000 }, (_, i) => [i, Math.sin(i / 7)])
wave[1234] = [1234, 99]
wave[4321] = [4321, -99]

describe('thinSeries', () => {
  it('leaves a short series as it is', () => {
    expect(thinSeries(wave.slice(0, 10), 10)).toEqual(wave.slice(0, 10))
  })

  it.each([4, 5, 50, 400])('gives at most %i points, and loses neither extreme, nor the ends', most => {
    const thinned = thinSeries(wave, most)
    expect(thinned.length).toBeLessThanOrEqual(most)
    expect(thinned.length).toBeGreaterThan(most / 2)
    expect(thinned).toContainEqual([1234, 99])
    expect(thinned).toContainEqual([4321, -99])
    expect([thinned[0], thinned.at(-1)]).toEqual([wave[0], wave.at(-1)])
  })

  it('keeps the order of time', () => {
    const times = thinSeries(wave, 300).map(([seconds]) => seconds)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})
