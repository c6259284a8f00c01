import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { k6 } from '../../src/loads/k6/index.js'
import { mergeDistributions } from '../../src/loads/k6/summary.js'

/**
 * @import { LoadResult } from '../../src/types.ts'
 */

const text = readFileSync('test/fixtures/k6-1.1.0-summary.json', 'utf8')
const messages = readFileSync('test/fixtures/k6-1.1.0-log.txt', 'utf8')
const log = `${messages}\n${text.trim()}\n`
const parse = (/** @type {string} */ printed) => /** @type {LoadResult} */ (k6.parseResult(printed))

describe('what k6 1.1.0 leaves', () => {
  const result = parse(log)

  it('is read whole', () => {
    const values = JSON.parse(text).metrics['http_req_duration{window:yes}'].values
    expect(result).toMatchObject({
      verified: values.count,
      failed: 0,
      corrupted: 0,
      coldUsers: 0,
      reportedUsers: 3,
      failures: [],
    })
    expect(result.verifiedInSecondHalf).toBeGreaterThan(0.3 * values.count)
    expect(result.distribution).toMatchObject({ count: values.count, meanMs: values.avg })
  })

  it('has a grid of quantiles that rises, to p99.99', () => {
    const grid = result.distribution?.grid ?? []
    expect(grid.length).toBeGreaterThan(110)
    expect(grid.at(-1)?.[0]).toBeCloseTo(0.9999, 9)
    for (let i = 1; i < grid.length; i++) expect(grid[i][1]).toBeGreaterThanOrEqual(grid[i - 1][1])
  })

  it('is read alike where the numbers stand beside name and type', () => {
    const flat = Object.fromEntries(
      Object.entries(JSON.parse(text).metrics).map(([name, metric]) => [
        name,
        { name, type: metric?.type, ...metric?.values },
      ]),
    )
    expect(parse(`${messages}\n${JSON.stringify({ metrics: flat })}`)).toEqual(result)
  })

  it('says when the window is', () => {
    const window = k6.parseWindow(log)
    expect(Number(window?.endMs) - Number(window?.startMs)).toBe(500)
    expect(k6.parseWindow('')).toBeNull()
  })

  it('takes failures out of the requests, those too that only k6 saw', () => {
    const data = JSON.parse(text)
    const { metrics } = data
    metrics.window_failed.values.count = 4
    metrics.known_failures.values.count = 5
    metrics.http_req_failed.values.passes = 7
    const spoiled = parse(`level=error msg="status 503, 12 bytes" source=console\n${JSON.stringify(data)}\n`)
    expect(spoiled).toMatchObject({ failed: 6, verified: result.verified - 6, failures: ['status 503, 12 bytes'] })
  })

  it('is nothing where k6 was killed before it printed its result', () => expect(k6.parseResult(messages)).toBeNull())

  it('is added up over several generators', () => {
    const twice = k6.mergeResults([result, result])
    expect(twice).toMatchObject({ verified: 2 * result.verified, reportedUsers: 6, lagP99Ms: null })
    expect(twice.distribution?.count).toBe(2 * Number(result.distribution?.count))
    for (const [i, [quantile, ms]] of (twice.distribution?.grid ?? []).entries()) {
      expect(quantile).toBe(result.distribution?.grid[i][0])
      expect(ms).toBeCloseTo(Number(result.distribution?.grid[i][1]), 9)
    }
  })
})

describe('mergeDistributions', () => {
  const even = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ count) => ({
    ...{ count, meanMs: (from + to) / 2 },
    grid: Array.from(
      { length: 101 },
      (_, i) => /** @type {[number, number]} */ ([i / 100, from + (i / 100) * (to - from)]),
    ),
  })

  it('gives the quantiles of everything together, which no mean of quantiles is', () => {
    // Uniform on 0..10 and on 10..110, as many of each: by hand, p50 is 10, p75 60, p90 90.
    const merged = mergeDistributions([even(0, 10, 1000), even(10, 110, 1000)])
    const at = (/** @type {number} */ q) => merged?.grid.find(([quantile]) => Math.abs(quantile - q) < 1e-9)?.[1]
    expect([at(0.25), at(0.5), at(0.75), at(0.9)]).toEqual([5, 10, 60, 90].map(ms => expect.closeTo(ms, 9)))
    expect(merged).toMatchObject({ count: 2000, meanMs: 32.5 })
  })

  it('weighs each by its count', () => {
    // 90 % uniform on 0..10, 10 % at 100..110: p99 lies in the middle of the slow tenth's last tenth.
    const merged = mergeDistributions([even(0, 10, 900), even(100, 110, 100)])
    expect(merged?.grid.find(([q]) => q === 0.99)?.[1]).toBeCloseTo(109, 9)
    expect(merged?.grid.find(([q]) => q === 0.45)?.[1]).toBeCloseTo(5, 9)
  })
})
