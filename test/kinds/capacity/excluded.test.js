import { describe, expect, it } from 'vitest'
import { findExclusion, listExcludedQuantities } from '../../../src/kinds/capacity/excluded.js'
import { listArms } from '../../../src/model/results.js'
import { createSummary } from '../../fakes/fake-summary.js'

const BUSY = { gate: 'neighbour', trials: 2, reason: 'something else used 1.57 cores of this machine\nmore' }
const FAILED = { gate: 'failed', trials: 4, reason: 'it did not start' }
const DROPS = { gate: 'drops', trials: 1, reason: '9 requests were dropped' }

/** @param {{ kind?: 'open' | 'closed', p99?: number | null, quantities?: string[], trials?: number }} options */
function list({ kind = 'open', p99 = null, quantities = ['burstDropped', 'p99', 'rss'], trials = 6 }) {
  const summary = createSummary([{ plane: 'pipy', load: { kind, ratePerSecond: 100 }, p99: [p99, p99] }])
  const arms = listArms(summary).map(arm => ({
    ...arm,
    spoiled: [DROPS, { ...BUSY, trials }, FAILED, { gate: 'streams', trials: 2, reason: 'no chunk' }],
  }))
  return listExcludedQuantities({ arms }, { shows: { ...summary.shows, quantities } })
}

describe('what checks excluded', () => {
  it('is what the experiment asks for and no proxy has, with the check of the most trials', () =>
    expect(list({ quantities: ['burstDropped', 'p99', 'rss'] })).toEqual([
      { what: 'dropped of them, p99', why: 'something else used 1.57 cores of this machine', commands: [] },
    ]))

  it('is nothing that was measured, nor of a closed loop, nor of an experiment that asks for nothing of its own', () => {
    expect(list({ p99: 7 }).map(({ what }) => what)).toEqual(['dropped of them'])
    expect(list({ kind: 'closed' })).toEqual([])
    expect(list({ quantities: [] })).toEqual([])
  })

  it('is nothing if a check excluded some trials alone', () => expect(list({ trials: 5 })).toEqual([]))

  it('is by a check that spoils this use, or by a failure', () => {
    const arms = listArms(createSummary([{ plane: 'pipy' }]))
    arms[0].spoiled = [BUSY, { gate: 'failed', trials: 1, reason: 'it did not start' }]
    expect(findExclusion(arms, 'latency')).toMatchObject({ gate: 'neighbour' })
    expect(findExclusion(arms, 'memory')).toMatchObject({ gate: 'failed' })
    arms[0].spoiled = [BUSY]
    expect(findExclusion(arms, 'memory')).toBeUndefined()
  })
})
