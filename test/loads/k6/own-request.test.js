import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../../src/lib/paths.js'

// k6 runs this file: its modules and its environment are those of k6.
const SOURCE = readFileSync(path.join(ROOT, 'bench/k6/own-request.js'), 'utf8')
const request = { method: 'GET', headers: {}, body: '', status: 200, bytes: 2 }
/** @type {any} */
const k6 = globalThis

beforeEach(() => {
  k6.__ENV = { OWN_REQUESTS: JSON.stringify([request]) }
  k6.k6Http = {
    expectedStatuses: (/** @type {number} */ status) => status,
    // As k6 does: a text, or its bytes.
    request: (/** @type {unknown[]} */ ...[, , , options]) => {
      const { responseType } = /** @type {{ responseType?: string }} */ (options)
      const body = responseType === 'binary' ? new TextEncoder().encode(k6.answer).buffer : k6.answer
      return { status: 200, body, error: '', timings: {} }
    },
  }
})
afterEach(() => {
  for (const name of ['__ENV', 'k6Http', 'answer']) delete k6[name]
})

describe('a request of a pipeline', () => {
  it.each([
    ['é', 200, 'sent'],
    ['éé', 200, null],
    ['ab', 200, 'sent'],
  ])('counts an answer of "%s" by its bytes', async (answer, status, body) => {
    k6.answer = answer
    const code = SOURCE.replace("import http from 'k6/http'", 'const http = globalThis.k6Http')
    // Each import runs the file again.
    const { createRequest } = await import(`data:text/javascript,${encodeURIComponent(`${code}\n// ${answer}`)}`)
    expect(createRequest(0, 'http://a')('sent')).toMatchObject({ status, body })
  })
})
