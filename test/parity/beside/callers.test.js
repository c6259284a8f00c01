import { describe, expect, it } from 'vitest'
import { listCallerDifferences } from '../../../src/parity/beside/prober.js'

describe('listCallerDifferences', () => {
  const statuses = { allowed: 200, denied: 403 }
  const answered = (/** @type {string} */ host, /** @type {number} */ status, isReused = true) => ({
    host,
    answer: { status, isReused },
  })

  it('wants each route to answer the caller as it must, over one connection', () => {
    const right = [answered('allowed', 200, false), answered('denied', 403)]
    expect(listCallerDifferences({ caller: 'client', statuses, answers: right })).toEqual([])
    const wrong = [answered('allowed', 200, false), answered('denied', 200, false)]
    expect(listCallerDifferences({ caller: 'client', statuses, answers: wrong })).toEqual([
      '200 for client of a route that is denied, expected 403',
      '2 connections for 2 requests of client',
    ])
  })
})
