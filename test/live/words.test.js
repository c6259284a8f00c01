import { expect, it } from 'vitest'
import { renderEndedCount } from '../../src/live/words.js'

it('names the trials of a plan that ended, and of a search without a total those that ended so far', () => {
  expect(renderEndedCount({ done: 3, trials: 12 })).toBe('3 of 12 trials ended')
  expect(renderEndedCount({ done: 3, trials: null })).toBe('3 trials ended')
  expect(renderEndedCount({ done: 1, trials: null })).toBe('1 trial ended')
})
