import { describe, expect, it } from 'vitest'
import { renderParityDifferences } from '../../src/verbs/parity.js'

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
    expect(renderParityDifferences(rows, [])).toEqual([
      { isKnown: false, text: 'parity-answers: a HEAD: failed' },
      { isKnown: false, text: 'parity-answers: a split: not 80 : 20' },
      { isKnown: false, text: 'parity-tls: no TLS, expected TLSv1.3' },
    ])
  })

  it('are named with the reason that the plane declares', () => {
    const lacks = [{ row: 'parity-tls', why: 'it sends no server name' }]
    expect(renderParityDifferences([row({ found: 'no name' })], lacks)).toEqual([
      { isKnown: true, text: 'parity-tls: it sends no server name' },
    ])
    expect(renderParityDifferences([row({})], lacks)).toEqual([
      { isKnown: false, text: 'parity-tls: declared, and nothing shows it: it sends no server name' },
    ])
  })

  it('have a reason for each part, and the rest is not known', () => {
    const lacks = [
      { row: 'parity-answers', of: /^a HEAD/, why: 'it knows no HEAD' },
      { row: 'parity-answers', of: /^a split/, why: 'it cannot count' },
    ]
    const differences = ['a HEAD: failed', 'a split: not 80 : 20', 'a body: failed']
    expect(renderParityDifferences([row({ name: 'parity-answers', found: '1 of 3', differences })], lacks)).toEqual([
      { isKnown: false, text: 'parity-answers: a body: failed' },
      { isKnown: true, text: 'parity-answers: it knows no HEAD' },
      { isKnown: true, text: 'parity-answers: it cannot count' },
    ])
  })

  it('are one line for what differs alike', () => {
    const differences = ['a GET', 'a HEAD', 'a POST'].map(name => `${name}: headers of its own: via`)
    expect(renderParityDifferences([row({ name: 'parity-answers', found: '0 of 3', differences })], [])).toEqual([
      { isKnown: false, text: 'parity-answers: a GET and 2 more: headers of its own: via' },
    ])
  })
})
