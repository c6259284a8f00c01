import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { createRequestKind } from '../../src/model/requests.js'
import { measureStream } from '../../src/node/stream.js'
import { probeChunks } from '../../src/parity/chunks.js'
import { listen } from '../fakes/listen.js'

const requests = [createRequestKind({ responseBytes: 400, chunks: '4/20ms' }, 1024)]

/** Asks a server that writes four chunks, or all at once, so often. @param {{ kept?: number, bytes?: number, resets?: boolean }} [server] */
async function probe({ kept = 0, bytes = 100, resets = false } = {}) {
  let requestCount = 0
  const server = http.createServer(async (_, response) => {
    if (resets) return response.destroy()
    const isKept = requestCount++ < kept
    for (let i = 0; i < 4; i++) {
      if (i > 0) await new Promise(resolve => setTimeout(resolve, 20))
      if (!isKept) response.write('x'.repeat(bytes))
    }
    response.end(isKept ? 'x'.repeat(4 * bytes) : '')
  })
  const { port } = await listen(server)
  try {
    const call = async (/** @type {string} */ _, /** @type {any} */ { endpoint, request }) =>
      measureStream(endpoint, request)
    const row = await probeChunks(
      /** @type {any} */ ({
        testbed: { site: { target: { call } } },
        arm: { id: 'a-1', load: { requests } },
        services: { entry: { endpoint: { address: '127.0.0.1', port }, host: 'ratings' } },
        signal: new AbortController().signal,
      }),
    )
    return { row, requestCount }
  } finally {
    server.close()
  }
}

describe('probeChunks', () => {
  it('finds that the first chunk is passed on before the last is written', async () => {
    const { row } = await probe()
    expect(row).toMatchObject({ name: 'parity-chunks', found: row.expected, differences: [] })
  })

  it('finds an answer that is kept until its last chunk, and over how long that was written', async () => {
    const { row, requestCount } = await probe({ kept: Number.POSITIVE_INFINITY })
    expect(row.found).toBe('kept until the last was written')
    expect(row.found).not.toBe(row.expected)
    expect(row.differences).toEqual([expect.stringMatching(/^GET \/: chunks written over 60 ms came within \d ms$/)])
    expect(requestCount).toBe(3)
  })

  it('takes one answer that came late for no proof', async () => {
    const { row, requestCount } = await probe({ kept: 1 })
    expect([row.found === row.expected, requestCount]).toEqual([true, 2])
  })

  it('says which request was not answered whole', () =>
    expect(probe({ bytes: 99 })).rejects.toThrow(/GET \/ for an answer in chunks through a-1 .* 396 bytes.* 400$/))

  it('ends with the reason of the signal while a request has no answer', async () => {
    const aborting = new AbortController()
    const reason = new Error('interrupted')
    const call = () => new Promise(() => setTimeout(() => aborting.abort(reason)))
    const probing = probeChunks(
      /** @type {any} */ ({
        testbed: { site: { target: { call } } },
        arm: { id: 'a-1', load: { requests } },
        services: { entry: { endpoint: { address: '127.0.0.1', port: 1 }, host: 'ratings' } },
        signal: aborting.signal,
      }),
    )
    await expect(probing).rejects.toBe(reason)
  })

  it('says which request failed', () =>
    expect(probe({ resets: true })).rejects.toThrow(/^GET \/ for an answer in chunks through a-1 .* failed: /))
})
