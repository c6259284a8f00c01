import { describe, expect, it } from 'vitest'
import { moderniseDocument, moderniseUserFile } from '../../src/model/old-words.js'
import { SCHEMA_VERSION } from '../../src/model/versions.js'

const arm = { id: 'a', capCores: 1, load: { kind: 'turns', users: 32, isBesideOthers: true } }

describe('documents of schema version 3', () => {
  it('are read in the words of today', () => {
    const record = {
      schemaVersion: 3,
      trial: { id: 't', kind: 'turns', round: 1, arm, deployment: 'r1-turns', searchOf: null },
      load: { verified: 1, turns: { seconds: 1, perSecond: [1] } },
      processes: [{ capCores: 1, capReadBackCores: 1, cpuCores: 0.5 }],
    }
    expect(moderniseDocument(record)).toEqual({
      schemaVersion: 5,
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
    expect(moderniseDocument(written).trial.kind).toBe(kind)
  })

  it('keep the names that a user chose', () => {
    const topologies = { turns: { services: [{ name: 'turns' }] } }
    expect(moderniseDocument({ schemaVersion: 3, topologies }).topologies).toEqual(topologies)
  })

  it('keep their words if they are damaged, so that the schema names the fault', () => {
    const damaged = { schemaVersion: 3, arms: [null], trial: { searchOf: null, arm: {} } }
    expect(moderniseDocument(damaged)).toEqual({ ...damaged, schemaVersion: SCHEMA_VERSION })
  })

  it('are read alone: any other version is as it was written', () => {
    const document = { schemaVersion: 5, turns: 1 }
    expect(moderniseDocument(document)).toBe(document)
    expect(moderniseDocument(undefined)).toBeUndefined()
  })
})

describe('summaries of schema version 4', () => {
  const armOf = (/** @type {string} */ id, /** @type {string} */ kind, fields = {}) => ({
    ...{ id, kind, plane: 'pipy', variant: null, profile: null, link: 'pair', load: {}, ...fields },
  })
  const lineOf = (/** @type {{ ratePerSecond: number, millicores: number }[]} */ points, fields = {}) => ({
    ...{ plane: 'pipy', variant: null, profile: null, link: 'pair', service: null, points, ...fields },
  })
  const flat = {
    schemaVersion: 4,
    run: { id: 'r' },
    arms: [armOf('a', 'cost'), armOf('b', 'capacity', { load: { ratePerSecond: 100 }, cpuCores: { median: 0.25 } })],
    comparisons: [
      { kind: 'capacity', a: 'pipy with 1 cores', b: 'pipy with 0.1 cores' },
      { kind: 'cost', a: 'pipy', b: 'envoy' },
    ],
    lines: [lineOf([{ ratePerSecond: 100, millicores: 250 }])],
    slopes: [{ armId: 'b' }],
    interleaved: { cpus: null, connections: [{ armId: 'a', count: 2 }] },
    ...{ searches: [], sizes: [], shows: { across: null } },
  }

  it('are a result of each kind, and name one core in the singular', () => {
    expect(moderniseDocument(structuredClone(flat))).toEqual({
      schemaVersion: 5,
      ...{ run: { id: 'r' }, shows: { across: null } },
      results: [
        {
          ...{ kind: 'cost', arms: [flat.arms[0]], comparisons: [flat.comparisons[1]], lines: [], slopes: [] },
          ...flat.interleaved,
        },
        {
          ...{ kind: 'capacity', arms: [flat.arms[1]], lines: flat.lines, slopes: flat.slopes },
          comparisons: [{ kind: 'capacity', a: 'pipy with 1 core', b: 'pipy with 0.1 cores' }],
        },
      ],
    })
  })

  it('give a line of CPU to the kind whose arms it was fitted to, if another has the same proxy and rates', () => {
    const rates = [100, 200]
    const listArms = (/** @type {string} */ kind, /** @type {number} */ cores) =>
      rates.map(ratePerSecond => {
        const sidecars = [{ service: 'ratings', cpuCores: { median: cores / 2 } }]
        return armOf(`${kind}-${ratePerSecond}`, kind, {
          load: { ratePerSecond },
          cpuCores: { median: cores },
          sidecars,
        })
      })
    const listLines = (/** @type {number} */ millicores) => [
      lineOf(rates.map(ratePerSecond => ({ ratePerSecond, millicores }))),
      lineOf(
        rates.map(ratePerSecond => ({ ratePerSecond, millicores: millicores / 2 })),
        { service: 'ratings' },
      ),
    ]
    const arms = [...listArms('cost', 0.3), ...listArms('capacity', 0.25)]
    const lines = [...listLines(300), ...listLines(250)]
    const { results } = moderniseDocument({ ...structuredClone(flat), arms, comparisons: [], slopes: [], lines })
    expect(results).toMatchObject([
      { kind: 'cost', lines: listLines(300) },
      { kind: 'capacity', lines: listLines(250) },
    ])
  })

  it.each([
    ['search', { searches: [{}], sizes: [{}] }],
    ['rollout', { controlNeeds: [{}] }],
    ['growth', { growths: [{}] }],
  ])('give the result of a %s what it alone has', (kind, fields) => {
    const { results } = moderniseDocument({ ...flat, comparisons: [], arms: [armOf('a', kind)], ...fields })
    expect(results).toMatchObject([{ kind, ...fields }])
  })
})

it.each(['constructor', '__proto__', 'toString'])('keeps a name that every object has: %s', name => {
  const written = JSON.parse(`{ "measure": ["${name}"], "axes": { "${name}": 1 } }`)
  expect(JSON.stringify(moderniseUserFile(written))).toBe(JSON.stringify(written))
})

it('reads experiment files of older versions', () => {
  const written = {
    axes: { plane: ['pipy'], capCores: [1], controlCapCores: [2] },
    measure: ['turns', 'load'],
    shows: { across: 'capCores', contrasts: ['controlCapCores', 'tls'] },
    profiles: { full: { axes: { capCores: 'none' } } },
  }
  expect(moderniseUserFile(written)).toEqual({
    axes: { plane: ['pipy'], cpuLimitCores: [1], controlCpuLimitCores: [2] },
    measure: ['cost', 'capacity'],
    shows: { across: 'cpuLimitCores', contrasts: ['controlCpuLimitCores', 'tls'] },
    profiles: { full: { axes: { cpuLimitCores: 'none' } } },
  })
})
