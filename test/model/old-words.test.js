import { describe, expect, it } from 'vitest'
import { modernise, moderniseQuestion } from '../../src/model/old-words.js'

const arm = { id: 'a', capCores: 1, load: { kind: 'turns', users: 32, isBesideOthers: true } }

describe('documents of schema version 3', () => {
  it('are read in the words of today', () => {
    const record = {
      schemaVersion: 3,
      trial: { id: 't', kind: 'turns', round: 1, arm, deployment: 'r1-turns', searchOf: null },
      load: { verified: 1, turns: { seconds: 1, perSecond: [1] } },
      processes: [{ capCores: 1, capReadBackCores: 1, cpuCores: 0.5 }],
    }
    expect(modernise(record)).toEqual({
      schemaVersion: 4,
      trial: {
        ...{ id: 't', kind: 'cost', round: 1, interleaving: 'r1-turns', searchOf: null },
        arm: { id: 'a', kind: 'cost', cpuLimitCores: 1, load: { kind: 'interleaved', users: 32, isInterleaved: true } },
      },
      load: { verified: 1, interleaved: { seconds: 1, perSecond: [1] } },
      processes: [{ cpuLimitCores: 1, cpuLimitReadBackCores: 1, cpuCores: 0.5 }],
    })
  })

  it.each([
    ['cost', {}, { load: { isBesideOthers: true, users: 1 } }, {}],
    ['capacity', {}, {}, {}],
    ['capacity', { kind: 'load' }, {}, {}],
    ['search', { searchOf: 'a' }, {}, {}],
    ['rollout', {}, {}, { rollout: { phases: [] } }],
    ['growth', {}, {}, { growth: { steps: [] } }],
  ])('say the kind %s of a trial', (kind, trial, of, parts) => {
    const written = {
      schemaVersion: 3,
      trial: { searchOf: null, ...trial, arm: { ...arm, load: {}, ...of } },
      ...parts,
    }
    expect(modernise(written).trial.kind).toBe(kind)
  })

  it('name one CPU in the singular, as those of version 4 that were written before', () => {
    const comparisons = [{ a: 'pipy with 1 cores', b: 'pipy with 0.1 cores' }]
    const renamed = [{ a: 'pipy with 1 core', b: 'pipy with 0.1 cores' }]
    expect(modernise({ schemaVersion: 4, comparisons })).toEqual({ schemaVersion: 4, comparisons: renamed })
  })

  it('keep the names that a user chose', () => {
    const topologies = { turns: { services: [{ name: 'turns' }] } }
    expect(modernise({ schemaVersion: 3, topologies }).topologies).toEqual(topologies)
  })

  it('are read alone: any other version is as it was written', () => {
    const document = { schemaVersion: 4, turns: 1 }
    expect(modernise(document)).toBe(document)
    expect(modernise(undefined)).toBeUndefined()
  })
})

it.each(['constructor', '__proto__', 'toString'])('keeps a name that every object has: %s', name => {
  const written = JSON.parse(`{ "measure": ["${name}"], "axes": { "${name}": 1 } }`)
  expect(JSON.stringify(moderniseQuestion(written))).toBe(JSON.stringify(written))
})

it('reads experiment files of older versions', () => {
  const written = {
    axes: { plane: ['pipy'], capCores: [1], controlCapCores: [2] },
    measure: ['turns', 'load'],
    shows: { across: 'capCores', contrasts: ['controlCapCores', 'tls'] },
    profiles: { full: { axes: { capCores: 'none' } } },
  }
  expect(moderniseQuestion(written)).toEqual({
    axes: { plane: ['pipy'], cpuLimitCores: [1], controlCpuLimitCores: [2] },
    measure: ['cost', 'capacity'],
    shows: { across: 'cpuLimitCores', contrasts: ['controlCpuLimitCores', 'tls'] },
    profiles: { full: { axes: { cpuLimitCores: 'none' } } },
  })
})
