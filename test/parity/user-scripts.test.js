import { describe, expect, it } from 'vitest'
import { createRequestKind } from '../../src/model/requests.js'
import { probeLoadAnswers } from '../../src/parity/user-scripts.js'

/** @param {object} load @param {{ request?: object, fails?: string }} [options] */
async function probe(load, { request, fails } = {}) {
  /** @type {any[]} */
  const requests = []
  const call = async (/** @type {string} */ _, /** @type {any} */ { request: sentRequest }) => {
    requests.push(sentRequest)
    if (fails) throw new Error(fails)
    return { status: 200, headers: {}, body: '' }
  }
  const arm = { id: 'a-1', load, conditions: { protocol: 'http/1.1' } }
  const endpoint = { address: '127.0.0.1', port: 15001 }
  const services = { entry: { endpoint, path: '/hi', host: 'ratings', request } }
  const row = await probeLoadAnswers(/** @type {any} */ ({ testbed: { site: { target: { call } } }, arm, services }))
  return { requests, row }
}

describe('probeLoadAnswers', () => {
  it('posts bodies if the load is an echo', async () => {
    const { requests } = await probe({ payloadBytes: 4 })
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/hi', 'xxxx'],
      ['POST', '/hi', 'a shorter body'],
      ['POST', '/hi', ''],
    ])
  })

  it('asks each kind of request of the load', async () => {
    const kind = createRequestKind({ responseBytes: 14_336, requestHeaderBytes: 20 }, 1024)
    const put = { ...createRequestKind({ method: 'PUT', requestBytes: 3 }, 1024), path: '/cart' }
    const { requests } = await probe({ requests: [kind, put] })
    expect(requests).toMatchObject([
      { method: 'GET', path: '/', body: '', headers: { 'x-nonce': 'own', 'x-h0': 'v'.repeat(12) } },
      { method: 'PUT', path: '/cart', body: 'xxx' },
    ])
  })

  it('asks the request of a pipeline, in bytes', async () => {
    const { requests } = await probe({}, { request: { method: 'PUT', headers: { a: '1' }, body: 'é' } })
    expect(requests).toEqual(
      Array(2).fill({ host: 'ratings', method: 'PUT', path: '/hi', headers: { a: '1' }, body: 'Ã©' }),
    )
  })

  it('says which request of which arm failed', () =>
    expect(probe({ payloadBytes: 4 }, { fails: 'socket hang up' })).rejects.toThrow(
      'POST /hi of the load of a-1 (127.0.0.1:15001) failed: socket hang up',
    ))
})
