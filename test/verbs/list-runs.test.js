import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listRuns } from '../../src/verbs/list-runs.js'
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
    const answer = 'pipy uses 58 % less CPU per request than envoy [57, 58], 6 rounds; bound by the sidecar.'
    expect(runs.slice(0, 3).map(({ folder, says }) => [path.relative(root, folder), says])).toEqual([
      ['agree/local', answer],
      ['cut', 'It goes on, or was cut off: 4 trials are recorded.'],
      ['old', answer],
    ])
    const others = Object.fromEntries(runs.slice(3).map(({ folder, says }) => [path.relative(root, folder), says]))
    expect(Object.keys(others).sort()).toEqual(['lost', 'older'])
    expect(others.lost).toContain('holds no run')
    expect(others.older).toContain('has schema version 1, and this kit reads version 3')
  })

  it('says how to make a run where there is none', () => {
    expect(() => listRuns(path.join(root, 'nowhere'))).toThrow('make one with npm run bench')
  })
})
