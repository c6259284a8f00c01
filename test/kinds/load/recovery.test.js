import { describe, expect, it } from 'vitest'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import { createRecord } from '../../fakes/fake-records.js'

/** @import { LoadPoint } from '../../../src/model/types.ts' */

/**
 * Pieces of half a second at 100 requests/s; the burst is from 2 to 3 s.
 * @param {(number | null)[]} p99s milliseconds: four before, two in the burst, the rest after
 * @param {Record<number, number>} [counts] of some pieces; 50 in the others @returns {LoadPoint[]}
 */
const pieces = (p99s, counts = {}) =>
  p99s.map((p99Ms, i) => ({ atSeconds: i / 2, seconds: 0.5, count: counts[i] ?? 50, p50Ms: p99Ms, p99Ms }))
/** @param {LoadPoint[] | null} series */
const recover = (series, burst = /** @type {object | null} */ ({ factor: 5, beginsSeconds: 2, seconds: 1 })) =>
  QUANTITIES.recoverySeconds.measure({
    record: createRecord({
      arm: { load: { kind: 'open', ratePerSecond: 100, burst: /** @type {any} */ (burst) } },
      load: { series },
    }),
  })
const BURST = [500, 900]

describe('recoverySeconds', () => {
  it('is the time from the end of the burst to the first piece that is answered as before', () => {
    // At most 2 × 12 ms: from 4.5 s on, 1.5 s after the end.
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 800, 200, 25, 24, 11, 10]))).toBe(1.5)
  })

  it('is 0 where nothing after the burst is worse than before', () => {
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 24, 10, 10]))).toBe(0)
  })

  it('counts on to the last piece that is worse', () => {
    expect(recover(pieces([10, 12, 10, 11, ...BURST, 10, 10, 25, 10, 10]))).toBe(1.5)
  })

  it('allows 5 ms more where twice would be less', () => {
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

  it('has no value where it is never as before, up to the end of the window', () => {
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 10, 10, 200]))).toBeNull()
    expect(recover(pieces([10, 10, 10, 10, ...BURST]))).toBeNull()
  })

  it('takes for before only pieces that ended when the burst began', () => {
    // The piece from 1.75 s reaches into the burst.
    const series = pieces([10, 10, 10, 10, ...BURST, 25, 10])
    series[3] = { ...series[3], atSeconds: 1.75, p99Ms: 100 }
    expect(recover(series)).toBe(0.5)
  })

  it('has no value without a burst, a series, or anything before the burst', () => {
    expect(recover(pieces([10, 10, 10, 10, ...BURST, 10]), null)).toBeNull()
    expect(recover(null)).toBeNull()
    expect(recover(pieces([null, null, null, null, ...BURST, 10]))).toBeNull()
  })
})
