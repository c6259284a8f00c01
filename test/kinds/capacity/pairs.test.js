import { describe, expect, it } from 'vitest'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import { createFakeProcess, createRecord, DEFAULT_CONDITIONS } from '../../fakes/fake-records.js'

const recordOf = (/** @type {number | undefined} */ pairs) =>
  createRecord({
    arm: { conditions: { ...DEFAULT_CONDITIONS, ...(pairs && { pairs }) } },
    processes: [
      { cpuCores: 0.03, pssBytes: 3e6 },
      { cpuCores: 0.01, pssBytes: 1e6 },
    ].map(({ cpuCores, pssBytes }) => {
      const made = createFakeProcess({ cpuCores })
      return { ...made, memory: { ...made.memory, pssBytes } }
    }),
  })
const measure = (/** @type {string} */ name, /** @type {number | undefined} */ pairs) =>
  QUANTITIES[name].measure({ record: recordOf(pairs) })

describe('quantities of a pair', () => {
  it('are the sum over all sidecars, divided by the pairs', () => {
    expect(measure('pairMillicores', 2)).toBeCloseTo(20)
    expect(measure('pairPss', 2)).toBe(2e6)
  })

  it('have no value if an arm has no pairs', () => {
    expect([measure('pairMillicores', undefined), measure('pairPss', undefined)]).toEqual([null, null])
  })
})
