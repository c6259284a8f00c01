import { describe, expect, it } from 'vitest'
import { judgeTrial } from '../../../src/judge/gates.js'
import { judgeOutcome } from '../../../src/kinds/search/outcome.js'
import { createFakeProcess, createRecord } from '../../fakes/fake-records.js'

/** @import { EndedProcess, GateFinding } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
const arm = { load: { kind: /** @type {const} */ ('open'), users: 64, ratePerSecond: 1000 } }
/** A second of 1000 requests/s that were asked for, p99 9.9 ms. @param {Parameters<typeof createRecord>[0]} [fields] */
const createTrial = fields => createRecord({ arm, boundBy: 'rate', load: { reportedUsers: null }, ...fields })
/** The same as its gates judge it. @param {Parameters<typeof createRecord>[0]} fields */
const createJudged = fields => {
  const record = createTrial(fields)
  return { ...record, ...judgeTrial(record, []) }
}
/** @param {string} name @param {GateFinding['spoils']} spoils @returns {GateFinding} */
const gate = (name, spoils) => ({ gate: name, spoils, reason: `${name} failed` })
const ALL = /** @type {GateFinding['spoils']} */ (['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'])
/** @param {Partial<EndedProcess>} fields @returns {EndedProcess} */
const ended = fields => ({
  ...{ service: 'gateway', role: 'sidecar', how: 'signal SIGSEGV', isOutOfMemory: false },
  ...fields,
})
/** A trial that failed as these processes ended. @param {EndedProcess[]} ended */
const createFailed = ended => ({
  ...createTrial({ outcome: 'failed', window: null, reasons: ['it died'], ended }),
  load: null,
})

describe('judgeOutcome', () => {
  it('says of a trial that held its p99, and what the busiest sidecar used', () => {
    const memory = { anonBytes: 1, pssBytes: 1, idleRssBytes: 1 }
    const processes = [
      createFakeProcess({
        cpuCores: 0.2,
        memory: { ...memory, rssBytes: 12 * MIB, workingSetBytes: 9 * MIB, peakBytes: 10 * MIB },
      }),
      createFakeProcess({
        service: 'ratings',
        cpuCores: 0.1,
        memory: { ...memory, rssBytes: 12 * MIB, workingSetBytes: 13 * MIB, peakBytes: 14 * MIB },
      }),
      createFakeProcess({ role: 'application', cpuCores: 0.9 }),
    ]
    expect(judgeOutcome(createTrial({ processes }), 50)).toEqual({
      ...{
        trial: 'r1-link-pipy',
        survived: true,
        held: true,
        isClear: false,
        isDisturbed: false,
        why: 'held: p99 9.9 ms',
        isNeedSeen: true,
        p99Ms: expect.closeTo(9.9, 6),
      },
      ...{ coresMost: 0.2, peakBytesMost: 14 * MIB, rssBytesMost: 12 * MIB, unchargedBytes: 3 * MIB },
      // Of the sidecar with the most.
      memory: { anonBytes: 1, pssBytes: 1, rssBytes: 12 * MIB, workingSetBytes: 13 * MIB, peakBytes: 14 * MIB },
    })
  })

  it('names the neighbour as the cause of what else a busy machine spoils', () => {
    const gates = [gate('generator', ['latency']), gate('neighbour', ['latency'])]
    expect(judgeOutcome(createTrial({ gates }), 50)).toMatchObject({
      ...{ held: null, why: 'generator failed', cause: 'neighbour failed' },
    })
  })

  it('counts for limits a p99 that was met beside other programs, and does not judge one that was missed', () => {
    const neighbour = gate('neighbour', ['throughput', 'capacity', 'latency'])
    /** @param {Parameters<typeof createRecord>[0]} fields @param {number | null} [p99Ms] */
    const judgeBeside = (fields, p99Ms = 50) =>
      judgeOutcome(createTrial({ gates: [neighbour], ...fields }), p99Ms, { isOfLimits: true })
    expect(judgeBeside({})).toMatchObject({
      ...{ held: true, isDisturbed: true, why: 'held: p99 9.9 ms, and neighbour failed' },
    })
    const missed = { held: null, isDisturbed: true, why: 'neighbour failed' }
    expect(judgeBeside({}, 5)).toMatchObject(missed)
    expect(judgeBeside({ gates: [neighbour, gate('drops', ALL)] })).toMatchObject(missed)
    expect(judgeBeside({ load: { distribution: null } })).toMatchObject(missed)
    // Only survival is asked: nothing is said of how fast it was.
    expect(judgeBeside({}, null)).toMatchObject({ held: null, isDisturbed: false })
    const gates = [neighbour, gate('generator', ['latency'])]
    expect(judgeBeside({ gates })).toMatchObject({ held: null, isDisturbed: false })
  })

  it('fails a p99 over the limit, not clearly, and holds one at it', () => {
    expect(judgeOutcome(createTrial(), 5)).toMatchObject({
      ...{ held: false, survived: true, isClear: false, why: 'p99 9.9 ms, over 5 ms' },
    })
    expect(judgeOutcome(createTrial(), 9.9).held).toBe(true)
  })

  it('asks for no p99 if only survival is asked', () => {
    expect(judgeOutcome(createTrial({ load: { distribution: null } }), null)).toMatchObject({ held: true, why: 'held' })
    expect(judgeOutcome(createTrial(), null).held).toBe(true)
  })

  it('is undecided if the p99 was not measured', () => {
    expect(judgeOutcome(createTrial({ load: { distribution: null } }), 50)).toMatchObject({
      held: null,
      why: 'no p99 was measured',
    })
  })

  it('fails clearly if the kernel killed the sidecar for memory, or a process in it', () => {
    const killed = {
      held: false,
      survived: false,
      isClear: true,
      why: "the kernel killed gateway's sidecar for memory",
    }
    const asEnded = [ended({ isOutOfMemory: true })]
    expect(judgeOutcome(createFailed(asEnded), null)).toMatchObject(killed)
    expect(judgeOutcome(createTrial({ ended: asEnded }), 5)).toMatchObject(killed)
    const processes = [createFakeProcess({ oomKills: 1 })]
    expect(judgeOutcome(createTrial({ processes }), null)).toMatchObject(killed)
  })

  it('is undecided if the kernel killed the generator or an application for memory', () => {
    for (const role of /** @type {const} */ (['generator', 'application'])) {
      expect(judgeOutcome(createFailed([ended({ role, isOutOfMemory: true })]), null).held).toBeNull()
    }
  })

  it('fails clearly if only sidecars died, and is undecided if another process did', () => {
    const judge = (/** @type {EndedProcess[]} */ ...all) => judgeOutcome(createFailed(all), 50)
    expect(judge(ended({}))).toMatchObject({ held: false, isClear: true })
    const unknown = { held: null, survived: null, isClear: false }
    expect(judge(ended({}), ended({ role: 'application' }))).toMatchObject(unknown)
    expect(judge(ended({ role: 'generator' }))).toMatchObject(unknown)
    expect(judge()).toMatchObject(unknown)
  })

  it('is undecided without a load or a window, or if they failed', () => {
    const unmeasured = { ...createTrial(), load: null }
    expect(judgeOutcome(unmeasured, 50)).toMatchObject({ held: null, why: 'nothing was measured' })
    const cut = createTrial({ window: null, reasons: ['cut short'] })
    expect(judgeOutcome(cut, 50)).toMatchObject({ held: null, why: 'cut short' })
    const failed = createTrial({ outcome: 'failed', reasons: ['k6 left no result'] })
    expect(judgeOutcome(failed, 50)).toMatchObject({ held: null, survived: null, why: 'k6 left no result' })
  })

  it('fails clearly a sidecar at its limit that answers less than 0.9 of the rate, and not clearly one above', () => {
    const at = (/** @type {number} */ verified) =>
      judgeOutcome(
        createTrial({
          boundBy: 'sidecar',
          gates: [gate('knee', ['latency'])],
          load: { verified, reportedUsers: null },
        }),
        50,
      )
    expect(at(899)).toMatchObject({
      ...{ held: false, isClear: true },
      why: '899 requests/s were answered, bound by the sidecar',
    })
    expect(at(900)).toMatchObject({ ...{ held: false, isClear: false }, why: 'knee failed' })
  })

  it('fails a worker at its limit as it does a cap', () => {
    const record = createTrial({ boundBy: 'worker', load: { verified: 500, reportedUsers: null } })
    expect(judgeOutcome(record, 50)).toMatchObject({ held: false, isClear: true })
  })

  it('is undecided beside other programs, for successes and failures: leaving out failures alone would shift the limits', () => {
    const beside = (/** @type {Parameters<typeof createRecord>[0]} */ fields, p99Ms = 50) =>
      judgeOutcome(createTrial({ ...fields, gates: [gate('neighbour', ['latency']), ...(fields?.gates ?? [])] }), p99Ms)
    const few = { verified: 980, reportedUsers: null }
    expect(beside({})).toMatchObject({ held: null, why: 'neighbour failed', isNeedSeen: true })
    expect(beside({}, 5)).toMatchObject({ held: null, isNeedSeen: true })
    expect(beside({ load: few, gates: [gate('knee', ['latency'])] })).toMatchObject({ held: null, isNeedSeen: false })
  })

  it('takes for what the rate takes only what was read, of trials whose CPU and memory no gate spoiled', () => {
    const isNeedKnown = (/** @type {Parameters<typeof createRecord>[0]} */ fields) =>
      judgeOutcome(createTrial(fields), 50).isNeedSeen
    const { memory } = createFakeProcess({})
    const unread = { ...memory, peakBytes: null, rssBytes: null }
    expect(isNeedKnown({})).toBe(true)
    for (const name of ['samples', 'cap', 'restart']) expect(isNeedKnown({ gates: [gate(name, ALL)] })).toBe(false)
    for (const processes of [
      [],
      [createFakeProcess({ cpuCores: Number.NaN })],
      [createFakeProcess({ memory: unread })],
    ])
      expect(isNeedKnown({ processes })).toBe(false)
  })

  it('fails clearly a sidecar that used up its own cap far below the rate, also beside other programs', () => {
    const load = { verified: 899, reportedUsers: null }
    expect(
      judgeOutcome(createTrial({ boundBy: 'sidecar', load, gates: [gate('neighbour', ['latency'])] }), 50),
    ).toMatchObject({ held: false, isClear: true })
  })

  const others = 'neighbour generator application samples clock cap'.split(' ')
  it.each(others)('is undecided if %s spoiled the latency', name => {
    expect(judgeOutcome(createTrial({ gates: [gate(name, ['latency'])] }), 50)).toMatchObject({
      ...{ held: null, why: `${name} failed` },
    })
  })

  it('is undecided above a knee of the machine or the generator', () => {
    for (const boundBy of /** @type {const} */ (['host', 'generator', 'application'])) {
      expect(judgeOutcome(createTrial({ boundBy, gates: [gate('knee', ['latency'])] }), 50).held).toBeNull()
    }
  })

  it('ignores a gate that leaves the latency valid', () => {
    expect(judgeOutcome(createTrial({ gates: [gate('neighbour', ['throughput'])] }), 50).held).toBe(true)
  })

  const sidecarGates = 'answers errors hung-users overflow oom restart drops steady'.split(' ')
  it.each(sidecarGates)('fails, not clearly, what the sidecar does itself: %s', name => {
    expect(judgeOutcome(createTrial({ gates: [gate(name, ALL)] }), 50)).toMatchObject({
      ...{ held: false, isClear: false, why: `${name} failed` },
    })
  })

  it('survives drops and unsteady windows if only survival is asked, but no errors', () => {
    const survives = (/** @type {string} */ name, /** @type {GateFinding['spoils']} */ spoils) =>
      judgeOutcome(createTrial({ gates: [gate(name, spoils)] }), null).held
    expect(survives('drops', ['latency'])).toBe(true)
    expect(survives('steady', ['throughput', 'capacity', 'latency'])).toBe(true)
    expect(survives('errors', ALL)).toBe(false)
  })

  it('fails 2 errors in 1000, and holds 1', () => {
    const at = (/** @type {number} */ errors) =>
      judgeOutcome(createJudged({ load: { verified: 1000 - errors, failed: errors, reportedUsers: null } }), 50)
    expect(at(2)).toMatchObject({ held: false, isClear: false })
    expect(at(2).why).toContain('2 requests failed (0.20 %, at most 0.1 %)')
    expect(at(1).held).toBe(true)
  })

  // More than 1 % of failures leave less than 0.99 of the rate: the gate "knee" fails too, and is taken for foreign.
  it('fails 50 errors in 1000, though fewer requests were answered than sent', () => {
    const record = createJudged({ load: { verified: 950, failed: 50, reportedUsers: null } })
    expect(record.gates.map(g => g.gate)).toEqual(['errors', 'knee'])
    expect(judgeOutcome(record, 50).held).toBe(false)
    expect(judgeOutcome(record, null).held).toBe(false)
  })

  it('fails 50 drops of 1000 if nothing else was at its limit', () => {
    const record = createJudged({
      load: { verified: 950, verifiedInSecondHalf: 475, dropped: 50, reportedUsers: null },
    })
    expect(record.gates.map(g => g.gate)).toEqual(['drops', 'knee'])
    expect(judgeOutcome(record, 50).held).toBe(false)
  })

  it('adds no file pages if the charged memory of the sidecar was not read', () => {
    const { memory, ...rest } = createFakeProcess({})
    const processes = [{ ...rest, memory: { ...memory, rssBytes: 12 * MIB, workingSetBytes: null } }]
    expect(judgeOutcome(createTrial({ processes }), null).unchargedBytes).toBe(0)
  })
})
