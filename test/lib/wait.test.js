import { describe, expect, it } from 'vitest'
import { pollInTime, withTimeout } from '../../src/lib/wait.js'

describe('withTimeout', () => {
  const never = new Promise(() => {})

  it('rejects with the reason of the signal, whether it aborts before or while it waits', async () => {
    const reason = new Error('interrupted')
    const aborting = new AbortController()
    const waiting = withTimeout(never, { seconds: 60, late: () => 'late', signal: aborting.signal })
    aborting.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(withTimeout(never, { seconds: 60, late: () => 'late', signal: aborting.signal })).rejects.toBe(reason)
  })

  it('settles as the promise does, and after the time as what is called then', async () => {
    const { signal } = new AbortController()
    expect(await withTimeout(Promise.resolve('done'), { seconds: 60, late: () => 'late', signal })).toBe('done')
    expect(await withTimeout(never, { seconds: 0.01, late: () => 'late', signal })).toBe('late')
  })
})

describe('pollInTime', () => {
  /** Counts the checks of 0.4 s, each of which keeps this thread busy. @param {number} busyMs */
  async function countChecks(busyMs) {
    let checks = 0
    const check = () => {
      checks++
      for (const end = performance.now() + busyMs; performance.now() < end; );
      return false
    }
    expect(await pollInTime(check, { deadlineSeconds: 0.4, intervalMs: 5 })).toBe(false)
    return checks
  }

  it('checks less often if a check keeps this thread busy', async () => {
    // After 9 times as long as each takes: 90 ms.
    expect(await countChecks(10)).toBeLessThanOrEqual(6)
    expect(await countChecks(0)).toBeGreaterThan(8)
  })

  it('checks at least once, and waits for what takes long without keeping the thread busy', async () => {
    const check = () => new Promise(resolve => setTimeout(() => resolve(true), 20))
    expect(await pollInTime(/** @type {() => Promise<boolean>} */ (check), { deadlineSeconds: 0 })).toBe(true)
  })
})
