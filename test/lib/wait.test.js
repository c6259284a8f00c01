import { describe, expect, it } from 'vitest'
import { withTimeout } from '../../src/lib/wait.js'

describe('within', () => {
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
