import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { KIND_NAMES, KINDS } from '../../src/kinds/registry.js'
import { runFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'
import { tiny } from '../fakes/tiny-kind/index.js'

describe('the kinds of trials', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('kinds-test'), 'run')
  })

  it('are registered by their own names', async () => {
    expect(KIND_NAMES).toEqual(['cost', 'capacity', 'search', 'rollout', 'growth'])
    for (const name of KIND_NAMES) expect((await KINDS[name].loadCourse()).name).toBe(name)
  })

  it('are recorded with each trial', async () => {
    const { records } = await runFake({ folder })
    expect(records).toHaveLength(24)
    expect(new Set(records.map(({ trial }) => trial.kind))).toEqual(new Set(['capacity']))
  })

  it('take one more from a folder of its own, which a run asks for nothing else', async () => {
    const { records } = await runFake({ folder, kind: tiny })
    expect(records).toHaveLength(24)
    for (const { trial, outcome, load } of records) {
      expect(trial.kind).toBe('tiny')
      expect(outcome).toBe('completed')
      expect(load).toBeNull()
    }
  })
})
