import { describe, expect, it } from 'vitest'
import { groupBy } from '../../src/lib/group-by.js'
import { createInterleavedTrials, renderTurnNotes, shareLoads } from '../../src/plan/interleave.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'

const beside = /** @type {const} */ (true)
const arm = (/** @type {string} */ plane, /** @type {object} */ fields = {}) =>
  createArm({ id: `${plane}-${JSON.stringify(fields)}`, plane, cpuLimitCores: null, ...fields })
const withFeatures = (/** @type {string} */ features) => ({ conditions: { ...DEFAULT_CONDITIONS, features } })
/** @param {ReturnType<typeof arm>[]} arms */
function groupsOf(arms) {
  const trials = createInterleavedTrials({ arms, rounds: 1, seed: 1 })
  return [...groupBy(trials, t => t.interleaving).values()].map(group => group.map(t => t.arm))
}

describe('createInterleavedTrials', () => {
  it('puts at most six arms into a deployment, each beside the planes under the first conditions', () => {
    const features = ['lean', 'log', 'metrics', 'traces', 'all']
    const arms = features.flatMap(name => ['pipy', 'envoy'].map(plane => arm(plane, withFeatures(name))))
    const groups = groupsOf(arms)
    expect(groups.map(group => group.length).sort()).toEqual([6, 6])
    for (const group of groups) {
      expect(group).toEqual(expect.arrayContaining(arms.slice(0, 2)))
      for (const { conditions } of group)
        expect(group.filter(a => a.conditions.features === conditions.features)).toHaveLength(2)
    }
  })

  it('gives a repetition (A/A) a deployment of its own if there is no room', () => {
    const arms = ['lean', 'log', 'metrics'].flatMap(name => ['pipy', 'envoy'].map(p => arm(p, withFeatures(name))))
    const control = { ...arms[0], id: 'aa', repeatOf: arms[0].id }
    const groups = groupsOf([...arms, control])
    expect(groups.map(group => group.length).sort()).toEqual([3, 6])
    expect(groups.find(group => group.length === 3)).toEqual(expect.arrayContaining([arms[0], arms[1], control]))
  })

  it('lets up to eight planes stand side by side, with the repetition of one', () => {
    const planesOf = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => arm(`plane-${i}`))
    const arms = planesOf(8)
    const control = { ...arms[0], id: 'aa', repeatOf: arms[0].id }
    expect(groupsOf([...arms, control]).map(group => group.length)).toEqual([9])
    expect(() => groupsOf(planesOf(9))).toThrow('9 planes side by side, at most 8: name fewer with --planes')
  })

  it('keeps numbers of users apart, puts sizes of bodies together, and lets each arm be the first to start', () => {
    const armsOf = (/** @type {object[]} */ loads) =>
      loads.flatMap(load => ['pipy', 'envoy'].map(p => arm(p, { load })))
    const groupsOfLoads = (/** @type {object[]} */ ...loads) => groupsOf(armsOf(loads)).length
    expect(groupsOfLoads({ users: 8 }, { users: 16 })).toBe(2)
    expect(groupsOfLoads({ payloadBytes: 1024 }, { payloadBytes: 2048 })).toBe(1)
    expect(groupsOfLoads({}, { idleConnections: 5 })).toBe(1)
    const arms = armsOf([{}])
    const trials = createInterleavedTrials({ arms, rounds: 4, seed: 1 })
    expect(new Set(trials.filter((_, i) => i % 2 === 0).map(t => t.arm.plane))).toEqual(new Set(['pipy', 'envoy']))
  })
})

describe('shareLoads', () => {
  it('warms up for longer if more arms take turns', () => {
    const closed = (/** @type {number} */ count) =>
      Array.from({ length: count }, (_, i) => arm(`plane-${i}`, { load: { kind: 'interleaved', warmupSeconds: 1 } }))
    expect(shareLoads(closed(2), { cpus: 2 })[0].load.warmupSeconds).toBe(1)
    expect(shareLoads(closed(6), { cpus: 2 })[0].load.warmupSeconds).toBeCloseTo(1.8)
  })

  it('rounds warm-up and window up to passes in which every arm has a turn', () => {
    const load = { kind: /** @type {const} */ ('interleaved'), sliceMs: 500, warmupSeconds: 1, windowSeconds: 4 }
    const fitted = (/** @type {number} */ count) =>
      shareLoads(
        Array.from({ length: count }, (_, i) => arm(`plane-${i}`, { load })),
        { cpus: 2 },
      )[0].load
    expect(fitted(2)).toMatchObject({ warmupSeconds: 1, windowSeconds: 4 })
    expect(fitted(3)).toMatchObject({ warmupSeconds: 1.5, windowSeconds: 4.5 })
  })

  const open = (/** @type {number} */ ratePerSecond) =>
    ['pipy', 'envoy'].map(plane =>
      arm(plane, { load: { kind: 'open', ratePerSecond, isInterleaved: beside, windowSeconds: 4 } }),
    )

  it('gives each arm back once, also where deployments share some', () => {
    const arms = ['a', 'b', 'c', 'd', 'e'].flatMap(name => ['pipy', 'envoy'].map(p => arm(p, withFeatures(name))))
    expect(shareLoads(arms, { cpus: 2 }).map(a => a.id)).toEqual(arms.map(a => a.id))
  })

  it('lets all arms have a low rate at the same time', () => {
    expect(shareLoads(open(250), { cpus: 2 }).map(a => a.load.sliceMs)).toEqual([undefined, undefined])
  })

  it('gives arms a second each in turn if the machine cannot carry their rates together', () => {
    for (const { load } of shareLoads(open(251), { cpus: 2 }))
      expect(load).toMatchObject({ sliceMs: 1000, windowSeconds: 6 })
    for (const { load } of shareLoads(open(251), { cpus: 4 })) expect(load.sliceMs).toBeUndefined()
  })

  describe('beside a plane that closes idle connections', () => {
    const findArmIdleSeconds = (/** @type {{ plane: string }} */ { plane }) => (plane === 'plane-1' ? 3 : 60)
    const options = { cpus: 2, findArmIdleSeconds }
    const armsOf = (/** @type {number} */ count, /** @type {object} */ load = {}) =>
      Array.from({ length: count }, (_, i) =>
        arm(`plane-${i}`, {
          load: { kind: 'interleaved', sliceMs: 500, warmupSeconds: 1, windowSeconds: 4, ...load },
        }),
      )

    it('shortens turns, so that all arms have theirs within four fifths of that time, and says so', () => {
      const eight = armsOf(8)
      for (const { load } of shareLoads(eight, options))
        expect(load).toMatchObject({ sliceMs: 300, warmupSeconds: 2.4, windowSeconds: 4.8 })
      expect(renderTurnNotes(eight, options)).toEqual([
        'turns of 300 ms instead of 500: plane-1 closes connections that were idle for 3 s',
      ])
    })

    it('shortens turns of a rate, too, and gives each arm as much of the window', () => {
      const rates = armsOf(4, { kind: 'open', ratePerSecond: 200, sliceMs: undefined })
      expect(shareLoads(rates, options)[0].load).toMatchObject({ sliceMs: 600, windowSeconds: 12 })
    })

    it('leaves turns as they are if no connection is idle for so long, or none is kept', () => {
      for (const arms of [armsOf(4), armsOf(8, { connections: 'new' }), armsOf(1), armsOf(2).slice(0, 1)]) {
        expect(shareLoads(arms, options)[0].load.sliceMs).toBe(500)
        expect(renderTurnNotes(arms, options)).toEqual([])
      }
    })

    it('warns if turns would be too short, and leaves them', () => {
      const early = { cpus: 2, findArmIdleSeconds: () => 1 }
      const arms = armsOf(8)
      expect(shareLoads(arms, early)[0].load.sliceMs).toBe(500)
      expect(renderTurnNotes(arms, early)).toEqual([
        expect.stringMatching(
          /^plane-0 closes .* 1 s, and each of 8 arms in turns of 500 ms is idle for up to 4 s: .* \(--planes\)$/,
        ),
      ])
    })
  })
})
