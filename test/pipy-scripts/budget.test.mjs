// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBudget } from '../../pipy-scripts/budget.js'

/** @typedef {ReturnType<typeof createBudget>} Budget */

const takeAll = (/** @type {Budget} */ { take }) => {
  let count = 0
  while (take()) count++
  return count
}
const begin = (/** @type {Budget} */ budget, /** @type {number} */ times) => {
  budget.counts.requests += times
  return budget
}

describe('createBudget', () => {
  it('has a few retries whatever is under way, and a share of it where that is more', () => {
    const settings = { share: 0.2, minConcurrent: 3 }
    assert.equal(takeAll(begin(createBudget(settings), 1)), 3)
    assert.equal(takeAll(begin(createBudget(settings), 24)), 4)
    assert.equal(takeAll(begin(createBudget(settings), 25)), 5)
  })

  it('has those again that have ended', () => {
    const budget = begin(createBudget({ share: 0.2, minConcurrent: 1 }), 2)
    assert.equal(takeAll(budget), 1)
    budget.counts.requests--
    assert.equal(takeAll(budget), 0)
    budget.counts.retries--
    assert.equal(takeAll(budget), 1)
  })

  it('has none where it is 0', () => assert.equal(takeAll(createBudget({ share: 0, minConcurrent: 0 })), 0))
})
