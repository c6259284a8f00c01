import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeAtomically } from '../../src/records/files.js'
import { appendTrial, createResultsFolder } from '../../src/records/write.js'
import { listSettingDifferences, readReusableTrials } from '../../src/run/reusable.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createRecord } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { Placement, Tool, Topology, TrialRecord } from '../../src/model/types.ts' */

const machine = { bootId: 'b', cpuModel: 'm', cpus: 2, kernel: 'k', cgroupVersion: 2, node: 'n', other: 1 }
const toolOf = (/** @type {string} */ name, sha256 = name) => ({
  name,
  path: `/${name}`,
  version: '1',
  sha256,
  source: '',
})
const loadHost = { host: 'there', cpuModel: 'm', cpus: 4, address: '10.0.0.1' }
/** @type {Record<string, Tool>} */
const tools = { pipy: toolOf('pipy'), k6: toolOf('k6') }
const settings = /** @type {{ trafficPolicy: 'open', app: 'pipy', relaxes: any[] }} */ ({
  trafficPolicy: 'open',
  app: 'pipy',
  relaxes: [],
})
const { scripts, kit } = createManifest()
const edited = (/** @type {string} */ role) => scripts.map(s => (s.role === role ? { ...s, sha256: 'edited' } : s))
/** @type {Topology} */
const pair = { name: 'pair', services: [], entry: { service: 'ping', listener: 'inbound' } }
/** @param {Partial<Parameters<typeof createArm>[0]>} [fields] */
const armOf = (fields = {}) =>
  createArm({ ...fields, load: { kind: 'open', ratePerSecond: 100, windowSeconds: 10, ...fields.load } })
/** @param {string} id @param {Parameters<typeof armOf>[0]} [fields] @param {Partial<TrialRecord>} [rest] @returns {TrialRecord} */
const recordOf = (id, fields, rest = {}) => {
  const record = createRecord({ arm: armOf(fields) })
  return { ...record, trial: { ...record.trial, id }, ...rest }
}

describe('openReusable', () => {
  /** Of the trials that are to be run. @type {Placement | null} */
  let placement = null

  let root = ''
  beforeEach(() => {
    root = makeFolder('reusable-test')
  })

  /** @param {string} name @param {TrialRecord[]} records @param {Record<string, any>} [fields] of the manifest */
  const writeRun = (name, records, fields = {}) => {
    const folder = path.join(root, name)
    createResultsFolder(folder)
    const manifestFields = { machine, tools, rounds: 1, arms: [armOf()], ...fields }
    const manifest = createManifest({ ...manifestFields, settings: { ...settings, ...fields.settings } })
    writeAtomically(folder, 'manifest.json', JSON.stringify(manifest))
    for (const record of records) appendTrial(folder, record)
    return folder
  }
  /** @param {string[]} folders */
  const open = (...folders) =>
    readReusableTrials({
      folders,
      machine,
      tools,
      settings,
      scripts,
      kit,
      layout: { topologies: { pair }, placementOf: () => placement },
    })

  it('takes no trial that had other CPUs, nor any of a run that set other gates aside', () => {
    const run = writeRun('shared', [recordOf('a')])
    placement = { sidecar: [0], application: [1], generator: [2] }
    expect(open(run).takeRecord(armOf())).toBeNull()
    placement = null
    expect(open(run).takeRecord(armOf())).not.toBeNull()
    const relaxed = writeRun('relaxed', [recordOf('a')], {
      settings: { ...settings, relaxes: [{ gate: 'steady', why: 'x' }] },
    })
    expect(() => open(relaxed)).toThrow('the gates set aside')
  })

  it('gives each trial of the same arm once, in their order, run by run', () => {
    const one = writeRun('one', [recordOf('a'), recordOf('b')])
    const two = writeRun('two', [recordOf('c')])
    const reusable = open(one, two)
    const taken = [1, 2, 3].map(() => reusable.takeRecord(armOf()))
    expect(taken.map(t => [t?.folder, t?.record.trial.id])).toEqual([
      [one, 'a'],
      [one, 'b'],
      [two, 'c'],
    ])
    expect(reusable.takeRecord(armOf())).toBeNull()
  })

  it('takes the same plane, scripts, link, cap, load and conditions, whatever the arm is called', () => {
    const folder = writeRun('one', [recordOf('a')])
    const { conditions } = armOf()
    const others = [
      ...[{ plane: 'envoy' }, { variant: '/x' }, { link: 'pair' }, { cpuLimitCores: 0.5 }, { repeatOf: 'x' }],
      ...[{ load: { ratePerSecond: 101 } }, { load: { users: 11 } }, { load: { payloadBytes: 1 } }],
      { conditions: { ...conditions, memoryLimitBytes: 1e6 } },
    ]
    for (const fields of others) expect(open(folder).takeRecord(armOf(fields))).toBeNull()
    expect(open(folder).takeRecord(armOf({ id: 'link-pipy@100rps-check' }))?.record.trial.id).toBe('a')
  })

  it('takes a window that is as long or longer, and no shorter one', () => {
    const folder = writeRun('one', [recordOf('a')])
    expect(open(folder).takeRecord(armOf({ load: { windowSeconds: 10.1 } }))).toBeNull()
    expect(open(folder).takeRecord(armOf({ load: { windowSeconds: 9 } }))).not.toBeNull()
  })

  it('takes a trial that failed, none that was invalid or is itself taken from another run', () => {
    const folder = writeRun('one', [
      recordOf('a', {}, { outcome: 'invalid' }),
      recordOf('b', {}, { takenFrom: 'x, a' }),
      recordOf('c', {}, { outcome: 'failed', load: null, window: null, reasons: ['died'] }),
    ])
    const reusable = open(folder)
    expect(reusable.takeRecord(armOf())?.record.trial.id).toBe('c')
    expect(reusable.takeRecord(armOf())).toBeNull()
  })

  it('takes no trial that the search cannot use, and leaves it to others', () => {
    const reusable = open(writeRun('one', [recordOf('a'), recordOf('b')]))
    const isOther = (/** @type {TrialRecord} */ { trial }) => trial.id !== 'a'
    expect(reusable.takeRecord(armOf(), isOther)?.record.trial.id).toBe('b')
    expect(reusable.takeRecord(armOf(), isOther)).toBeNull()
    expect(reusable.takeRecord(armOf())?.record.trial.id).toBe('a')
  })

  it.each([
    ['a load from another machine', { machine: { ...machine, loadHost } }, 'the machine of the load'],
    ['another start of the machine', { machine: { ...machine, bootId: 'x' } }, 'machine.bootId'],
    [
      'another kernel and other CPUs',
      { machine: { ...machine, kernel: 'x', cpus: 4 } },
      'machine.cpus, machine.kernel',
    ],
    ['another program', { tools: { ...tools, pipy: toolOf('pipy', 'x') } }, 'pipy'],
    ['another policy', { settings: { ...settings, trafficPolicy: 'listed' } }, 'traffic policy'],
    ['another method', { methodVersion: 0 }, 'method version'],
    ['another kit', { kit: { ...kit, sha256: 'edited' } }, "the kit's code"],
    ['another load', { scripts: edited('generator') }, 'the scripts of the load'],
    ['other applications of the same path', { scripts: edited('application') }, 'the scripts of the applications'],
    ['a pipeline of the same path that was edited', { scripts: edited('sidecar') }, 'the scripts of pipy'],
    [
      'another link of that name',
      { topologies: { pair: { ...pair, entry: { service: 'pong', listener: 'inbound' } } } },
      'the link pair',
    ],
    ['other applications', { settings: { ...settings, app: 'node' } }, 'applications'],
  ])('refuses a run of %s, and says in what it differs', (_, fields, differing) => {
    const folder = writeRun('one', [recordOf('a')], fields)
    expect(() => open(folder)).toThrow(
      `--from ${folder}: its trials cannot be reused, because it differs in ${differing}: leave it out`,
    )
  })

  it('ignores other fields of the machine, and a program that only one of them has', () => {
    const folder = writeRun('one', [recordOf('a')], { machine: { ...machine, other: 2 }, tools: { k6: tools.k6 } })
    expect(open(folder).takeRecord(armOf())).not.toBeNull()
  })

  it('says which folder holds no run', () => {
    expect(() => open(path.join(root, 'nothing'))).toThrow(`${root}/nothing holds no run`)
  })
})

describe('listSettingDifferences', () => {
  const layout = { topologies: { pair }, placementOf: () => null }
  /** @param {typeof loadHost & { aheadMs?: number }} there as the run has it @param {object} now */
  const compare = (there, now) =>
    listSettingDifferences(
      createManifest({ machine: { ...machine, loadHost: there }, tools, settings, arms: [armOf()] }),
      {
        ...{ machine: { ...machine, loadHost: now }, tools, settings, scripts, kit, layout },
      },
    )

  it('recognises the machine of the load, with another clock or free memory', () => {
    expect(compare({ ...loadHost, aheadMs: 1 }, { ...loadHost, aheadMs: 2 })).toEqual([])
  })

  it.each([
    { host: 'other' },
    { cpuModel: 'n' },
    { cpus: 2 },
    { address: '10.0.0.9' },
  ])('recognises another machine by its %o', fields => {
    expect(compare(loadHost, { ...loadHost, ...fields })).toEqual(['the machine of the load'])
  })
})
