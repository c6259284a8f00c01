import { describe, expect, it } from 'vitest'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import { createFakeProcess, createRecord, DEFAULT_CONDITIONS } from '../../fakes/fake-records.js'

const ending = { atSeconds: 1, goneSeconds: 0.5, answerSeconds: 0.2 }
/** @param {boolean} isEnded @param {Parameters<typeof createRecord>[0]} [fields] */
const recordOf = (isEnded, fields) =>
  createRecord({
    arm: {
      conditions: { ...DEFAULT_CONDITIONS, ...(isEnded && { ending: 'sigterm' }) },
      load: { kind: 'open', ratePerSecond: 1000 },
    },
    processes: [createFakeProcess({ cpuCores: 0.5 })],
    ...(isEnded && { ending }),
    ...fields,
  })
const measure = (/** @type {string} */ name, /** @type {ReturnType<typeof recordOf>} */ record) =>
  QUANTITIES[name].measure({ record })

describe('a window in which a sidecar ended', () => {
  it.each(['cpuPerRequest', 'cpuCores', 'rss', 'anon', 'pss'])('has no %s', name => {
    expect(measure(name, recordOf(true))).toBeNull()
    expect(measure(name, recordOf(false))).toEqual(expect.any(Number))
  })

  it('has no cost of a new connection', () => {
    /** @param {boolean} isEnded */
    const cost = isEnded => {
      const record = recordOf(isEnded)
      const fresh = { ...record.trial.arm, load: { ...record.trial.arm.load, connections: 'new' } }
      const churned = /** @type {typeof record} */ ({ ...record, trial: { ...record.trial, arm: fresh } })
      return QUANTITIES.cpuPerConnection.measure({ record: churned, kept: [record] })
    }
    expect(cost(true)).toBeNull()
    expect(cost(false)).toEqual(expect.any(Number))
  })

  it('has lost what failed, and what found no free user in it', () => {
    const seconds = Number(recordOf(true).window?.seconds)
    const [verified, failed] = [900 * seconds, 3]
    const lost = (/** @type {number} */ dropped) =>
      measure('lostRequests', recordOf(true, { load: { verified, failed, dropped } }))
    expect(lost(0)).toBe(3)
    expect(lost(40)).toBe(43)
    expect(measure('lostRequests', recordOf(false))).toBeNull()
  })
})
