import { describe, expect, it } from 'vitest'
import { findBound, findInvalidities, isSteady } from '../src/gates.js'

/**
 * @param {Partial<import('../src/types.ts').ProcessRecord>} fields
 * @returns {import('../src/types.ts').ProcessRecord}
 */
const process = fields => ({
  service: 'gateway',
  role: 'sidecar',
  command: [],
  capCores: 0.25,
  capReadBackCores: 0.25,
  workers: 1,
  cpuSeconds: 0.4,
  cpuCores: 0.1,
  throttledFraction: 0,
  throttledSeconds: 0,
  oomKills: 0,
  busiestThreadCores: 0.1,
  threads: [],
  memory: { anonBytes: 1, rssBytes: 1, workingSetBytes: 1, pssBytes: 1, peakBytes: 1, idleRssBytes: 1 },
  ...fields,
})
const bound = (/** @type {any[]} */ processes, idleFraction = 0.5) =>
  findBound({ processes, generatorCpus: 1, idleFraction })

describe('findBound', () => {
  const application = process({ role: 'application', capCores: null, busiestThreadCores: 0.95 })
  const generator = process({ role: 'generator', capCores: null, cpuCores: 0.9 })

  it('is the sidecar from 95 % of its cap on, whatever else is busy', () => {
    expect(bound([process({ cpuCores: 0.2375 }), application, generator], 0.01)).toBe('sidecar')
    expect(bound([process({ cpuCores: 0.237 })])).toBe('users')
  })

  it('is a worker thread that fills a core', () => {
    expect(bound([process({ capCores: 2, cpuCores: 1.2, busiestThreadCores: 0.96 })])).toBe('worker')
  })

  it('is the application before the generator, and the generator before the host', () => {
    expect(bound([process({}), application, generator], 0.01)).toBe('application')
    expect(bound([process({}), generator], 0.01)).toBe('generator')
    expect(bound([process({})], 0.01)).toBe('host')
  })

  it('is a generator that was throttled', () => {
    expect(bound([process({ role: 'generator', capCores: null, cpuCores: 0.1, throttledFraction: 0.1 })])).toBe(
      'generator',
    )
  })

  it('is the number of users where nothing is saturated', () => {
    expect(bound([process({})])).toBe('users')
  })
})

const load = {
  verified: 1000,
  failed: 0,
  corrupted: 0,
  verifiedInSecondHalf: 500,
  coldUsers: 0,
  reportedUsers: 50,
  distribution: null,
  failures: [],
}

describe('isSteady', () => {
  it('allows halves that differ by 20 %', () => {
    expect(isSteady({ ...load, verifiedInSecondHalf: 550 })).toBe(true)
    expect(isSteady({ ...load, verifiedInSecondHalf: 551 })).toBe(false)
    expect(isSteady({ ...load, verifiedInSecondHalf: 449 })).toBe(false)
  })
})

describe('findInvalidities', () => {
  it('finds nothing wrong with a good trial', () => {
    expect(findInvalidities({ load: { ...load, failed: 1 }, users: 50, processes: [process({})] })).toEqual([])
  })

  it.each([
    [
      'more than one failure in a thousand',
      { load: { ...load, failed: 2, failures: ['status 503'] } },
      '2 requests failed (0.20 %, at most 0.1 %): status 503',
    ],
    ['one wrong body', { load: { ...load, corrupted: 1 } }, '1 answers came back with a wrong body or nonce'],
    ['users that were cold', { load: { ...load, coldUsers: 3 } }, '3 users had not done three requests'],
    ['users that hung', { load: { ...load, reportedUsers: 48 } }, '2 of 50 users never came through the window'],
    ['nothing answered', { load: { ...load, verified: 0 } }, 'no request was answered rightly'],
    ['a cap that was not in force', { processes: [process({ capReadBackCores: null })] }, 'the kernel says no quota'],
    ['another cap', { processes: [process({ capReadBackCores: 0.5 })] }, 'the kernel says 0.5'],
    ['a process killed for memory', { processes: [process({ oomKills: 1 })] }, 'the kernel killed 1 processes'],
  ])('finds %s', (_, trial, words) => {
    expect(findInvalidities({ load, users: 50, processes: [], ...trial }).join()).toContain(words)
  })
})
