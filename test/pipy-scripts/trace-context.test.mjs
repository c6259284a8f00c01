// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTracer } from '../../pipy-scripts/trace-context.js'

/**
 * What a tracer makes of headers, one after the other.
 * @param {number} count @param {string} [parent] @returns {string[]}
 */
function trace(count, parent) {
  const continueTrace = createTracer(() => '01234567-89ab-4cde-8f01-23456789abcd')
  return Array.from({ length: count }, () => {
    const headers = /** @type {any} */ (parent === undefined ? {} : { traceparent: parent })
    continueTrace({ head: { headers } })
    return headers.traceparent
  })
}

describe('createTracer', () => {
  it('begins a trace that is not sampled where none came in', () =>
    assert.deepEqual(trace(1), ['00-0123456789ab4cde8f01000000012345-0123456700000001-00']))

  it('keeps the trace and its flags, and makes a span', () =>
    assert.deepEqual(trace(1, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'), [
      '00-4bf92f3577b34da6a3ce929d0e0e4736-0123456700000001-01',
    ]))

  it('makes no trace and no span twice', () => {
    const made = trace(70_000)
    for (const part of [1, 2]) assert.equal(new Set(made.map(header => header.split('-')[part])).size, 70_000)
    for (const header of made) assert.match(header, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  })

  it('has traces of which as many are sampled as are asked for', () => {
    const isSampled = (/** @type {string} */ header) => Number.parseInt(header.slice(3 + 18, 3 + 32), 16) < 2 ** 56 / 4
    assert.equal(trace(1024).filter(isSampled).length, 256)
  })

  for (const parent of [
    '00-4bf92f35-00f067aa0ba902b7-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
    'none',
  ])
    it(`passes on ${parent}, which it cannot read`, () => assert.deepEqual(trace(1, parent), [parent]))
})
