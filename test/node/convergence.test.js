import http from 'node:http'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createConvergencePoller } from '../../src/node/convergence.js'
import { sendRequest } from '../../src/node/send.js'
import { listenInTest } from '../fakes/listen.js'

afterEach(() => void vi.useRealTimers())

/**
 * A sidecar that serves a connection by the configuration that it had when the connection was opened, as Envoy does.
 * @param {{ hasIt: () => boolean, answer?: string, backends?: string[] }} options hasIt: the host that is asked for; answer:
 *   instead of the echo; backends: who answer, one after the other
 */
async function startSidecar({ hasIt, answer, backends = ['backend-1'] }) {
  const had = new WeakMap()
  let served = 0
  const server = http.createServer(async (request, response) => {
    if (!had.has(request.socket)) had.set(request.socket, hasIt())
    if (!had.get(request.socket)) return response.writeHead(404).end()
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const servedBy = backends[served++ % backends.length]
    response
      .writeHead(200, { 'x-nonce': request.headers['x-nonce'], 'x-served-by': servedBy })
      .end(answer ?? Buffer.concat(chunks))
  })
  return { name: 'client-1', host: 'version-1.test', endpoint: await listenInTest(server) }
}

/** @param {Parameters<typeof createConvergencePoller>[0]} [options] */
function openConvergence(options) {
  const convergence = createConvergencePoller(options)
  onTestFinished(() => convergence.close())
  return convergence
}

describe('the convergence of a sidecar', () => {
  it('reads a delay of 2 s before a commit as 2 s, within its resolution', async () => {
    const beginMs = performance.timeOrigin + performance.now()
    const sidecar = await startSidecar({ hasIt: () => performance.timeOrigin + performance.now() >= beginMs + 2000 })
    const { lastNoMs, yesMs, asked: requests } = await openConvergence().expect(sidecar)
    expect(Number(lastNoMs) - beginMs).toBeLessThan(2000)
    expect(Number(yesMs) - beginMs).toBeGreaterThanOrEqual(2000)
    expect(Number(yesMs) - Number(lastNoMs)).toBeLessThan(200)
    // Often at first, then 20 times a second.
    expect(requests).toBeLessThan(75)
    expect(requests).toBeGreaterThan(20)
  })

  it('is not asked over a kept connection, which never has it', async () => {
    let requests = 0
    const sidecar = await startSidecar({ hasIt: () => ++requests > 2 })
    const agent = new http.Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const send = (/** @type {Parameters<typeof sendRequest>} */ ...[endpoint, request, options]) =>
      sendRequest(endpoint, request, { ...options, agent })
    const planted = openConvergence({ send }).expect(sidecar)
    await expect(planted).rejects.toThrow('client-1 was asked over a kept connection')
    expect((await openConvergence().expect(sidecar)).yesMs).not.toBeNull()
  })

  it('is no 200 of somebody else: the nonce must come back', async () => {
    const convergence = openConvergence()
    const asking = convergence.expect(await startSidecar({ hasIt: () => true, answer: 'hello' }))
    setTimeout(() => convergence.giveUp(), 100)
    expect(await asking).toMatchObject({ yesMs: null })
  })

  it('is there, if several backends must answer, when the last of them has', async () => {
    const backends = ['a', 'a', 'b', 'a', 'c']
    const sidecar = { ...(await startSidecar({ hasIt: () => true, backends })), backends: 3 }
    expect(await openConvergence().expect(sidecar)).toMatchObject({ asked: 5, backends: 3, yesMs: expect.any(Number) })
    const convergence = openConvergence()
    const asking = convergence.expect({ ...sidecar, backends: 4 })
    setTimeout(() => convergence.giveUp(), 500)
    expect(await asking).toMatchObject({ backends: 3, yesMs: null })
  })

  it('is given up if it never comes, with when it was last asked', async () => {
    const convergence = openConvergence()
    const asking = convergence.expect(await startSidecar({ hasIt: () => false }))
    expect(convergence.countWaiting()).toBe(1)
    setTimeout(() => convergence.giveUp(), 100)
    const { lastNoMs, yesMs } = await asking
    expect(yesMs).toBeNull()
    expect(lastNoMs).not.toBeNull()
    expect(convergence.countWaiting()).toBe(0)
  })

  it('takes silence, other answers and, once it serves, a refused connection for no no', async () => {
    const answers = [
      async () => /** @type {any} */ ({ status: 503, body: '', headers: {} }),
      () => Promise.reject(new Error('no answer within 1 s')),
      () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
    ]
    const results = []
    for (const isStarting of [false, true]) {
      const left = [...answers]
      const send = () => (left.length > 1 ? left.shift() : left[0])?.() ?? Promise.reject()
      const convergence = openConvergence({ send })
      const endpoint = { address: '127.0.0.1', port: 1 }
      const asking = convergence.expect({ name: 'client-1', host: 'x', endpoint, isStarting })
      setTimeout(() => convergence.giveUp(), 200)
      results.push(await asking)
    }
    expect(results.map(({ asked: requests, lastNoMs }) => [requests > 3, lastNoMs !== null])).toEqual([
      [true, false],
      [true, true],
    ])
  })

  it('says where this machine could not ask', async () => {
    const send = () => Promise.reject(Object.assign(new Error('connect EMFILE 127.0.0.1:1'), { code: 'EMFILE' }))
    const convergence = openConvergence({ send })
    const asking = convergence.expect({ name: 'client-1', host: 'x', endpoint: { address: '127.0.0.1', port: 1 } })
    setTimeout(() => convergence.giveUp(), 50)
    expect(await asking).toMatchObject({ lastNoMs: null, yesMs: null, unsent: 'connect EMFILE 127.0.0.1:1' })
  })

  it('is asked more often as the others answer', async () => {
    vi.useFakeTimers()
    const beginMs = Date.now()
    /** @type {Record<string, number[]>} */
    const requestTimesMs = {}
    /** @param {any} endpoint @param {any} request */
    const send = async ({ address }, { body, headers }) => {
      requestTimesMs[address] = [...(requestTimesMs[address] ?? []), Date.now() - beginMs]
      const hasIt = address !== 'last' && requestTimesMs[address].length === 2
      return /** @type {any} */ (hasIt ? { status: 200, body, headers } : { status: 404 })
    }
    const convergence = openConvergence({ perSecond: 100, send, now: () => Date.now() })
    for (const address of ['last', ...Array.from({ length: 40 }, (_, i) => `${i}`)])
      convergence.expect({ name: address, host: 'x', endpoint: { address, port: 1 } })
    await vi.advanceTimersByTimeAsync(1600)
    expect(convergence.countWaiting()).toBe(1)
    // Every 50 ms when it waits alone; of 41, each waits 0.82 s.
    expect(requestTimesMs.last.filter(ms => ms > 1350).length).toBeGreaterThanOrEqual(4)
  })

  it('asks all together no more than its budget, each in its turn', async () => {
    /** @type {string[]} */
    const addresses = []
    const send = async (/** @type {any} */ endpoint) => {
      addresses.push(endpoint.address)
      throw new Error('refused')
    }
    vi.useFakeTimers()
    const convergence = openConvergence({ perSecond: 100, send, now: Date.now })
    for (let i = 0; i < 50; i++) {
      const endpoint = { address: `127.2.0.${i}`, port: 1 }
      convergence.expect({ name: `client-${i}`, host: 'x', endpoint })
    }
    await vi.advanceTimersByTimeAsync(500)
    // 50 of half a second, and a burst of 50 ms.
    expect(addresses.length).toBeLessThanOrEqual(60)
    expect(addresses.length).toBeGreaterThan(20)
    expect(new Set(addresses).size).toBe(Math.min(50, addresses.length))
  })

  it('leaves half of the budget if many wait', async () => {
    let requests = 0
    const send = async () => {
      requests++
      throw new Error('refused')
    }
    vi.useFakeTimers()
    const convergence = openConvergence({ perSecond: 100, send, now: Date.now })
    const endpoint = { address: '127.2.0.1', port: 1 }
    for (let i = 0; i < 30; i++) convergence.expect({ name: `client-${i}`, host: 'x', endpoint })
    await vi.advanceTimersByTimeAsync(600)
    expect(requests).toBe(30)
    // A round of all takes 30 / (100 / 2) s.
    await vi.advanceTimersByTimeAsync(600)
    expect(requests).toBeGreaterThan(55)
    expect(requests).toBeLessThanOrEqual(62)
  })
})
