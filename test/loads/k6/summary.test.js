import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { k6 } from '../../../src/loads/k6/index.js'
import { createRequestKind } from '../../../src/model/requests.js'
import { createArm } from '../../fakes/fake-records.js'

/** @import { Load, LoadOptions, LoadResult } from '../../../src/model/types.ts' */

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

  it('is read alike if the numbers stand beside name and type', () => {
    const flat = Object.fromEntries(
      Object.entries(JSON.parse(text).metrics).map(([name, metric]) => [
        name,
        { name, type: metric?.type, ...metric?.values },
      ]),
    )
    expect(parse(`${messages}\n${JSON.stringify({ metrics: flat })}`)).toEqual(result)
  })

  it('has the times of calls in the place of those of requests', () => {
    const { metrics } = JSON.parse(text)
    const { 'http_req_duration{window:yes}': times, http_req_failed, http_reqs, ...others } = metrics
    const called = parse(
      `${messages}\n${JSON.stringify({ metrics: { ...others, 'grpc_req_duration{window:yes}': times } })}`,
    )
    expect(called).toMatchObject({ verified: result.verified, failed: 0, distribution: result.distribution })
  })

  it.each([
    ['an even number', 1000, 0.5],
    ['an odd number', 1001, 0.5],
    ['many', 123_456, 0.5],
    ['few', 21, 0.905],
    ['a tail', 40_000, 0.9895],
  ])('has as a quantile a time that a request took: %s', (_, count, fastShare) => {
    const times = Array.from({ length: count }, (_, i) => (i < fastShare * count ? 1 + i / 1e5 : 100 + i / 1e5))
    // TrendSink.P of k6 1.1.0.
    const interpolate = (/** @type {number} */ percent) => {
      const rank = (percent / 100) * (count - 1)
      const [lower, upper] = [times[Math.floor(rank)], times[Math.ceil(rank)]]
      return lower + (upper - lower) * (rank - Math.floor(rank))
    }
    const names = [50, 90, 95, 99, 99.9].flatMap(q => [`${q}`, (q - 1e-7).toFixed(7)])
    const values = Object.fromEntries(names.map(name => [`p(${name})`, interpolate(Number(name))]))
    const { metrics } = JSON.parse(text)
    const times0 = { values: { count, avg: 1, ...values } }
    const printed = `${messages}\n${JSON.stringify({ metrics: { ...metrics, 'http_req_duration{window:yes}': times0 } })}`
    const grid = parse(printed).distribution?.grid ?? []
    expect(grid.map(([q]) => Number(q.toFixed(6)))).toEqual([0.5, 0.9, 0.95, 0.99, 0.999])
    for (const [q, ms] of grid) expect(ms).toBeCloseTo(times[Math.ceil(q * count) - 1], 3)
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
    // Three of the five had the status 200, which k6 takes for no failure.
    metrics.corrupted = { type: 'counter', contains: 'default', values: { count: 3, rate: 1 } }
    expect(parse(JSON.stringify(data))).toMatchObject({ failed: 4 + 7 - 2, corrupted: 3 })
  })

  it('is nothing if k6 was killed before it printed its result', () => expect(k6.parseResult(messages)).toBeNull())
})

describe('what k6 prints of a burst', () => {
  const withPieces = (/** @type {unknown[]} */ pieces) =>
    `${JSON.stringify({ ...JSON.parse(text), pieceMs: 500, pieces })}\n`

  it('is a series of pieces, each with when it begins', () => {
    const { series } = parse(
      withPieces([
        [50, 1, 2],
        [0, null, null],
        [250, 10, 99.5],
      ]),
    )
    expect(series).toEqual([
      { atSeconds: 0, seconds: 0.5, count: 50, p50Ms: 1, p99Ms: 2 },
      { atSeconds: 0.5, seconds: 0.5, count: 0, p50Ms: null, p99Ms: null },
      { atSeconds: 1, seconds: 0.5, count: 250, p50Ms: 10, p99Ms: 99.5 },
    ])
  })

  it('counts what was due in the window and in the burst, and what started in it', () => {
    const data = JSON.parse(text)
    Object.assign(data.metrics, {
      due: { count: 1500 },
      burst_due: { count: 500 },
      'http_req_duration{burst:yes}': { values: { count: 300, 'p(99)': 450 } },
      'window_failed{burst:yes}': { values: { count: 20 } },
    })
    expect(parse(`${JSON.stringify(data)}\n`)).toMatchObject({
      due: 1500,
      burst: { due: 500, verified: 280, failed: 20, p99Ms: 450 },
    })
    expect(parse(log)).not.toHaveProperty('due')
    expect(parse(log)).not.toHaveProperty('burst')
  })

  it('is null elsewhere', () => {
    expect(parse(withPieces([])).series).toBeNull()
    expect(parse(log).series).toBeNull()
  })
})

describe('how late k6 says that requests of the open loop started', () => {
  /** @param {Record<string, number> | null} lag @param {number} dropped */
  const late = (lag, dropped) => {
    const data = JSON.parse(text)
    Object.assign(data.metrics, lag ? { lag: { values: lag } } : {}, {
      dropped_iterations: { values: { count: dropped } },
    })
    return parse(`${JSON.stringify(data)}\n`)
  }

  it('is its p99', () => {
    expect(late({ 'p(0)': 1, 'p(99)': 4 }, 0)).toMatchObject({ lagP99Ms: 4, dropped: 0, reportedUsers: null })
  })

  it('is, after a drop, more than the least: all later ones seem late by as much', () => {
    expect(late({ 'p(0)': 100, 'p(99)': 104 }, 7)).toMatchObject({ lagP99Ms: 4, dropped: 7 })
  })

  it('is as it is where the least was early', () => {
    expect(late({ 'p(0)': -3, 'p(99)': 4 }, 7).lagP99Ms).toBe(4)
  })

  it('is not known in the closed loop', () => expect(late(null, 0).lagP99Ms).toBeNull())
})

describe('times with new connections', () => {
  it('are those from the start of the connection on, if there are any', () => {
    const data = JSON.parse(text)
    const { count } = data.metrics['http_req_duration{window:yes}'].values
    data.metrics['with_connection{window:yes}'] = { values: { count, avg: 7, 'p(50)': 6, 'p(99)': 9 } }
    const { distribution } = parse(`${JSON.stringify(data)}\n`)
    expect(distribution).toMatchObject({ count, meanMs: 7 })
    expect(distribution?.grid.find(([q]) => q === 0.99)?.[1]).toBe(9)
  })
})

it('is, with service times, also what the application says of them', () => {
  const { metrics } = JSON.parse(text)
  const waited_0 = { values: { count: 4, avg: 30 } }
  const late_0 = { values: { count: 4, avg: 1, 'p(50)': 0.4, 'p(99)': 2 } }
  const timed = parse(`${messages}\n${JSON.stringify({ metrics: { ...metrics, waited_0, late_0 } })}`)
  expect(timed.waited).toEqual({ count: 4, meanMs: 30, lateP50Ms: 0.4, lateP99Ms: 2 })
  expect(parse(log)).not.toHaveProperty('waited')
})

describe('what k6 is given', () => {
  /** @param {Partial<Load>} load @param {Partial<LoadOptions>} [fields] */
  const specOf = (load, fields = {}) =>
    k6.createGenerator({
      tool: { name: 'k6', path: '/k6', version: '1.1.0', sha256: '', source: '' },
      ...{
        scripts: '/s',
        folder: '/f',
        urls: ['http://a/'],
        certificate: null,
        host: 'h',
        tailMs: 1000,
        admin: null,
        cpus: 1,
      },
      ...{ load: createArm({ load }).load, ...fields },
    })
  const open = /** @type {const} */ ({ kind: 'open', users: 64, ratePerSecond: 300 })

  it('has a post-quantum group if sidecars prefer one, and else none', () => {
    const certificate = { certificatePath: '/c', keyPath: '/k' }
    const debugOf = (/** @type {Partial<LoadOptions>} */ fields) => specOf({}, fields).env.GODEBUG
    expect(debugOf({ certificate, tls: 'ecdsa-p256+x25519mlkem768' })).toBe('tlsmlkem=1')
    expect(debugOf({ certificate, tls: 'ecdsa-p256' })).toBe('tlsmlkem=0')
    expect(debugOf({ tls: 'ecdsa-p256+x25519mlkem768' })).toBeUndefined()
  })

  it('says when a burst is, and asks for pieces of half a second', () => {
    const { argv } = specOf({ ...open, burst: { factor: 5, beginsSeconds: 2, seconds: 1.5 } })
    expect(argv).toEqual(
      expect.arrayContaining(
        ['BURST_FACTOR=5', 'BURST_BEGINS_MS=2000', 'BURST_MS=1500', 'PIECE_MS=500', 'RATE=300'].map(
          variable => `--env=${variable}`,
        ),
      ),
    )
    expect(argv.at(-1)).toBe('/s/open-loop.js')
  })

  it('names the rate of a loud pair, and counts its requests apart', () => {
    expect(specOf({ ...open, loudPerSecond: 900 }).argv).toEqual(
      expect.arrayContaining(['--env=RATE=300', '--env=LOUD_RATE=900']),
    )
    expect(specOf(open).argv.join()).not.toContain('LOUD')
    const data = JSON.parse(text)
    const { verified } = parse(log)
    Object.assign(data.metrics, { loud_due: { count: 900 }, loud_verified: { values: { count: 880 } } })
    Object.assign(data.metrics, { loud_failed: { values: { count: 12 } } })
    for (let i = 0; i < 11; i++) data.metrics[`quiet_${i}`] = { count: i }
    const failures = ['msg="status 502, no route"', 'msg="loud pair: status 503, overflow"']
    const printed = failures.map(failure => `level=error ${failure} source=console\n`).join('')
    expect(parse(`${printed}${JSON.stringify(data)}\n`)).toMatchObject({
      verified,
      failures: ['status 502, no route'],
      loud: {
        ...{ due: 900, verified: 880, failed: 12, failures: ['status 503, overflow'] },
        quiet: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      },
    })
    expect(parse(log)).not.toHaveProperty('loud')
  })

  it('has no burst if there is none', () => {
    const { argv } = specOf(open)
    expect(argv.filter(arg => arg.includes('BURST'))).toEqual([])
    expect(argv).toContain('--env=PIECE_MS=0')
    expect(specOf({}).argv.some(arg => arg.startsWith('--env=RATE='))).toBe(false)
  })

  it('is each kind of request that is answered, and the largest body', () => {
    const requests = [
      createRequestKind({ responseBytes: 14336, requestHeaderBytes: 20, serviceTime: '30ms' }, 1024),
      { ...createRequestKind({ method: 'PUT', requestBytes: 20000 }, 1024), path: '/carts', weight: 3 },
    ]
    const { argv } = specOf({ ...open, payloadBytes: undefined, requests })
    expect(argv).toContain('--env=PAYLOAD_BYTES=20000')
    const argument = argv.find(arg => arg.startsWith('--env=REQUESTS='))?.slice('--env=REQUESTS='.length)
    expect(JSON.parse(argument ?? '')).toEqual([
      [
        {
          ...{ weight: 1, method: 'GET', path: '/', requestBytes: 0, responseBytes: 14336, isTimed: true },
          headers: { 'x-h0': 'v'.repeat(12) },
        },
        {
          ...{ weight: 3, method: 'PUT', path: '/carts', requestBytes: 20000, responseBytes: 1024, isTimed: false },
          headers: {},
        },
      ],
    ])
    expect(specOf(open).argv.some(arg => arg.includes('REQUESTS'))).toBe(false)
  })

  it('is a certificate and its key if it speaks mTLS, and no other credentials', () => {
    const certificate = { certificatePath: '/c/load.pem', keyPath: '/c/load-key.pem' }
    const { argv, credentials } = specOf({}, { certificate })
    expect(argv).toEqual(expect.arrayContaining(['--env=CERTIFICATE=/c/load.pem', '--env=KEY=/c/load-key.pem']))
    expect(credentials).toEqual(['/c/load.pem', '/c/load-key.pem'])
    expect(specOf({}).credentials).toEqual([])
    expect(specOf({}).argv.some(arg => arg.includes('CERTIFICATE'))).toBe(false)
  })

  it('is all addresses, whether connections are kept, and whole milliseconds', () => {
    const { argv } = specOf({ connections: 'new', warmupSeconds: 2.8801, windowSeconds: 10.5 }, { urls: ['a', 'b'] })
    expect(argv).toEqual(
      expect.arrayContaining([
        '--env=URLS=a,b',
        '--env=CONNECTIONS=new',
        '--env=WARMUP_MS=2880',
        '--env=WINDOW_MS=10500',
      ]),
    )
  })
})
