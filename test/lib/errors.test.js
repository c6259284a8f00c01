import { expect, it } from 'vitest'
import { AgentError, BenchError, isCausedBy, SiteLostError } from '../../src/lib/errors.js'
import { isPlaneFault } from '../../src/parity/probe-plane.js'

const wrap = (/** @type {unknown} */ cause) => new BenchError('a request through pipy failed', { cause })

it('an error is caused by what it wraps, at any depth', () => {
  const lost = new SiteLostError('the API server does not answer')
  expect([lost, wrap(lost), wrap(wrap(lost))].map(error => isCausedBy(error, SiteLostError))).toEqual([
    true,
    true,
    true,
  ])
  expect([wrap(null), new Error('other'), undefined].map(error => isCausedBy(error, SiteLostError))).toEqual([
    false,
    false,
    false,
  ])
})

it('a lost cluster is no fault of a plane, however a request through it was worded, and a refused connection is', () => {
  expect(isPlaneFault(wrap(new SiteLostError('lost')))).toBe(false)
  expect(isPlaneFault(new AgentError('the agent ended'))).toBe(false)
  expect(isPlaneFault(wrap(new AgentError('connect ECONNREFUSED')))).toBe(true)
})
