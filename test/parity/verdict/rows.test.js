import { describe, expect, it } from 'vitest'
import {
  listPairDisparities,
  renderUnequalPairs,
  renderUnequalRows,
  renderWrongRows,
} from '../../../src/parity/verdict/rows.js'
import { renderScriptNotes } from '../../../src/parity/verdict/table.js'
import { createArm, createParityRow, DEFAULT_CONDITIONS } from '../../fakes/fake-records.js'

/** @import { Arm, ParityRow } from '../../../src/model/types.ts' */

/**
 * @param {ParityRow[]} rows
 * @param {{ relaxed?: string[], fields?: Partial<Arm>, names?: string[] }} [options] fields: of both arms
 */
const find = (rows, { relaxed = [], fields = {}, names = [] } = {}) => {
  const [a, b] = ['pipy', 'envoy'].map((plane, i) => ({ arm: createArm({ ...fields, plane }), name: names[i], rows }))
  return listPairDisparities({ a, b, relaxed })
}
const [pipy, envoy] = ['pipy', 'envoy'].map(
  plane => (/** @type {Partial<ParityRow>} */ fields) => createParityRow({ plane, ...fields }),
)

describe('two folders of the user', () => {
  const userScripts = { isOwn: /** @type {const} */ (true) }
  const short = { ...userScripts, name: 'parity-refusals', found: 'lets in anybody', expected: 'refuses' }
  const load = { ...userScripts, name: 'parity-load', expected: null }

  it('are compared by their answers to the load, whatever one lacks against the contract', () => {
    const alike = [
      pipy(short),
      envoy({ ...userScripts, name: 'parity-refusals' }),
      pipy({ ...load, found: '200' }),
      envoy({ ...load, found: '200' }),
    ]
    expect(find(alike)).toEqual([])
    expect(find([...alike.slice(0, 3), envoy({ ...load, found: '404' })])).toEqual([
      'parity-load: pipy: 200; envoy: 404',
    ])
    expect(renderWrongRows({ judged: [{ arm: createArm({ plane: 'pipy' }), rows: alike }], relaxed: [] })).toEqual([])
  })

  it('are held to the contract beside a plane of the kit', () => {
    expect(find([pipy(short), envoy({ name: 'parity-refusals' })])).toEqual([
      'parity-refusals: pipy: lets in anybody, refuses is expected',
    ])
  })

  it('are reported in one line, with what they lack', () => {
    const parity = [pipy(short), pipy({ ...load, found: '200' }), envoy({ ...load, found: '200' })]
    expect(renderScriptNotes({ parity })).toEqual([
      "Own scripts are compared by their answers to the load, and are alike: pipy, envoy. Not held to the kit's contract: pipy (refusals).",
    ])
    expect(renderScriptNotes({ parity: [pipy({})] })).toEqual([])
  })

  it('are not reported for what their plane declares to lack, nor at all beside the kit if they hold its contract', () => {
    const declared = pipy({ ...short, lacks: ['it sends no alert'] })
    const alone = ['Own scripts are compared by their answers to the load: pipy.']
    expect(renderScriptNotes({ parity: [declared] })).toEqual(alone)
    expect(renderScriptNotes({ parity: [declared, envoy({ name: 'parity-refusals' })] })).toEqual([])
  })
})

describe('renderUnequalPairs', () => {
  it('names the pairs that get no verdict, and not those of others beside them', () => {
    const arms = ['pipy', 'envoy', 'nginx'].map(plane => createArm({ id: plane, plane }))
    const rows = arms.map(({ plane }) =>
      createParityRow({ name: 'parity-tls', plane, found: plane === 'nginx' ? 'x' : 'y', expected: 'y' }),
    )
    expect(renderUnequalPairs({ arms, rows, relaxed: [] })).toEqual([
      'unequal work (tls: nginx: x, y is expected): no verdict on pipy and nginx, envoy and nginx',
    ])
    expect(renderUnequalPairs({ arms, rows, relaxed: ['parity-tls'] })).toEqual([])
    expect(renderUnequalPairs({ arms: arms.slice(2), rows, relaxed: [] })).toEqual([])
  })
})

describe('listPairDisparities', () => {
  it('finds nothing if both do as they must, or both the same', () => {
    expect(find([pipy({}), envoy({})])).toEqual([])
    expect(find([pipy({ found: 'x', expected: null }), envoy({ found: 'x', expected: null })])).toEqual([])
  })

  it('names the plane that does otherwise, as it is called in the comparison', () => {
    const rows = [pipy({ found: 'no TLS', expected: 'TLS' }), envoy({})]
    expect(find(rows)).toEqual(['parity-tls: pipy: no TLS, TLS is expected'])
    expect(find(rows, { names: ['pipy (new)', 'envoy'] })).toEqual(['parity-tls: pipy (new): no TLS, TLS is expected'])
    expect(find([pipy({ found: 'x', expected: null }), envoy({ found: 'y', expected: null })])).toEqual([
      'parity-tls: pipy: x; envoy: y',
    ])
  })

  it('finds nothing if both fall short in the same things, and each declares it', () => {
    const short = { found: 'no TLS', expected: 'TLS', lacks: ['it has no TLS'] }
    expect(find([pipy(short), envoy({ ...short, lacks: ['nor has this'] })])).toEqual([])
    const another = 'parity-tls: pipy: it has no TLS'
    expect(find([pipy(short), envoy({})])).toEqual([another])
    expect(find([pipy(short), envoy({ ...short, lacks: undefined })])).toEqual([
      another,
      'parity-tls: envoy: no TLS, TLS is expected',
    ])
    expect(find([pipy(short), envoy({ ...short, differences: ['a peer: accepted'] })])).toHaveLength(2)
  })

  it('judges an arm by the rows of links that do the work', () => {
    const rows = [pipy({ found: 'no TLS', expected: 'TLS', links: ['another'] }), envoy({ links: ['another'] })]
    expect(find(rows)).toEqual([])
    expect(find(rows, { fields: { link: 'another' } })).toEqual(['parity-tls: pipy: no TLS, TLS is expected'])
  })

  it('sets aside what the experiment varies', () => {
    const rows = [pipy({ found: 'no TLS', expected: 'TLS' }), envoy({})]
    expect(find(rows, { relaxed: ['parity-tls'] })).toEqual([])
  })

  it('judges an arm by the rows of its own TLS and protocol', () => {
    const wrong = { found: 'no TLS', expected: 'TLS' }
    const rows = [
      ...[pipy({}), envoy({})],
      ...[pipy({ ...wrong, tls: 'rsa-2048' }), envoy({ tls: 'rsa-2048' })],
      ...[pipy({ protocol: 'http/2' }), envoy({ ...wrong, protocol: 'http/2' })],
    ]
    const withConditions = (/** @type {Partial<Arm['conditions']>} */ conditions) =>
      find(rows, { fields: { conditions: { ...DEFAULT_CONDITIONS, ...conditions } } })
    expect(withConditions({})).toEqual([])
    expect(withConditions({ tls: 'rsa-2048' })).toEqual(['parity-tls: pipy: no TLS, TLS is expected'])
    expect(withConditions({ protocol: 'http/2' })).toEqual(['parity-tls: envoy: no TLS, TLS is expected'])
  })

  it('judges workers at the link, cap and workers that they were counted at, and the rest at any', () => {
    const name = 'parity-workers'
    const wrong = { name, found: '2 a sidecar', expected: '1 a sidecar' }
    const size = { link: 'link', cpuLimitCores: 0.25, workers: null }
    const rows = [
      ...[pipy({ name, size }), envoy({ ...wrong, size })],
      ...[pipy({ name, size: { ...size, cpuLimitCores: 1 } }), envoy({ name, size: { ...size, cpuLimitCores: 1 } })],
      ...[pipy({}), envoy({ found: 'x', expected: 'as asked' })],
    ]
    const anywhere = 'parity-tls: envoy: x, as asked is expected'
    expect(find(rows)).toEqual([anywhere, 'parity-workers: envoy: 2 a sidecar, 1 a sidecar is expected'])
    expect(find(rows, { fields: { cpuLimitCores: 1 } })).toEqual([anywhere])
  })
})

describe('findWrong', () => {
  const judge = (/** @type {ParityRow[]} */ rows) =>
    renderWrongRows({
      judged: ['lean', 'access-log'].map(features => ({
        arm: createArm({ conditions: { ...DEFAULT_CONDITIONS, features } }),
        rows,
      })),
      relaxed: [],
    })
  const name = 'parity-features'
  const logged = { name, features: 'access-log', expected: 'access-log' }

  it('finds nothing if each arm does what its own configuration asks for', () =>
    expect(judge([pipy({}), pipy({ ...logged, found: 'access-log' })])).toEqual([]))

  it('names an arm that does other than it must, beside one of another configuration', () =>
    expect(judge([pipy({}), pipy({ ...logged, found: '1 differences of access-log' })])).toEqual([
      'parity-features: pipy: 1 differences of access-log, access-log is expected',
    ]))
})

describe('findUnequal', () => {
  const rows = [
    ...[pipy({ found: 'no TLS', expected: 'TLS', isDeployed: true }), envoy({})],
    ...[pipy({ name: 'parity-pooling', isDeployed: true }), envoy({ name: 'parity-pooling' })],
    ...[pipy({ name: 'parity-logging', found: '9 bytes', isDeployed: true }), envoy({ name: 'parity-logging' })],
  ]
  const [a, b] = ['pipy', 'envoy'].map(plane => ({ arm: createArm({ plane }), rows }))

  it('names the rows of a plane as deployed that differ, which then are no disparities', () => {
    expect(renderUnequalRows({ a, b, relaxed: [] })).toEqual(['unequal work: tls, logging'])
    expect(renderUnequalRows({ a: b, b: a, relaxed: ['parity-tls'] })).toEqual(['unequal work: logging'])
    expect(listPairDisparities({ a, b, relaxed: [] })).toEqual([])
    expect(renderWrongRows({ judged: [a, b], relaxed: [] })).toEqual([])
  })

  it('finds nothing between planes that are not', () => {
    const equal = rows.map(({ isDeployed: _, ...row }) => row)
    const [x, y] = [a, b].map(judged => ({ ...judged, rows: equal }))
    expect(renderUnequalRows({ a: x, b: y, relaxed: [] })).toEqual([])
    expect(listPairDisparities({ a: x, b: y, relaxed: [] })).not.toEqual([])
  })
})
