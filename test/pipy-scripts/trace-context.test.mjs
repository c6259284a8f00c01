// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { continueTrace } from '../../pipy-scripts/trace-context.js'

const uuid = () => '01234567-89ab-4cde-8f01-23456789abcd'

describe('continueTrace', () => {
  it('begins a trace that is not sampled where none came in', () =>
    assert.equal(continueTrace(undefined, uuid), '00-0123456789ab4cde8f0123456789abcd-23456789abcd89ab-00'))

  it('keeps the trace and its flags, and makes a span', () =>
    assert.equal(
      continueTrace('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', uuid),
      '00-4bf92f3577b34da6a3ce929d0e0e4736-23456789abcd89ab-01',
    ))

  for (const parent of [
    '00-4bf92f35-00f067aa0ba902b7-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
    'none',
  ])
    it(`passes on ${parent}, which it cannot read`, () => assert.equal(continueTrace(parent, uuid), parent))
})
