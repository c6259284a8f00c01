// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createTracer } from '../../pipy-scripts/trace-context.js'

const UUID = '01234567-89ab-4cde-8f01-23456789abcd'

/**
 * What a tracer makes of headers, one after the other: those without a parent, and those with it.
 * @param {number} count @param {{ parents?: (string | undefined)[], createUuid?: () => string }} [how] @returns {string[]}
 */
function trace(count, { parents = [undefined], createUuid = () => UUID } = {}) {
  const continueTrace = createTracer(createUuid)
  return Array.from({ length: count }, (_, i) => {
    const parent = parents[i % parents.length]
    const headers = /** @type {any} */ (parent === undefined ? {} : { traceparent: parent })
    continueTrace({ head: { headers } })
    return headers.traceparent
  })
}

describe('createTracer', () => {
  it('begins a trace that is not sampled where none came in', () =>
    assert.deepEqual(trace(1), ['00-0123456789ab4cde74ce0123456789ab-0123456700000001-00']))

  it('keeps the trace and its flags, and makes a span', () =>
    assert.deepEqual(trace(1, { parents: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'] }), [
      '00-4bf92f3577b34da6a3ce929d0e0e4736-0123456700000001-01',
    ]))

  it('makes no trace and no span twice', () => {
    const made = trace(70_000, { createUuid: randomUUID })
    for (const part of [1, 2]) assert.equal(new Set(made.map(header => header.split('-')[part])).size, 70_000)
    for (const header of made) assert.match(header, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  })

  // W3C Trace Context level 2 samples by the last 14 digits; OpenTelemetry for Go by the last 16 without their first bit.
  for (const digits of [14, 16])
    for (const parents of [[undefined], [undefined, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']])
      for (const share of [1 / 4, 1 / 256])
        it(`has traces of which ${share} is sampled by ${digits} digits, ${parents.length - 1} in 2 continued`, () => {
          const begun = trace(2 ** 17, { parents, createUuid: randomUUID }).filter(header => header.endsWith('-00'))
          const bits = digits === 16 ? 63n : 56n
          const isSampled = (/** @type {string} */ header) =>
            (BigInt(`0x${header.slice(35 - digits, 35)}`) & (2n ** bits - 1n)) < BigInt(2 ** 56 * share) << (bits - 56n)
          const sampled = begun.filter(isSampled).length / begun.length / share
          assert.ok(sampled > 0.7 && sampled < 1.3, `${sampled}`)
        })

  for (const parent of [
    '00-4bf92f35-00f067aa0ba902b7-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
    'none',
  ])
    it(`passes on ${parent}, which it cannot read`, () => assert.deepEqual(trace(1, { parents: [parent] }), [parent]))
})
