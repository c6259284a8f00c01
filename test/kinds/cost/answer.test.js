import { describe, expect, it } from 'vitest'
import { answerCost } from '../../../src/kinds/cost/answer.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { findResult, listArms } from '../../../src/model/results.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { Comparison } from '../../../src/model/types.ts' */

const CONDITION = 'At 32 users, unpinned; other loads move it: npm run bench -- conditions.'

/** @param {{ users?: number[], others?: number, isCompared?: boolean, cpus?: { generator: number, arms: number } | null }} [options] users: of each plane; others: of trials at a limit */
function renderBasis({ users = [32, 32], others = 200, isCompared = true, cpus = null } = {}) {
  const interleaved = ['pipy', 'envoy'].map((plane, i) => ({
    plane,
    load: { .../** @type {const} */ ({ kind: 'interleaved', isInterleaved: true }), users: users[i] },
    cpuPerRequest: [100, 100],
  }))
  const capacity = { plane: 'pipy', load: { users: others }, throughput: [5000] }
  const [{ load, link, conditions, cpuLimitCores }] = listArms(createSummary(interleaved))
  const comparison = /** @type {Comparison} */ (
    /** @type {unknown} */ ({
      ...{ a: 'pipy', b: 'envoy', quantity: 'cpuPerRequest', service: null, contrast: null, isControl: !isCompared },
      ...{ link, load, conditions, cpuLimitCores, ratio: summariseValues([1, 1]), reasons: [] },
      verdict: 'indistinguishable',
    })
  )
  const summary = createSummary([...interleaved, capacity], { comparisons: [comparison], cpus })
  const result = findResult(summary, 'cost')
  if (!result) throw new Error('there is no result of the kind cost')
  return answerCost({ result, summary, measured: result.arms, isAlone: false })?.basis
}

describe('the answer of interleaved arms', () => {
  it('names the users that its comparison holds for, if other parts of the run have others', () => {
    expect(renderBasis()).toEqual([CONDITION, '2 interleaved repeats.'])
    const pinned = { generator: 1, arms: 1 }
    expect(renderBasis({ cpus: pinned })?.[0]).toBe(CONDITION.replace(', unpinned', ''))
  })

  it('leaves them to the title, or to the rows, if that names them', () => {
    expect(renderBasis({ others: 32 })).not.toContain(CONDITION)
    expect(renderBasis({ users: [8, 32] })?.join(' ')).not.toContain('other loads move it')
    expect(renderBasis({ isCompared: false })?.join(' ')).not.toContain('other loads move it')
  })
})
