import { describe, expect, it } from 'vitest'
import { createLabAnswer } from '../../src/lab/answer.js'

/** @import { Breakdown, Row } from '../../src/lab/comparison.js' */

/** @param {string} service @param {{ next: number, spread: number }} options @returns {Row} */
const row = (service, { next, spread }) => ({
  ...{ link: 'pair', service, quantity: 'instructions', old: 1000, new: next },
  ...{ ratio: next / 1000, spread },
})

/** @param {string} service @returns {Breakdown} */
const breakdown = service => ({
  ...{ link: 'pair', service, unit: 'instructions', groups: [], filters: [], calls: [] },
  functions: [{ name: 'JSON.encode', old: 100, new: 103, inclusive: 103 }],
})

/** @param {Row[]} rows */
const answerTo = (...rows) =>
  createLabAnswer({
    ...{
      rows,
      breakdowns: rows.map(({ service }) => breakdown(service)),
      notes: [],
      labels: { old: 'before', new: 'after' },
    },
  }).verdicts

describe('the answer of the lab', () => {
  it('names no functions if there is no difference', () => {
    expect(
      answerTo(row('client', { next: 1003, spread: 0.004 }), row('server', { next: 1001, spread: 0.004 })),
    ).toEqual(['No difference found: every change of the instructions a request is within its noise.'])
  })

  it('says how much less and how much more if sidecars differ in sign', () => {
    const [verdict] = answerTo(
      row('client', { next: 1066, spread: 0.004 }),
      row('server', { next: 990, spread: 0.004 }),
    )
    expect(verdict).toBe('A request takes between 1.00 % less and 6.60 % more instructions than before.')
  })

  it('names the functions of a sidecar that has changed, and none of another', () => {
    expect(
      answerTo(row('client', { next: 1100, spread: 0.004 }), row('server', { next: 1001, spread: 0.004 })),
    ).toEqual([
      'A request takes 0.10 to 10.0 % more instructions than before.',
      'Most of it in client: JSON.encode +3.',
    ])
  })
})
