import { describe, expect, it } from 'vitest'
import { listShort } from '../../src/verbs/parity.js'

const row = (/** @type {object} */ fields) => ({
  ...{ name: 'parity-tls', found: 'as asked', expected: 'as asked', differences: [] },
  ...fields,
})

describe('the rows that fall short', () => {
  it('are those with differences, a line each, and those that found another thing', () => {
    const rows = [
      row({}),
      row({ name: 'parity-answers', found: '44 of 46', differences: ['a HEAD: failed', 'a split: not 80 : 20'] }),
      row({ found: 'no TLS', expected: 'TLSv1.3' }),
      row({ name: 'parity-pooling', expected: null }),
    ]
    expect(listShort(rows, {})).toEqual([
      { isKnown: false, text: 'parity-answers: a HEAD: failed' },
      { isKnown: false, text: 'parity-answers: a split: not 80 : 20' },
      { isKnown: false, text: 'parity-tls: no TLS, expected TLSv1.3' },
    ])
  })

  it('are named with the reason that the plane declares', () => {
    expect(listShort([row({ found: 'no name' })], { 'parity-tls': 'it sends no server name' })).toEqual([
      { isKnown: true, text: 'parity-tls: it sends no server name' },
    ])
  })
})
