import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { k6 } from '../../src/loads/k6/index.js'

const text = readFileSync('test/fixtures/k6-1.1.0-summary.json', 'utf8')
const log = readFileSync('test/fixtures/k6-1.1.0-log.txt', 'utf8')

describe('what k6 1.1.0 leaves', () => {
  const result = k6.parseSummary(text, log)

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
    expect(k6.parseSummary(JSON.stringify({ metrics: flat }), log)).toEqual(result)
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
    const spoiled = k6.parseSummary(JSON.stringify(data), 'level=error msg="status 503, 12 bytes" source=console\n')
    expect(spoiled).toMatchObject({ failed: 6, verified: result.verified - 6, failures: ['status 503, 12 bytes'] })
  })
})
