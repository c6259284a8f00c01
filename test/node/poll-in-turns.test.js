import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { pollInTurns } from '../../src/node/poll-in-turns.js'

/** @import { sendRequest } from '../../src/node/send.js' */

const sidecars = ['client-1', 'client-2', 'client-3'].map((name, i) => ({
  ...{ name, host: 'version-1.test', endpoint: { address: '127.0.0.1', port: 1 + i } },
}))

/** @param {(port: number) => object | Promise<object>} answer what it is instead of the echo */
const echo = answer =>
  /** @type {typeof sendRequest} */ (
    async ({ port }, { body, headers }) =>
      /** @type {any} */ ({ status: 200, body, headers: { 'x-nonce': headers?.['x-nonce'] }, ...(await answer(port)) })
  )
const { signal } = new AbortController()

describe('sidecars that are asked in turns', () => {
  it('are asked 50 times a second in all, until the end', async () => {
    const begun = performance.now()
    let count = 0
    const turns = pollInTurns(sidecars, { signal, send: echo(() => ({ count: ++count })) })
    await vi.waitFor(() => expect(count).toBe(10), { timeout: 4000, interval: 5 })
    expect(performance.now() - begun).toBeGreaterThan(9 * 19)
    const counts = await turns.end()
    const requests = [...counts.values()].map(turn => turn.asked)
    expect(Math.max(...requests) - Math.min(...requests)).toBeLessThanOrEqual(1)
    for (const { asked: sent, answered } of counts.values()) expect(answered).toBe(sent)
  })

  it('are asked once each if the end comes at once, and without sidecars nothing is asked', async () => {
    const counts = await pollInTurns(sidecars, { signal, send: echo(() => ({})) }).end()
    expect([...counts]).toEqual(sidecars.map(({ name }) => [name, { asked: 1, answered: 1 }]))
    expect((await pollInTurns([], { signal }).end()).size).toBe(0)
  })

  it('have not answered by another status, the body of another request, or a broken connection', async () => {
    const answers = [{ status: 404 }, { body: 'client-1-stays-1' }]
    const send = echo(port => answers[port - 1] ?? Promise.reject(new Error('ECONNRESET')))
    const counts = await pollInTurns(sidecars, { signal, send }).end()
    expect([...counts.values()]).toEqual(sidecars.map(() => ({ asked: 1, answered: 0 })))
  })

  it('wait for none that does not answer', async () => {
    let release = (/** @type {object} */ _) => {}
    const held = new Promise(resolve => {
      release = resolve
    })
    let ofLast = 0
    const send = echo(port => (port === 1 ? held : { ofLast: port === 3 ? ++ofLast : 0 }))
    const turns = pollInTurns(sidecars, { signal, send })
    await vi.waitFor(() => expect(ofLast).toBeGreaterThanOrEqual(2), { timeout: 4000, interval: 5 })
    release({})
    expect((await turns.end()).get('client-3')?.answered).toBeGreaterThanOrEqual(2)
  })

  it('are asked no more when it is stopped', async () => {
    const stop = new AbortController()
    let count = 0
    const turns = pollInTurns(sidecars, { signal: stop.signal, send: echo(() => ({ count: ++count })) })
    stop.abort(new Error('interrupted'))
    await expect(turns.end()).rejects.toThrow()
    const countAtStop = count
    await delay(100)
    expect(count).toBe(countAtStop)
  })
})
