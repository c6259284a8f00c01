import { describe, expect, it } from 'vitest'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import { createRecord } from '../../fakes/fake-records.js'

/** @import { LoadPoint, LoadResult, TrialRecord } from '../../../src/model/types.ts' */

/**
 * Pieces of half a second at 100 requests/s; the burst is from 2 to 3 s.
 * @param {(number | null)[]} p99s milliseconds: four before, two in the burst, the rest after
 * @param {Record<number, number>} [counts] of some pieces; 50 in the others @returns {LoadPoint[]}
 */
const pieces = (p99s, counts = {}) =>
  p99s.map((p99Ms, i) => ({ atSeconds: i / 2, seconds: 0.5, count: counts[i] ?? 50, p50Ms: p99Ms, p99Ms }))
const SCHEDULED = /** @type {object | null} */ ({ factor: 5, beginsSeconds: 2, seconds: 1 })
const COUNTED = /** @type {LoadResult['burst'] | null} */ ({ due: 500, verified: 350, failed: 10, p99Ms: 900 })
/** @param {LoadPoint[] | null} series @param {{ burst?: typeof SCHEDULED, counted?: typeof COUNTED }} [fields] */
const recordOf = (series, { burst = SCHEDULED, counted = COUNTED } = {}) =>
  createRecord({
    arm: { load: { kind: 'open', ratePerSecond: 100, burst: /** @type {any} */ (burst) } },
    load: { series, dropped: 1000, ...(counted && { burst: counted }) },
  })
/** @param {LoadPoint[] | null} series @param {Parameters<typeof recordOf>[1]} [fields] */
const recover = (series, fields) => QUANTITIES.recoverySeconds.measure({ record: recordOf(series, fields) })
const BURST = [500, 900]

describe('recoverySeconds', () => {
  it('is the time from the end of the burst to the first piece that is answered as before', () => {
    // At most 2 × 12 ms: from 4.5 s on, 1.5 s after the end.
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 800, 200, 25, 24, 11, 10]))).toBe(1.5)
  })

  it('is 0 if nothing after the burst is worse than before', () => {
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 24, 10, 10]))).toBe(0)
  })

  // With 60 requests a piece its p99 is its slowest request.
  it('is not put off by a single late sample, and is by two in a row', () => {
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 10, 10, 25, 10, 10]))).toBe(0)
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 10, 10, 25, 25, 10, 25]))).toBe(2)
  })

  it('counts on to the last piece that is worse in runs from before bursts were counted', () => {
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 10, 10, 25, 10, 10]), { counted: null })).toBe(1.5)
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 10, 10, 200]), { counted: null })).toBeNull()
  })

  it('allows 5 ms more if twice would be less', () => {
    expect(recover(pieces([1, 1, 1, 1.5, ...BURST, 6, 6]))).toBe(0)
    expect(recover(pieces([1, 1, 1, 1.5, ...BURST, 6.1, 6]))).toBe(0.5)
  })

  it('counts a piece as worse in which less than 0.95 of what was due was sent', () => {
    const p99s = [10, 10, 10, 10, ...BURST, 10, 10, 10]
    expect(recover(pieces(p99s, { 6: 47, 7: 48 }))).toBe(0.5)
    expect(recover(pieces(p99s, { 6: 48 }))).toBe(0)
  })

  it('counts a piece as worse in which nothing was answered', () => {
    expect(recover(pieces([10, 10, 10, 10, ...BURST, null, 10]))).toBe(0.5)
  })

  // A median over rounds that left it out would be better than that of a plane that recovers late.
  it('is the rest of the window if it is never as before', () => {
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 10, 10, 200, 200]))).toBe(2)
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 500, 200, 200]))).toBe(1.5)
  })

  it('takes for before only pieces that ended when the burst began', () => {
    // The piece from 1.75 s reaches into the burst.
    const series = pieces([10, 10, 10, 10, ...BURST, 25, 10])
    series[3] = { ...series[3], atSeconds: 1.75, p99Ms: 100 }
    expect(recover(series)).toBe(0.5)
  })

  it('has no value without a burst, a series, or anything before the burst', () => {
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 10]), { burst: null })).toBeNull()
    expect(recover(null)).toBeNull()
    expect(recover(pieces([null, null, null, null, ...BURST, 10]))).toBeNull()
  })
})

describe('the quantities of a burst', () => {
  /** @param {string} name @param {TrialRecord} record */
  const measure = (name, record) => QUANTITIES[name].measure({ record })

  it('are what was due, served and dropped in it, and the p99 of what started', () => {
    const record = recordOf(null)
    const values = ['burstDue', 'burstServed', 'burstDropped', 'burstP99'].map(name => measure(name, record))
    expect(values).toEqual([500, 350, 140, 900])
  })

  it('show the plane that dropped more as the worse one, whatever its p99', () => {
    const [worse, better] = [
      { due: 7440, verified: 3690, failed: 0, p99Ms: 500 },
      { due: 7440, verified: 6540, failed: 0, p99Ms: 900 },
    ].map(counted => ({
      ...recordOf(null, { counted }),
      load: { .../** @type {any} */ (recordOf(null, { counted }).load), dropped: 4000 },
    }))
    expect([worse, better].map(record => measure('burstDropped', record))).toEqual([3750, 900])
  })

  it('have no value if nothing was counted', () => {
    const record = recordOf(null, { counted: null })
    for (const name of ['burstDue', 'burstServed', 'burstDropped', 'burstP99']) expect(measure(name, record)).toBeNull()
  })
})
