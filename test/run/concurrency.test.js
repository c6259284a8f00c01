import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { runForEach } from '../../src/run/concurrency.js'

const { signal } = new AbortController()
const items = Array.from({ length: 12 }, (_, i) => i)

describe('runForEach', () => {
  it('does everything, so many at a time', async () => {
    let running = 0
    let most = 0
    /** @type {number[]} */
    const done = []
    await runForEach({ items, concurrency: 3, signal }, async item => {
      most = Math.max(most, ++running)
      await wait(2)
      running--
      done.push(item)
    })
    expect(done.toSorted((a, b) => a - b)).toEqual(items)
    expect(most).toBe(3)
  })

  it('lets every task listen for the end, without a warning of a leak', async () => {
    /** @type {string[]} */
    const warnings = []
    const hear = (/** @type {Error} */ { name }) => void warnings.push(name)
    process.on('warning', hear)
    await runForEach({ items, concurrency: 12, signal }, async (_, taskSignal) =>
      taskSignal.addEventListener('abort', () => {}),
    )
    await wait(5)
    process.off('warning', hear)
    expect(warnings).toEqual([])
  })

  it('begins no more a second than it may, and that is what limits it', async () => {
    const startMs = performance.now()
    /** @type {number[]} */
    const begun = []
    await runForEach({ items, concurrency: 4, perSecond: 100, signal }, async () => {
      begun.push(performance.now() - startMs)
    })
    // A timer counts whole milliseconds, and may fire 1 early.
    for (const [i, ms] of begun.entries()) expect(ms).toBeGreaterThanOrEqual(10 * i - 2)
    expect(begun).toHaveLength(12)
  })

  it('begins nothing more after a failure, which it throws', async () => {
    let begun = 0
    const acting = runForEach({ items, concurrency: 2, perSecond: 200, signal }, async () => {
      if (++begun === 3) throw new Error('refused')
    })
    await expect(acting).rejects.toThrow('refused')
    const then = begun
    await wait(30)
    expect(begun).toBe(then)
    expect(then).toBeLessThan(6)
  })

  it('ends with the reason if it is aborted while it waits', async () => {
    const ending = new AbortController()
    const acting = runForEach({ items, concurrency: 1, perSecond: 10, signal: ending.signal }, async () => {})
    ending.abort(new Error('enough'))
    await expect(acting).rejects.toThrow('enough')
  })
})
