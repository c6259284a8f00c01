import { describe, expect, it } from 'vitest'
import { continueTrace } from '../../pipy-scripts/trace-context.js'

const uuid = () => '01234567-89ab-4cde-8f01-23456789abcd'

describe('continueTrace', () => {
  it('begins a trace that is not sampled where none came in', () =>
    expect(continueTrace(undefined, uuid)).toBe('00-0123456789ab4cde8f0123456789abcd-23456789abcd89ab-00'))

  it('keeps the trace and its flags, and makes a span', () =>
    expect(continueTrace('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', uuid)).toBe(
      '00-4bf92f3577b34da6a3ce929d0e0e4736-23456789abcd89ab-01',
    ))

  it.each([
    ['00-4bf92f35-00f067aa0ba902b7-01'],
    ['01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more'],
    ['none'],
  ])('passes on %s, which it cannot read', parent => expect(continueTrace(parent, uuid)).toBe(parent))
})
