import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listRuns } from '../../src/verbs/list-runs.js'
import { readHistory } from '../../src/verbs/report-history.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { makeFolder } from '../fakes/scratch.js'

const root = makeFolder('list-runs-test')

describe('listRuns', () => {
  it('gives each run with its answer, the last one first, and says of the others what they are', () => {
    const at = (/** @type {string} */ name) => path.join(root, name)
    const run = (/** @type {string} */ startedAt) => ({ id: 'x', startedAt, experiment: 'cap', seed: 1 })
    writeFakeRun({ folder: at('old'), manifest: { run: run('2026-01-01T00:00:00.000Z') } })
    writeFakeRun({ folder: at('agree/local'), manifest: { run: run('2026-01-03T00:00:00.000Z') } })
    writeFakeRun({ folder: at('cut'), recorded: 4, manifest: { run: run('2026-01-02T00:00:00.000Z') } })
    rmSync(at('cut/summary.json'))
    mkdirSync(at('lost/raw'), { recursive: true })
    writeFakeRun({ folder: at('older') })
    writeFileSync(at('older/summary.json'), '{"schemaVersion": 1}')
    mkdirSync(at('nothing'))

    const runs = listRuns(root)
    const answer =
      'pipy uses 58 % less CPU per request than envoy (95 % CI 57 to 58) and as much memory. At 0.25 CPU each: pipy has 97 % more capacity than envoy (95 % CI 94 to 99).'
    expect(runs.slice(0, 3).map(({ folder, says }) => [path.relative(root, folder), says])).toEqual([
      ['agree/local', answer],
      ['cut', 'It goes on, or was cut off: 4 trials are recorded.'],
      ['old', answer],
    ])
    const others = Object.fromEntries(runs.slice(3).map(({ folder, says }) => [path.relative(root, folder), says]))
    expect(Object.keys(others).sort()).toEqual(['lost', 'older'])
    expect(others.lost).toContain('holds no run')
    expect(others.older).toContain('has schema version 1, and this kit reads versions 3, 4 and 5')
  })

  it('says what a file is that was named instead', () => {
    const file = path.join(root, 'file')
    writeFileSync(file, '')
    expect(() => listRuns(file)).toThrow(`${file} is a file: name a run, or the folder of all runs`)
    expect(() => readHistory(file)).toThrow('is a file: name a run, or the folder of all runs')
  })

  it('says which folder may not be read', context => {
    if (process.getuid?.() !== 0) context.skip('needs root, to become another user')
    const shut = path.join(root, 'shut')
    mkdirSync(shut, { mode: 0o700 })
    chmodSync(root, 0o755)
    process.seteuid?.(65534)
    try {
      expect(() => listRuns(shut)).toThrow(`the runs in ${shut} cannot be listed: EACCES`)
    } finally {
      process.seteuid?.(0)
    }
  })

  it('says how to make a run if there is none', () => {
    expect(() => listRuns(path.join(root, 'nowhere'))).toThrow('make one with npm run bench')
  })
})
