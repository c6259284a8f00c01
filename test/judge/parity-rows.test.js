import { describe, expect, it } from 'vitest'
import { findDisparities } from '../../src/judge/parity-rows.js'
import { createArm } from '../fakes/fake-records.js'

const row = (/** @type {string} */ plane, found = 'as asked', expected = /** @type {string | null} */ ('as asked')) =>
  /** @type {import('../../src/model/types.ts').ParityRow} */ ({
    ...{ name: 'parity-tls', plane, link: 'link', capCores: 0.25, workers: null },
    ...{ found, expected, differences: [] },
  })
const [a, b] = [createArm({ plane: 'pipy' }), createArm({ plane: 'envoy' })]

/** @param {import('../../src/model/types.ts').ParityRow[]} rows @param {string[]} [relaxed] */
const find = (rows, relaxed = []) => findDisparities({ a: { arm: a, rows }, b: { arm: b, rows }, relaxed })

describe('findDisparities', () => {
  it('finds nothing where both do as they must, or both the same', () => {
    expect(find([row('pipy'), row('envoy')])).toEqual([])
    const same = [row('pipy', 'x', null), row('envoy', 'x', null)]
    expect(find(same)).toEqual([])
  })

  it('names who does otherwise', () => {
    const rows = [row('pipy', 'no TLS'), row('envoy')]
    expect(find(rows)).toEqual(['parity-tls: pipy: no TLS, as asked is expected'])
    const other = [row('pipy', 'x', null), row('envoy', 'y', null)]
    expect(find(other)).toEqual(['parity-tls: pipy: x; envoy: y'])
  })

  it('sets aside what the experiment varies', () => {
    expect(find([row('pipy', 'no TLS'), row('envoy')], ['parity-tls'])).toEqual([])
  })
})
