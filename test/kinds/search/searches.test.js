import { describe, expect, it } from 'vitest'
import { judgeSearchTrial, replaySearch, replaySearches, startSearch } from '../../../src/kinds/search/searches.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm, createFakeProcess, createRecord } from '../../fakes/fake-records.js'

/** @import { Arm, SearchSpec, TrialRecord } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
const LATENCY = /** @type {import('../../../src/model/types.ts').Use[]} */ (['latency'])
const template = createArm({ id: 'link-pipy-1', load: { kind: 'open', ratePerSecond: 1000, users: 64 } })

/**
 * What a trial leaves of a sidecar that needs 0.2 millicores a request/s and 8 MiB; now and then another one's doing.
 * @param {Arm} arm @param {number} nth @param {() => number} random @returns {TrialRecord}
 */
function measure(arm, nth, random) {
  const { ratePerSecond = 0 } = arm.load
  const cap = arm.cpuLimitCores ?? 2
  const needed = 0.0002 * ratePerSecond
  const isSpoiled = random() < 0.2
  const { memoryLimitBytes } = arm.conditions
  const isKilled = memoryLimitBytes !== null && memoryLimitBytes < 8 * MIB
  const record = createRecord({
    load: { verified: Math.round(Math.min(1, cap / needed) * ratePerSecond), reportedUsers: null },
    boundBy: cap < needed ? 'sidecar' : 'rate',
    gates: [
      ...(isSpoiled ? [{ gate: 'neighbour', spoils: LATENCY, reason: 'a neighbour' }] : []),
      ...(cap < needed ? [{ gate: 'knee', spoils: LATENCY, reason: 'above the knee' }] : []),
    ],
    processes: [
      createFakeProcess({
        ...{ cpuLimitCores: cap, cpuCores: Math.min(cap, needed), oomKills: isKilled ? 1 : 0 },
        memory: {
          ...{ anonBytes: 7 * MIB, pssBytes: 1, idleRssBytes: 1, peakBytes: 12 * MIB },
          ...{ rssBytes: 11 * MIB, workingSetBytes: 9 * MIB },
        },
      }),
    ],
  })
  return {
    ...record,
    trial: { id: `s${nth}-${arm.id}`, kind: 'search', round: nth, arm, repeats: null, searchOf: template.id },
  }
}

/** @param {SearchSpec} spec @param {number} [seed] */
function searchLive(spec, seed = 1) {
  const random = createRandom(seed)
  const search = startSearch({ template, spec, cpus: 2 })
  const records = /** @type {TrialRecord[]} */ ([])
  let step = search.next()
  while (!step.done) {
    records.push(measure(step.value, records.length + 1, random))
    step = search.next(judgeSearchTrial(spec, /** @type {TrialRecord} */ (records.at(-1))))
  }
  return { result: step.value, records }
}

/** @type {SearchSpec[]} */
const SPECS = [
  { kind: 'knee', p99Ms: 50, precision: 0.05, startPerSecond: 400 },
  { kind: 'memory-floor', p99Ms: null, precision: 0.05 },
  { kind: 'size', p99Ms: 50, precision: 0.05, isExtrapolated: true },
]

describe('startSearch', () => {
  it('looks for what was asked', () => {
    const [knee, memory, size] = SPECS.map(spec => searchLive(spec).result)
    // 0.25 cores are the arm's, at 0.2 millicores a request: 1250/s. 400, 800, 1600, then 1131, 1345, 1233, 1288.
    expect(knee).toMatchObject({ looksFor: 'knee', held: 1233, failed: 1288, isFound: true })
    expect(memory).toMatchObject({ looksFor: 'memory', held: 8 * MIB, failed: 7.75 * MIB, unchargedBytes: 2 * MIB })
    // 0.2 cores at 1000/s: between 0.1872 and 0.2152.
    expect(size).toMatchObject({ cpu: { held: 0.2152, failed: 0.1872 }, memory: { held: 8 * MIB }, isChecked: true })
  })
})

describe('replaySearch', () => {
  it.each(SPECS)('comes from the records of a search for $kind to the same answer', spec => {
    for (let seed = 1; seed <= 20; seed++) {
      const { result, records } = searchLive(spec, seed)
      expect(replaySearch({ template, spec, cpus: 2 }, records)).toEqual(result)
      expect(replaySearch({ template, spec, cpus: 2 }, JSON.parse(JSON.stringify(records)))).toEqual(result)
    }
  })

  it.each(SPECS)('gives no answer of a search for $kind that was cut short anywhere', spec => {
    const { records } = searchLive(spec)
    for (let count = 0; count < records.length; count++) {
      expect(replaySearch({ template, spec, cpus: 2 }, records.slice(0, count))).toBeNull()
    }
  })

  it.each(SPECS)('refuses the records of a search for $kind that tried other arms', spec => {
    const { records } = searchLive(spec)
    for (let at = 0; at < records.length; at++) {
      const { trial } = records[at]
      const other = { ...records[at], trial: { ...trial, arm: { ...trial.arm, id: 'another' } } }
      expect(() => replaySearch({ template, spec, cpus: 2 }, records.with(at, other))).toThrow(
        `trial ${trial.id} tried another, where this version of the kit tries ${trial.arm.id}`,
      )
    }
  })

  it('takes no record after the answer', () => {
    const [spec] = SPECS
    const { result, records } = searchLive(spec)
    expect(replaySearch({ template, spec, cpus: 2 }, [...records, ...records])).toEqual(result)
  })
})

describe('replaySearches', () => {
  it('knows the trials of a search by where it started', () => {
    const { result, records } = searchLive(SPECS[2])
    const manifest = { search: SPECS[2], arms: [{ ...template, id: 'link-pipy' }, template], machine: { cpus: 2 } }
    expect(replaySearches({ manifest, records })).toEqual([result].flat())
  })
})
