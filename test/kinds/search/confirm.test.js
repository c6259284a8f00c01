import { describe, expect, it } from 'vitest'
import { judgeLimits, predictP99Ms } from '../../../src/kinds/search/confirm.js'

/** @import { Outcome } from '../../../src/kinds/search/outcome.js' */

/**
 * @param {(number | [boolean | null, number | null, isDisturbed?: boolean])[]} trials p99s that were met, or the outcome, its
 *   p99, and whether others disturbed it
 */
const outcomes = trials =>
  trials.map((trial, i) => {
    const [held, p99Ms, isDisturbed = false] = typeof trial === 'number' ? [true, trial] : trial
    return /** @type {Outcome} */ (
      /** @type {unknown} */ ({ trial: `t${i}`, held, isDisturbed, p99Ms, why: held ? '' : `why ${i}` })
    )
  })

describe('predictP99Ms', () => {
  it('is the one-sided 95 % prediction bound of the logarithms', () => {
    // Logarithms 2, 3, 4: mean 3, deviation 1; 3 + 2.92 × √(4/3) = 6.37170.
    expect(Math.log(Number(predictP99Ms([2, 3, 4].map(Math.exp))))).toBeCloseTo(6.3717, 4)
    // Five alike: no deviation.
    expect(predictP99Ms([7, 7, 7, 7, 7])).toBeCloseTo(7, 9)
  })

  it('is null below three trials', () => expect(predictP99Ms([7, 7])).toBeNull())
})

describe('judgeLimits', () => {
  it('confirms three trials that met the p99, and whose next will', () => {
    expect(judgeLimits(outcomes([40, 41, 42]), 50)).toMatchObject({ met: 3, missed: 0, p99Ms: 42, isConfirmed: true })
  })

  it('confirms none of which a trial missed it, however many met it, with the worst p99', () => {
    const judged = judgeLimits(outcomes([[false, 231.3], 3, 3, 3, 3]), 50)
    expect(judged).toMatchObject({ met: 4, missed: 1, p99Ms: 231.3, isConfirmed: false, why: 'why 0' })
  })

  it('confirms none whose next trial may miss it', () => {
    expect(judgeLimits(outcomes([20, 30, 45]), 50)).toMatchObject({ met: 3, missed: 0, isConfirmed: false })
  })

  it('confirms none by trials that could not be judged', () => {
    const spoiled = /** @type {[null, number]} */ ([null, 3])
    expect(judgeLimits(outcomes([3, 3, spoiled, spoiled]), 50)).toMatchObject({
      met: 2,
      notJudged: 2,
      isConfirmed: false,
    })
    expect(judgeLimits(outcomes([3, 3, 3, spoiled]), 50)).toMatchObject({ notJudged: 1, isConfirmed: true })
  })

  it('confirms some by trials beside other programs if all of these met the p99, and not by those alone that did', () => {
    const beside = /** @type {[true, number, true]} */ ([true, 3, true])
    const lost = /** @type {[null, number, true]} */ ([null, 90, true])
    expect(judgeLimits(outcomes([beside, 3, beside]), 50)).toMatchObject({ met: 3, proofs: 3, isConfirmed: true })
    const chosen = judgeLimits(outcomes([beside, beside, beside, lost]), 50)
    expect(chosen).toMatchObject({ met: 3, proofs: 0, missed: 0, notJudged: 1, boundMs: null, isConfirmed: false })
    expect(judgeLimits(outcomes([3, 3, 3, beside, lost]), 50)).toMatchObject({ met: 4, isConfirmed: true })
  })
})
