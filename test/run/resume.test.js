import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyRun } from '../../src/analysis/verify.js'
import { listArms } from '../../src/model/results.js'
import { measurePreparation } from '../../src/prepare/measure.js'
import { readRun } from '../../src/records/records.js'
import { readInterruptedRun } from '../../src/run/resume.js'
import { createFakeLoad, createFakeTarget, createInterruption } from '../fakes/fake-bench.js'
import { prepareFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'

const AXES = '{ plane: [cheap, dear], link: [gateway-ratings], cpuLimitCores: [1], ratePerSecond: [10], users: [10] }'
const MORE = 'mostOfCapacity: 0.8\nprofiles: { standard: { rounds: 3, hasControl: false } }'
// Of two planes: what each reaches, then three rounds.
const TRIALS = 8

describe('a run that was cut short', () => {
  let out = ''
  beforeEach(() => {
    out = path.join(makeFolder('resume-test'), 'run')
  })

  /**
   * @param {{ load?: any, signal?: AbortSignal, isResumed?: boolean, axes?: string, more?: string,
   *   gate?: import('../../src/run/kind.js').GateParity, say?: (line: string) => void }} [options]
   */
  async function measureFake({ load, signal = new AbortController().signal, isResumed = false, ...options } = {}) {
    const { axes = AXES, more = MORE, gate = async () => [], say = () => {} } = options
    const fakeOptions = { load: load ?? createFakeLoad(), axes, more }
    const { preparation, site } = prepareFake({
      target: await createFakeTarget(),
      ledgers: path.dirname(out),
      ...fakeOptions,
    })
    return measurePreparation({
      preparation,
      site,
      out,
      execution: { command: ['bench'], interrupted: isResumed ? readInterruptedRun(out) : undefined },
      watcher: { say },
      signal,
      gate,
    })
  }
  async function interruptAfter(/** @type {number} */ nth) {
    await expect(measureFake(createInterruption(nth))).rejects.toThrow('interrupted')
  }
  const lines = () => readFileSync(path.join(out, 'trials.jsonl'), 'utf8').split('\n').filter(Boolean)
  const ids = () => lines().map(line => JSON.parse(line).trial.id)
  const manifest = () => JSON.parse(readFileSync(path.join(out, 'manifest.json'), 'utf8'))

  it.each([1, 5])('goes on if it stopped, after trial %i', async nth => {
    await interruptAfter(nth)
    const before = lines()
    const started = manifest().run
    expect(before).toHaveLength(nth)
    const { summary } = await measureFake({ isResumed: true })
    expect(lines().slice(0, nth)).toEqual(before)
    expect(new Set(ids()).size).toBe(TRIALS)
    expect(ids()).toHaveLength(TRIALS)
    expect(listArms(summary).map(({ trials }) => trials.completed)).toEqual([3, 3])
    expect(manifest().run).toMatchObject({ ...started, resumed: [{ trials: nth }] })
  })

  it('is not resumed if it would measure something else, or elsewhere, or with other code of the kit', async () => {
    await interruptAfter(3)
    const more = MORE.replace('rounds: 3', 'rounds: 4')
    await expect(measureFake({ isResumed: true, more })).rejects.toThrow(
      /--resume .*: changed since its start: rounds; new trials could not be compared with its own: start a new run/,
    )
    const { machine, kit, ...rest } = manifest()
    const changed = { ...rest, machine: { ...machine, kernel: 'Linux 9' }, kit: { ...kit, sha256: '0'.repeat(64) } }
    writeFileSync(path.join(out, 'manifest.json'), JSON.stringify(changed))
    await expect(measureFake({ isResumed: true })).rejects.toThrow(
      /changed since its start: the kit's code, machine\.kernel/,
    )
    expect(lines()).toHaveLength(3)
  })

  it('goes on without the arms that did not serve when it began', async () => {
    const more = 'profiles: { standard: { rounds: 3, hasControl: false } }'
    /** @type {import('../../src/run/kind.js').GateParity} */
    const gate = async ({ arms, leaveOut }) => {
      const dear = arms.filter(({ plane }) => plane === 'dear')
      if (dear.length > 0) leaveOut?.(dear, 'it crashed')
      return []
    }
    await expect(measureFake({ ...createInterruption(2), more, gate })).rejects.toThrow('interrupted')
    const notMeasured = [{ plane: 'dear', reason: 'it crashed' }]
    expect(manifest()).toMatchObject({ notMeasured, arms: [{ plane: 'cheap' }] })
    const { summary } = await measureFake({ isResumed: true, more, gate })
    expect(summary).toMatchObject({ notMeasured, results: [{ arms: [{ plane: 'cheap', trials: { completed: 3 } }] }] })
    expect(ids()).toHaveLength(3)
  })

  it('is not resumed while it goes on', async () => {
    await interruptAfter(1)
    const { site } = prepareFake({
      target: await createFakeTarget(),
      ledgers: path.dirname(out),
      axes: AXES,
      more: MORE,
    })
    site.ledger.hold('results', out)
    await expect(measureFake({ isResumed: true })).rejects.toThrow(
      `the run ${site.runId} (process ${process.pid}) writes into ${out}: wait until it has ended`,
    )
    site.ledger.release('results', out)
    expect(lines()).toHaveLength(1)
  })

  it('drops half a line that a killed run left, and agrees afterwards', async () => {
    await interruptAfter(3)
    appendFileSync(path.join(out, 'trials.jsonl'), '{"schemaVersion":4,"trial":{"id":"r2-')
    await measureFake({ isResumed: true })
    expect(ids()).toHaveLength(TRIALS)
    expect(readRun(out).warnings).toEqual([])
    expect(verifyRun({ folder: out, findLoad: () => createFakeLoad() }).agrees).toBe(true)
  })

  it.each(['all raw files', 'those of a trial'])('is not resumed if %s are gone', async what => {
    await interruptAfter(3)
    const name = path.join('raw', what === 'all raw files' ? '' : ids()[0])
    expect(existsSync(path.join(out, name))).toBe(true)
    rmSync(path.join(out, name), { recursive: true })
    await expect(measureFake({ isResumed: true })).rejects.toThrow(
      /the raw files of \d of 3 recorded trials are gone from .*raw, so the run could not be verified: start a new run/,
    )
    expect(lines()).toHaveLength(3)
  })

  it('writes through no link', async () => {
    await interruptAfter(1)
    symlinkSync('/tmp', path.join(out, 'raw', 'check-x'))
    await expect(measureFake({ isResumed: true })).rejects.toThrow(/raw\/check-x is a link: remove it/)
    expect(existsSync('/tmp')).toBe(true)
  })

  it('takes no pace for the time left of a search from the trials before', async () => {
    const search = {
      axes: '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [1], ratePerSecond: [300], users: [10] }',
      more: 'search: { kind: size, p99Ms: 50, isExtrapolated: false }',
    }
    await expect(measureFake({ ...search, ...createInterruption(3) })).rejects.toThrow('interrupted')
    const said = /** @type {string[]} */ ([])
    await measureFake({ ...search, isResumed: true, say: line => void said.push(line) })
    const left = said.flatMap(line => / \(about (.*) left\)$/.exec(line)?.[1] ?? [])
    // The first three are read back; the fake takes milliseconds for the next, and so for those to come.
    expect(left.slice(0, 4)).toEqual(['40 s', '30 s', '20 s', '10 s'])
  })

  it('is not resumed if it watches processes that have ended', async () => {
    await interruptAfter(3)
    const more = `${MORE}\nkeepsServices: true`
    await expect(measureFake({ isResumed: true, more })).rejects.toThrow(
      /watches the same processes all the time, and they have ended: start a new run/,
    )
  })
})
