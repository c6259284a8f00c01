import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.js'
import { listArms } from '../../src/model/results.js'
import { loadAfterRun, measurePreparation } from '../../src/prepare/measure.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { prepareFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'

const AXES = '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [1], ratePerSecond: [10], users: [10] }'
const MORE = 'mostOfCapacity: 0.8\nprofiles: { standard: { rounds: 2, hasControl: false } }'
const cores = Array.from({ length: 16 }, (_, i) => [i])

describe('loadAfter', () => {
  it('says where the records are and what reports them, where the program has changed meanwhile', async () => {
    expect(await loadAfterRun('results/a', async () => 'module')).toBe('module')
    await expect(loadAfterRun('results/a', () => import(`${os.tmpdir()}/not-there.js`))).rejects.toThrow(
      /cannot load the modules that report results\/a: Cannot find .*; its records are there: npm run report -- results\/a/s,
    )
  })
})

describe('measure', () => {
  let out = ''
  beforeEach(() => {
    out = path.join(makeFolder('measure-test'), 'run')
  })

  /** @param {{ load?: any, signal?: AbortSignal, sampleSource?: 'cgroup' | 'kubelet' }} [options] */
  const measureFake = async ({ load = createFakeLoad(), signal = new AbortController().signal, ...options } = {}) => {
    const { preparation, site } = prepareFake({
      target: await createFakeTarget(),
      ledgers: path.dirname(out),
      load,
      axes: AXES,
      more: MORE,
      cores,
    })
    /** @type {string[]} */
    const finished = []
    const keys = path.join(site.ledger.folder, 'keys')
    const run = measurePreparation({
      preparation,
      site: { ...site, sampleSource: options.sampleSource ?? 'kubelet' },
      out,
      execution: { command: ['bench'] },
      watcher: { say: () => {} },
      signal,
      finish: async folder => void finished.push(folder),
      gate: async () => [],
    })
    return { run, finished, keys }
  }
  const read = (/** @type {string} */ name) => JSON.parse(readFileSync(path.join(out, name), 'utf8'))

  it('leaves no folder if it is interrupted before anything was measured', async () => {
    const abort = new AbortController()
    abort.abort(new Error('interrupted'))
    const { run } = await measureFake({ signal: abort.signal, sampleSource: 'cgroup' })
    await expect(run).rejects.toThrow('interrupted')
    expect(existsSync(out)).toBe(false)
  })

  it('leaves the manifest, the records and their summary, and no keys', async () => {
    const { run, finished, keys } = await measureFake()
    const { folder, summary } = await run
    expect(folder).toBe(out)
    expect(finished).toEqual([out])
    expect(listArms(read('summary.json'))).toHaveLength(1)
    expect(summary.run.experiment).toBe('fake')
    expect(existsSync(keys)).toBe(false)
  })

  it('says in the manifest the CPUs of the arms and of what finds their capacity', async () => {
    await (await measureFake()).run
    const { placements, arms, calibrations } = read('manifest.json')
    expect(Object.keys(placements)).toEqual([arms[0].id, calibrations[0].armId])
    for (const placement of Object.values(placements)) expect(placement.sidecar).toEqual([0, 1])
  })

  it('summarises what an interrupted run has measured', async () => {
    const abort = new AbortController()
    let calls = 0
    const results = () => {
      if (++calls === 2) abort.abort(new Error('interrupted'))
      return {}
    }
    const { run, finished, keys } = await measureFake({ load: createFakeLoad({ results }), signal: abort.signal })
    await expect(run).rejects.toThrow('interrupted')
    expect(read('summary.json').calibrations).toHaveLength(1)
    expect(finished).toEqual([out])
    expect(existsSync(keys)).toBe(false)
  })

  it('touches nothing in a folder that is not empty', async () => {
    await (await measureFake()).run
    const before = readFileSync(path.join(out, 'trials.jsonl'), 'utf8')
    const { run, finished } = await measureFake()
    await expect(run).rejects.toThrow(UsageError)
    expect(readFileSync(path.join(out, 'trials.jsonl'), 'utf8')).toBe(before)
    expect(finished).toEqual([])
  })
})
