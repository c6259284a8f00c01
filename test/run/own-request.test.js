import { describe, expect, it } from 'vitest'
import { BenchError } from '../../src/lib/errors.js'
import { createPipelineDocument } from '../../src/model/pipeline.js'
import { addForeignCodecHint } from '../../src/model/pipeline-findings.js'
import { sendPipelineRequest } from '../../src/run/first-request.js'

/** @param {Record<string, string>} headers of the answer */
const sendTo = async headers => {
  /** @type {any[]} */
  const requests = []
  const call = async (/** @type {string} */ _, /** @type {any} */ { request }) => {
    requests.push(request)
    return { status: 200, body: 'Ã©', headers }
  }
  const request = { method: 'PUT', body: 'é', headers: { Host: 'own.example' } }
  const pipeline = { document: createPipelineDocument({ request }), file: 'pipeline.yaml' }
  const entry = { endpoints: [{ address: '127.0.0.1', port: 1 }], host: 'ratings' }
  const sent = await sendPipelineRequest(/** @type {any} */ ({ target: { call }, entry, arm: { load: {} }, pipeline }))
  return { sent, requests }
}

describe('sendPipelineRequest', () => {
  it('sends the bytes that the load will, to the host that the file names in any case, and counts bytes', async () => {
    const { sent, requests } = await sendTo({})
    expect(requests).toMatchObject([{ host: 'own.example', body: 'Ã©', headers: {} }])
    expect(sent).toMatchObject({ body: 'é', bytes: 2 })
  })

  it('refuses an answer that is encoded, which the load would decode', () =>
    expect(sendTo({ 'content-encoding': 'gzip' })).rejects.toThrow('content-encoding gzip'))
})

describe('addForeignCodecHint', () => {
  it('names the codec that is left in scripts which answer no HTTP', () => {
    const pipeline = {
      document: createPipelineDocument({}),
      file: 'pipeline.yaml',
      scriptFiles: { 'main.js': '$.decodeMQTT()' },
    }
    const error = new BenchError('POST / failed: socket hang up')
    expect(addForeignCodecHint(error, /** @type {any} */ (pipeline))).toMatchObject({
      message:
        'POST / failed: socket hang up; main.js has the codec decodeMQTT, and the load speaks HTTP/1.1, not MQTT: replace its codec in pipeline.yaml, and give --protocol tcp',
    })
    expect(addForeignCodecHint(error, /** @type {any} */ ({ ...pipeline, scriptFiles: {} }))).toBe(error)
  })
})
