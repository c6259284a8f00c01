import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { wrk } from '../../../src/loads/wrk/index.js'
import { createRequestKind } from '../../../src/model/requests.js'
import { createArm } from '../../fakes/fake-records.js'

/** @import { Arm, LoadOptions, LoadResult } from '../../../src/model/types.ts' */

const log = readFileSync('test/fixtures/wrk-4.1.0-log.txt', 'utf8')
const parse = (/** @type {string} */ printed) => /** @type {LoadResult} */ (wrk.parseResult(printed))

describe('what wrk 4.1.0 leaves', () => {
  it('is the sum of what its threads counted', () => {
    expect(parse(log)).toMatchObject({
      ...{ verified: 465, verifiedInSecondHalf: 237, failed: 2, corrupted: 0, coldUsers: 0, reportedUsers: 6 },
      ...{ dropped: 0, lagP99Ms: null, series: null, failures: ['status 503, 0 bytes', 'status 200, 1 bytes'] },
    })
  })

  it('has response times of the window alone, with their mean and a grid that rises to p99.99', () => {
    const { count, meanMs, grid = [] } = parse(log).distribution ?? {}
    expect(count).toBe(465)
    expect(meanMs).toBeCloseTo((1497.783 + 1492.72) / 465, 9)
    expect(grid.map(([q]) => q)).toEqual(expect.arrayContaining([0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]))
    for (let i = 1; i < grid.length; i++) expect(grid[i][1]).toBeGreaterThanOrEqual(grid[i - 1][1])
    // The classes counted by hand.
    const times = log
      .split('\n')
      .flatMap(line => (line.startsWith('{') ? JSON.parse(line).classes : []))
      .flatMap(([micros, n]) => Array(n).fill(micros / 1000))
      .sort((a, b) => a - b)
    expect(grid[0][1]).toBe(times[0])
    expect(grid.find(([q]) => q === 0.5)?.[1]).toBe(times[232])
    expect(grid.find(([q]) => q === 0.99)?.[1]).toBe(times[460])
    expect(grid.at(-1)?.[1]).toBe(times[464])
  })

  it('counts users that were cold or hung', () => {
    const other = log.replace('"warmUsers":3', '"warmUsers":2').replace('"restedUsers":3', '"restedUsers":1')
    expect(parse(other)).toMatchObject({ coldUsers: 1, reportedUsers: 4 })
  })

  it('reads the service times of all threads, and by how much the application was late', () => {
    const late = ['[[0.05,2],[0.5,1]]', '[[0.1,1],[9.95,1]]']
    let nth = 0
    const timed = log.replaceAll(
      /,"classes"/g,
      () => `,"waited":{"count":${3 - nth},"sumMs":60,"late":${late[nth++]}},"classes"`,
    )
    expect(parse(timed).waited).toEqual({ count: 5, meanMs: 24, lateP50Ms: 0.1, lateP99Ms: 9.95 })
    expect(parse(log)).not.toHaveProperty('waited')
    const cut = log.replace(/,"classes"/, ',"waited":{"count":1,"sumMs":60,"late":[]},"classes"')
    expect(() => parse(cut)).toThrow('the result of the load is damaged: it has service times, and no delays')
  })

  it('says when the window is', () => {
    expect(wrk.parseWindow(log)).toEqual({ startMs: 1795334052783, endMs: 1795334053283 })
    expect(wrk.parseWindow('')).toBeNull()
  })

  it('is no result if it was ended before', () => {
    expect(wrk.parseResult('window 1 2\nRunning 25s test @ http://127.0.0.1:8080/\n')).toBeNull()
    // It has the result of one arm.
    expect(wrk.parseResult(log, 1)).toBeNull()
  })

  it('is damaged if a line is cut off, a number is invalid, or a thread is missing', () => {
    expect(() => parse(log.slice(0, -200))).toThrow(/^line 12: the result of the load is damaged: /)
    expect(() => parse(log.replace('"corrupted":0', '"corrupted":"0"'))).toThrow('line 11: ')
    expect(() => parse(log.slice(0, log.lastIndexOf('{"right"')))).toThrow('1 of 2 threads are in it')
  })
})

describe('createGenerator', () => {
  const { load } = createArm({})
  /** @type {LoadOptions & { tool: any, scripts: string }} */
  const options = {
    ...{ urls: ['http://127.0.0.1:15003/'], certificate: null, host: 'ratings', tailMs: 1000, admin: null, cpus: 4 },
    ...{ folder: '/f', tool: { path: '/usr/bin/wrk' }, scripts: '/kit/bench/wrk' },
    load: { ...load, kind: 'closed', users: 50, payloadBytes: 1024, warmupSeconds: 1.5, windowSeconds: 3.5 },
  }

  it('gives each thread as many users, and counts the CPUs that they can use', () => {
    const { argv } = wrk.createGenerator(options)
    expect(argv).toEqual([
      ...['--threads=2', '--connections=50', '--duration=26s', '--script=/kit/bench/wrk/closed-loop.lua'],
      ...['--header=Host: ratings', 'http://127.0.0.1:15003/', '--'],
      ...['users=25', 'threads=2', 'payloadBytes=1024', 'warmupMs=1500', 'windowMs=3500', 'tailMs=1000'],
    ])
    expect(wrk.createGenerator(options).env).toEqual({})
    expect(wrk.countCpus({ cpus: 4, users: 50 })).toBe(2)
    expect(wrk.countCpus({ cpus: 5, users: 50 })).toBe(5)
    expect(wrk.countCpus({ cpus: 8, users: 7 })).toBe(7)
    expect(wrk.countCpus({ cpus: 1, users: 50 })).toBe(1)
  })
})

it('gives the script the port of every interleaved arm, also that of plain HTTP', () => {
  const { load } = createArm({ load: /** @type {any} */ ({ kind: 'interleaved', sliceMs: 20, users: 1 }) })
  const arms = [80, 15003].map(port => ({ urls: [`http://127.0.0.1:${port}/`], load }))
  const { env } = wrk.createGenerator(
    /** @type {any} */ ({ arms, load, urls: arms[0].urls, tool: {}, cpus: 1, tailMs: 0, scripts: '/s', folder: '/f' }),
  )
  expect(env?.ARMS).toBe('127.0.0.1:80,127.0.0.1:15003')
})

it('describes a request that is answered to the script', () => {
  const requests = [
    createRequestKind({ method: 'PUT', requestBytes: 5, responseBytes: 14336, requestHeaderBytes: 100 }, 1024),
  ]
  const load = { ...createArm({}).load, payloadBytes: undefined, requests }
  const { argv, env } = wrk.createGenerator(
    /** @type {any} */ ({
      urls: ['http://127.0.0.1:1/'],
      load,
      tool: {},
      cpus: 1,
      tailMs: 0,
      scripts: '/s',
      folder: '/f',
    }),
  )
  expect(argv).toContain('payloadBytes=14336')
  expect(env).toEqual({
    ...{ METHODS: 'PUT', PATHS: '/', REQUEST_BYTES: '5' },
    HEADERS: `x-h0=${'v'.repeat(92)}`,
  })
})

describe('findUnsupported', () => {
  const arm = createArm({ load: /** @type {any} */ ({ kind: 'closed', ratePerSecond: undefined }) })
  const find = (/** @type {Partial<Arm['load']>} */ load, conditions = {}) =>
    wrk.findUnsupported({ load: { ...arm.load, ...load }, conditions: { ...arm.conditions, ...conditions } })

  it('says what wrk cannot do', () => {
    expect(find({})).toBeNull()
    expect(find({ kind: 'open' })).toContain('no arrival rate')
    expect(find({ hasCertificate: true })).toContain('no client certificate')
    expect(find({ connections: 'new' })).toContain('connects anew')
    expect(find({ payloadBytes: 10 })).toContain('this load has 10')
    expect(find({}, { services: 2 })).toContain('several addresses')
    const answered = (/** @type {any} */ options) => ({ requests: [createRequestKind(options, 1024)] })
    expect(find(answered({ responseBytes: 14336 }))).toBeNull()
    expect(find(answered({ responseBytes: 31 }))).toContain('wrk needs answers of 32 bytes to 1 MiB')
    expect(find(answered({ requestBytes: 2 ** 21 }))).toContain('this load sends 2097152 bytes')
    expect(find({ requests: [...answered({}).requests, ...answered({}).requests] })).toContain('wrk makes one')
  })
})
