// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOutliers } from '../../pipy-scripts/outliers.js'

const SETTINGS = { consecutiveFailures: 3, baseSeconds: 2, maxShare: 0.5 }
/** @typedef {ReturnType<typeof createOutliers>} Outliers */

const createFour = () => ['a', 'b', 'c', 'd'].map(name => ({ name }))
const fail = (
  /** @type {Outliers} */ { note },
  /** @type {{ name: string }} */ endpoint,
  /** @type {number} */ times,
  nowMs = 0,
) => Array.from({ length: times }, () => note(endpoint, 503, nowMs)).at(-1)
const namesOf = (/** @type {Outliers} */ { listServing }) =>
  listServing()
    .map((/** @type {{ name: string }} */ { name }) => name)
    .join('')

describe('createOutliers', () => {
  it('ejects an endpoint by failures in a row, and by no others', () => {
    const endpoints = createFour()
    const outliers = createOutliers(endpoints, SETTINGS)
    assert.equal(fail(outliers, endpoints[0], 2), false)
    assert.equal(outliers.note(endpoints[0], 404, 0), false)
    assert.equal(fail(outliers, endpoints[0], 2), false)
    assert.equal(namesOf(outliers), 'abcd')
    assert.equal(fail(outliers, endpoints[0], 1), true)
    assert.equal(namesOf(outliers), 'bcd')
  })

  it('ejects no more than a share, and so never a lone endpoint', () => {
    const endpoints = createFour()
    const outliers = createOutliers(endpoints, SETTINGS)
    assert.deepEqual(
      endpoints.map(endpoint => fail(outliers, endpoint, 3)),
      [true, true, false, false],
    )
    assert.equal(namesOf(outliers), 'cd')
    const [lone] = createFour()
    assert.equal(fail(createOutliers([lone], SETTINGS), lone, 9), false)
  })

  it('brings an endpoint back after the base time, whatever came of its requests meanwhile', () => {
    const endpoints = createFour()
    const outliers = createOutliers(endpoints, SETTINGS)
    fail(outliers, endpoints[0], 3, 1000)
    fail(outliers, endpoints[1], 3, 2000)
    assert.equal(fail(outliers, endpoints[0], 5, 2500), false)
    assert.equal(outliers.findNextReturn(), 3000)
    outliers.restore(2999)
    assert.equal(namesOf(outliers), 'cd')
    outliers.restore(3000)
    assert.equal(namesOf(outliers), 'acd')
    assert.equal(outliers.findNextReturn(), 4000)
    assert.equal(fail(outliers, endpoints[0], 2, 3001), false)
    outliers.restore(4000)
    assert.equal(outliers.findNextReturn(), Number.POSITIVE_INFINITY)
  })
})
