import { describe, expect, it } from 'vitest'
import { createRequestKind } from '../../src/model/requests.js'
import { probeLoadAnswers } from '../../src/parity/own-answers.js'

/** @param {object} load @param {{ request?: object, fails?: string }} [options] */
async function probe(load, { request, fails } = {}) {
  /** @type {any[]} */
  const asks = []
  const call = async (/** @type {string} */ _, /** @type {any} */ { ask }) => {
    asks.push(ask)
    if (fails) throw new Error(fails)
    return { status: 200, headers: {}, body: '' }
  }
  const arm = { id: 'a-1', load, conditions: { protocol: 'http/1.1' } }
  const services = { entry: { urls: ['http://127.0.0.1:15001/hi'], host: 'ratings', request } }
  const row = await probeLoadAnswers(/** @type {any} */ ({ testbed: { site: { target: { call } } }, arm, services }))
  return { asks, row }
}

describe('probeLoadAnswers', () => {
  it('posts bodies if the load is an echo', async () => {
    const { asks } = await probe({ payloadBytes: 4 })
    expect(asks.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/hi', 'xxxx'],
      ['POST', '/hi', 'a shorter body'],
      ['POST', '/hi', ''],
    ])
  })

  it('asks each kind of request of the load', async () => {
    const kind = createRequestKind({ responseBytes: 14_336, requestHeaderBytes: 20 }, 1024)
    const put = { ...createRequestKind({ method: 'PUT', requestBytes: 3 }, 1024), path: '/cart' }
    const { asks } = await probe({ requests: [kind, put] })
    expect(asks).toMatchObject([
      { method: 'GET', path: '/', body: '', headers: { 'x-nonce': 'own', 'x-h0': 'v'.repeat(12) } },
      { method: 'PUT', path: '/cart', body: 'xxx' },
    ])
  })

  it('asks the request of a pipeline, in bytes', async () => {
    const { asks } = await probe({}, { request: { method: 'PUT', headers: { a: '1' }, body: 'é' } })
    expect(asks).toEqual(
      Array(2).fill({ host: 'ratings', method: 'PUT', path: '/hi', headers: { a: '1' }, body: 'Ã©' }),
    )
  })

  it('says which request of which arm failed', () =>
    expect(probe({ payloadBytes: 4 }, { fails: 'socket hang up' })).rejects.toThrow(
      'POST /hi of the load of a-1 (127.0.0.1:15001) failed: socket hang up',
    ))
})
