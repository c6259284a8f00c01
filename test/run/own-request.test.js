import { describe, expect, it } from 'vitest'
import { createPipelineDocument } from '../../src/model/pipeline.js'
import { sendOwnRequest } from '../../src/run/start-services.js'

/** @param {Record<string, string>} headers of the answer */
const sendTo = async headers => {
  /** @type {any[]} */
  const asks = []
  const call = async (/** @type {string} */ _, /** @type {any} */ { ask }) => {
    asks.push(ask)
    return { status: 200, body: 'Ã©', headers }
  }
  const request = { method: 'PUT', body: 'é', headers: { Host: 'own.example' } }
  const pipeline = { document: createPipelineDocument({ request }), file: 'pipeline.yaml' }
  const entry = { endpoints: [{ address: '127.0.0.1', port: 1 }], host: 'ratings' }
  const sent = await sendOwnRequest(/** @type {any} */ ({ target: { call }, entry, arm: { load: {} }, pipeline }))
  return { sent, asks }
}

describe('sendOwnRequest', () => {
  it('sends the bytes that the load will, to the host that the file names in any case, and counts bytes', async () => {
    const { sent, asks } = await sendTo({})
    expect(asks).toMatchObject([{ host: 'own.example', body: 'Ã©', headers: {} }])
    expect(sent).toMatchObject({ body: 'é', bytes: 2 })
  })

  it('refuses an answer that is encoded, which the load would decode', () =>
    expect(sendTo({ 'content-encoding': 'gzip' })).rejects.toThrow('content-encoding gzip'))
})
