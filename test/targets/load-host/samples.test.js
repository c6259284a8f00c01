import { describe, expect, it } from 'vitest'
import { findNearestSample, interpolateReading, parseRemoteSample } from '../../../src/targets/load-host/samples.js'

// k6 1.1.0 on Linux 6.18, as run.sh prints it.
const LINE =
  '@ 29908.14|cpu  2212373 722183 476591 2246524 9527 0 73028 323975 0 0|4218 (k6 (x) y) S 4215 4218 4218 0 -1 4194304 150 0 0 0 120 30 0 0 20 0 1 0 2990794 2322432 396 18446744073709551615 0 0'
const sampleAt = (/** @type {number} */ epochMs, /** @type {number} */ cpuSeconds) => ({
  .../** @type {any} */ (parseRemoteSample(LINE, { epochMs, hostCpus: 4 })),
  ...{ atSeconds: epochMs / 1000, cpuSeconds },
})

describe('parseRemoteSample', () => {
  it('reads CPU time, identity, state and the machine', () => {
    expect(parseRemoteSample(LINE, { epochMs: 5, hostCpus: 4 })).toEqual({
      ...{ epochMs: 5, atSeconds: 29908.14, cpuSeconds: 1.5, identity: '4218 2990794', isStopped: false },
      host: {
        ...{ idle: 2256051, steal: 323975, busy: 3411147, cpus: 4 },
        total: 3411147 + 2256051 + 73028 + 323975,
      },
    })
    expect(parseRemoteSample(LINE.replace(') S', ') T'), { epochMs: 5, hostCpus: 4 })?.isStopped).toBe(true)
  })

  it.each([
    '',
    'mux_client_read_packet: broken pipe',
    '@ 1.0|cpu 1 2',
    '@ |cpu  1|1 (x) S 1',
  ])('takes "%s" for no sample', line => {
    expect(parseRemoteSample(line, { epochMs: 5, hostCpus: 4 })).toBeNull()
  })
})

describe('readAt', () => {
  const samples = [sampleAt(1000, 1), sampleAt(1200, 1.1), sampleAt(1400, 1.5)]

  it('divides between two samples in proportion, and takes the first or the last beyond them', () => {
    expect(interpolateReading(samples, 1200)).toMatchObject({ atSeconds: 1.2, cpuSeconds: 1.1, throttledPeriods: null })
    expect(interpolateReading(samples, 1300).cpuSeconds).toBeCloseTo(1.3)
    expect(interpolateReading(samples, 1300).atSeconds).toBeCloseTo(1.3)
    expect(interpolateReading(samples, 500)).toMatchObject({ atSeconds: 1, cpuSeconds: 1 })
    expect(interpolateReading(samples, 9000)).toMatchObject({ atSeconds: 1.4, cpuSeconds: 1.5 })
  })

  it('is no number if nothing was read', () => {
    expect(interpolateReading([], 1000).cpuSeconds).toBeNaN()
  })
})

describe('findNearest', () => {
  it('is the sample nearest in time, before or after', () => {
    const samples = [sampleAt(1000, 1), sampleAt(1200, 2)]
    expect(findNearestSample(samples, 1090).cpuSeconds).toBe(1)
    expect(findNearestSample(samples, 1110).cpuSeconds).toBe(2)
  })
})
