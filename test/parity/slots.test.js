import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSlots } from '../../src/parity/slots.js'

describe('slots of checks', () => {
  it('start one after the other, and do alone what nothing may go on beside', async () => {
    /** @type {string[]} */
    const events = []
    const check = async (/** @type {import('../../src/parity/slots.js').Slot} */ slot, /** @type {number} */ nth) => {
      const act = async (/** @type {string} */ what, ms = 5) => {
        events.push(`${what} ${nth}`)
        await delay(ms)
        events.push(`${what} ${nth} ended`)
      }
      await slot.runInTurn(() => act('start'))
      await act('probe', 20 * nth)
      await slot.runAlone(() => act('alone'))
      await act('close')
      slot.end()
    }
    await Promise.all(createSlots(2).map((slot, i) => check(slot, i + 1)))
    expect(events.filter(event => event.startsWith('start'))).toEqual([
      ...['start 1', 'start 1 ended', 'start 2', 'start 2 ended'],
    ])
    expect(events.slice(-8, -4)).toEqual(['alone 1', 'alone 1 ended', 'alone 2', 'alone 2 ended'])
    expect(events.indexOf('probe 2 ended')).toBeLessThan(events.indexOf('alone 1'))
  })

  it('wait for no check that has ended, or failed', async () => {
    const [first, second] = createSlots(2)
    const failing = second.runInTurn(async () => {
      throw new Error('it did not start')
    })
    await expect(failing).rejects.toThrow('it did not start')
    second.end()
    expect(await first.runAlone(async () => 'done')).toBe('done')
  })
})
