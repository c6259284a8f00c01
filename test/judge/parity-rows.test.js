import { describe, expect, it } from 'vitest'
import { findDisparities } from '../../src/judge/parity-rows.js'
import { createArm } from '../fakes/fake-records.js'

const row = (/** @type {string} */ plane, found = 'as asked', expected = /** @type {string | null} */ ('as asked')) =>
  /** @type {import('../../src/model/types.ts').ParityRow} */ ({
    ...{ name: 'parity-tls', plane, link: 'link', capCores: 0.25, workers: null, envoyProfile: 'lean' },
    ...{ found, expected, differences: [] },
  })
const [a, b] = [createArm({ plane: 'pipy' }), createArm({ plane: 'envoy' })]

describe('findDisparities', () => {
  it('finds nothing where both do as they must, or both the same', () => {
    expect(findDisparities({ rows: [row('pipy'), row('envoy')], a, b, relaxed: [] })).toEqual([])
    const same = [row('pipy', 'x', null), row('envoy', 'x', null)]
    expect(findDisparities({ rows: same, a, b, relaxed: [] })).toEqual([])
  })

  it('names who does otherwise', () => {
    const rows = [row('pipy', 'no TLS'), row('envoy')]
    expect(findDisparities({ rows, a, b, relaxed: [] })).toEqual(['parity-tls: pipy: no TLS, as asked is expected'])
    const other = [row('pipy', 'x', null), row('envoy', 'y', null)]
    expect(findDisparities({ rows: other, a, b, relaxed: [] })).toEqual(['parity-tls: pipy: x; envoy: y'])
  })

  it('sets aside what the experiment varies', () => {
    expect(findDisparities({ rows: [row('pipy', 'no TLS'), row('envoy')], a, b, relaxed: ['parity-tls'] })).toEqual([])
  })
})
