// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTracer } from '../../pipy-scripts/trace-context.js'

const create = () => createTracer(() => '01234567-89ab-4cde-8f01-23456789abcd')

describe('createTracer', () => {
  it('begins a trace that is not sampled where none came in', () =>
    assert.equal(create()(undefined), '00-0123456789ab4cde8f0123456789abcd-0123456700000001-00'))

  it('keeps the trace and its flags, and makes a span', () =>
    assert.equal(
      create()('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
      '00-4bf92f3577b34da6a3ce929d0e0e4736-0123456700000001-01',
    ))

  it('makes no span twice', () => {
    const continueTrace = create()
    const spans = Array.from({ length: 300 }, () => continueTrace(undefined).split('-')[2])
    assert.equal(new Set(spans).size, 300)
    assert.equal(spans[299], '012345670000012c')
  })

  for (const parent of [
    '00-4bf92f35-00f067aa0ba902b7-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
    'none',
  ])
    it(`passes on ${parent}, which it cannot read`, () => assert.equal(create()(parent), parent))
})
