import { describe, expect, it } from 'vitest'
import { testShape } from '../../../src/analysis/claims/shape.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { ArmFields } from '../../fakes/fake-summary.js' */

const six = (/** @type {number} */ value) => Array(6).fill(value)
/** A little noise, the same in no two rounds. */
const noisy = (/** @type {number} */ value) => [0.98, 0.99, 1, 1.01, 1.02, 1.03].map(f => f * value)

/**
 * A point at 100, 200, … requests/s.
 * @param {((number | null)[])[]} p99s milliseconds, round by round @returns {ArmFields[]}
 */
const ladder = p99s => p99s.map((p99, i) => ({ plane: 'envoy', load: { ratePerSecond: 100 * (i + 1) }, p99 }))
/**
 * @param {import('../../../src/analysis/claims/schema.js').Shape['shape']} shape @param {ArmFields[]} arms
 * @param {Record<string, any>} [relation] @param {Parameters<typeof createSummary>[1]} [fields]
 */
const ask = (shape, arms, relation = {}, fields = {}) =>
  testShape(
    { shape, quantity: 'p99', over: 'ratePerSecond', among: { plane: 'envoy' }, tolerance: 0.15, ...relation },
    createSummary(arms, fields),
  )
const statusOf = (/** @type {Parameters<typeof ask>[0]} */ shape, /** @type {number[]} */ medians) =>
  ask(shape, ladder(medians.map(noisy))).status

describe('testShape', () => {
  it('shows our points in the order of the axis, with their conditions', () => {
    expect(ask('rises', ladder([six(4), six(6), six(8)]).reverse())).toEqual({
      status: 'reproduced',
      ours: 'p99 ms 4.0, 6.0, 8.0 at requests/s 100, 200, 300 (link pair, 200 users, 1 core)',
      reason: 'last over first 2.00 [2.00, 2.00]',
    })
  })

  it.each(
    /** @type {[Parameters<typeof ask>[0], number[], string][]} */ ([
      ['rises', [4, 6, 8], 'reproduced'],
      ['rises', [4, 8, 6], 'direction only'],
      ['rises', [8, 6, 4], 'contradicted'],
      ['rises', [4, 8, 4.05], 'not testable here'],
      ['falls', [8, 6, 4], 'reproduced'],
      ['falls', [8, 4, 6], 'direction only'],
      ['falls', [4, 6, 8], 'contradicted'],
      ['flat', [4, 4.2, 4.5], 'reproduced'],
      ['flat', [4, 9, 4], 'contradicted'],
      ['line', [4, 6, 8], 'reproduced'],
      ['line', [4, 4, 8, 8.2], 'direction only'],
      ['line', [8, 6, 4], 'contradicted'],
      ['line', [4, 6], 'not testable here'],
      ['bends', [4, 7.5, 8], 'reproduced'],
      ['bends', [4, 6, 8], 'contradicted'],
      ['bends', [8, 6, 4], 'contradicted'],
    ]),
  )('decides whether it %s: %j: %s', (shape, medians, status) => {
    expect(statusOf(shape, medians)).toBe(status)
  })

  it('takes arms of different users for one series over the CPU limit only if each limit has users of its own', () => {
    const arm = (/** @type {number} */ cpuLimitCores, /** @type {number} */ users, /** @type {number} */ p99) => ({
      ...{ plane: 'envoy', cpuLimitCores, p99: six(p99) },
      load: { kind: /** @type {const} */ ('closed'), users },
    })
    const over = { over: 'cpuLimitCores' }
    const chosen = [arm(0.1, 50, 8), arm(0.5, 200, 6), arm(1, 200, 4)]
    expect(ask('falls', chosen, over).ours).toContain('8.0, 6.0, 4.0 at cap 0.1, 0.5, 1 ')
    const varied = [arm(0.5, 50, 4), arm(0.5, 200, 8), arm(1, 50, 3), arm(1, 200, 5)]
    expect(ask('falls', varied, over).ours).toMatch(/p99 ms (4\.0, 3\.0|8\.0, 5\.0) at cap 0\.5, 1 /)
  })

  it('says how far from flat, and that it is not clear', () => {
    const high = [4, 4, 5, 5, 5, 5]
    expect(ask('flat', ladder([six(4), high]))).toMatchObject({
      status: 'not testable here',
      reason: 'not clear: largest over smallest 1.25 [1.00, 1.25]',
    })
  })

  it('says how far from a straight line', () => {
    // Through 0, 4 and 5: 0.5 + 2.5 x, off by 1 at the middle; a fifth of the rise.
    expect(ask('bends', ladder([six(1), six(5), six(6)]))).toMatchObject({
      status: 'reproduced',
      reason: 'off a straight line by 20 % of the rise [20, 20]',
    })
  })

  it('is indicative below six rounds', () => {
    const three = [4, 8].map(value => Array(3).fill(value))
    expect(ask('rises', ladder(three))).toMatchObject({
      status: 'not testable here',
      ours: 'p99 ms 4.0, 8.0 at requests/s 100, 200 (link pair, 200 users, 1 core)',
      reason: 'indicative only: 3 rounds, 6 are needed',
    })
  })

  it('leaves out points that were spoiled, and says which and by what', () => {
    const arms = ladder([six(4), six(6), [8, 8, 8, 8, 8, null]])
    arms[2].fields = { spoiled: [{ gate: 'drops', trials: 1, reason: 'x' }] }
    expect(ask('rises', arms)).toMatchObject({
      status: 'reproduced',
      reason: 'last over first 1.50 [1.50, 1.50]; requests/s 300 left out: spoiled (envoy drops)',
    })
    expect(ask('line', arms).reason).toBe(
      '2 of the 3 points that are needed; requests/s 300 left out: spoiled (envoy drops)',
    )
  })

  it('says which arms are missing', () => {
    expect(ask('rises', ladder([six(4)]), { among: { plane: 'pipy', link: 'pair' } })).toEqual({
      ...{ status: 'not testable here', ours: null, reason: 'no arm here is pipy, link pair' },
    })
  })

  it('goes along one axis alone: the longest series, at the largest cap', () => {
    const small = ladder([six(8), six(6)]).map(arm => ({ ...arm, cpuLimitCores: 0.5 }))
    const more = ladder([six(4), six(5), six(6)]).map(arm => ({ ...arm, conditions: { services: 10 } }))
    expect(ask('rises', [...small, ...ladder([six(4), six(8)])]).ours).toContain('1 core')
    expect(ask('rises', [...ladder([six(4), six(8)]), ...more]).ours).toContain('10 services, 200 users')
  })

  it('goes over caps, whose users differ', () => {
    const arms = [0.25, 0.5, 1].map(cap => ({
      ...{ plane: 'envoy', cpuLimitCores: cap, load: { users: cap < 0.5 ? 50 : 200 }, cpuPerRequest: noisy(100) },
    }))
    expect(ask('flat', arms, { quantity: 'cpuPerRequest', over: 'cpuLimitCores' })).toMatchObject({
      status: 'reproduced',
      ours: 'CPU per request, µs 101, 101, 101 at cap 0.25, 0.5, 1 (link pair)',
    })
  })

  it('goes over planes, those without sidecars left out', () => {
    const arms = [{ plane: 'none' }, { plane: 'pipy', cores: six(0.25) }, { plane: 'envoy', cores: six(0.26) }].map(
      arm => ({ ...arm, cpuLimitCores: arm.plane === 'none' ? null : 0.25 }),
    )
    const among = { service: 'gateway', cpuLimitCores: 1 }
    expect(ask('flat', arms, { quantity: 'cpuCores', over: 'plane', among, tolerance: 0.05 })).toEqual({
      status: 'reproduced',
      ours: 'CPU cores 0.250, 0.260 at plane pipy, envoy (link pair, 200 users)',
      reason: 'largest over smallest 1.04 [1.04, 1.04]; at 0.25 cores; published at 1',
    })
  })

  it('keeps a point with one spoiled round of twenty, if rounds went on until they were precise', () => {
    const precision = { width: 0.02, mostRounds: 200, ended: null, rounds: 20, isReached: true, pairs: [] }
    const values = (/** @type {number} */ value, /** @type {number} */ spoiled) =>
      Array.from({ length: 20 }, (_, i) => (i === spoiled ? null : value))
    const arms = ladder([values(4, 3), values(6, 5), values(8, 7)])
    expect(ask('rises', arms, {}, { precision }).status).toBe('reproduced')
    expect(ask('line', arms, {}, { precision }).status).toBe('reproduced')
    // Of planned rounds, one in twenty may be spoiled, but together these are two for the line.
    expect(ask('line', arms).reason).toContain('no value in 2 of 20 rounds')
  })
})
