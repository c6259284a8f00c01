import { describe, expect, it } from 'vitest'
import {
  computeBodyBytes,
  computeServiceMs,
  computeServiceP99Ms,
  computeUsersLeast,
  createCheckRequest,
  createRequestKind,
  HEADER_BYTES_LEAST,
  parseChunks,
  parseServiceTime,
  renderAnswerBody,
  renderFillerHeaders,
  renderRequest,
  renderServiceTimeOption,
} from '../../src/model/requests.js'

/** @param {import('../../src/model/requests.js').RequestOptions} options */
const kindOf = options => createRequestKind(options, 1024)

describe('createRequestKind', () => {
  it.each(
    /** @type {[import('../../src/model/requests.js').RequestOptions, string, number, number][]} */ ([
      [{ responseBytes: 14336 }, 'GET', 0, 14336],
      [{ requestBytes: 400 }, 'POST', 400, 1024],
      [{ requestBytes: 400, responseBytes: 10 }, 'POST', 400, 10],
      [{ requestBytes: 0, responseBytes: 10 }, 'GET', 0, 10],
      [{ method: 'GET' }, 'GET', 0, 1024],
      [{ method: 'PUT' }, 'PUT', 1024, 1024],
      [{ method: 'HEAD' }, 'HEAD', 0, 0],
      [{ serviceTime: '30ms' }, 'POST', 1024, 1024],
      [{ responseBytes: 10, protocol: 'grpc' }, 'POST', 1024, 10],
    ]),
  )('makes of %j a %s of %d bytes, answered by %d', (options, method, requestBytes, responseBytes) => {
    expect(kindOf(options)).toMatchObject({ method, requestBytes, responseBytes, path: '/', weight: 1 })
  })

  it('writes one service time in one way, and leaves out one of 0 ms', () => {
    expect(kindOf({ serviceTime: '0.03s' }).serviceTime).toBe(kindOf({ serviceTime: '30ms' }).serviceTime)
    expect(kindOf({ serviceTime: '0ms' })).not.toHaveProperty('serviceTime')
  })
})

describe('service times', () => {
  it.each([
    ['30ms', { meanMs: 30, isExponential: false }],
    ['exp:1.5s', { meanMs: 1500, isExponential: true }],
    ['30', null],
    ['exp:', null],
    ['-3ms', null],
  ])('read %s', (text, time) => expect(parseServiceTime(text)).toEqual(time))

  it('are read again as they are written', () => {
    for (const text of ['30ms', 'exp:1500ms']) {
      const time = /** @type {any} */ (parseServiceTime(text))
      expect(renderServiceTimeOption(time)).toBe(text)
    }
  })

  it('count the time in which an answer is written in chunks', () => {
    const requests = [kindOf({ responseBytes: 100, serviceTime: '30ms', chunks: '10/5ms' })]
    expect(requests[0].chunks).toBe('10/5ms')
    expect(computeServiceMs({ requests })).toBe(75)
    expect(renderRequest({ requests })).toBe('GET, 100 bytes after 30 ms in 10 chunks 5 ms apart')
    expect(parseChunks('0/5ms')).toBeNull()
    expect(parseChunks('3/1.5s')).toEqual({ count: 3, gapMs: 1500 })
  })

  it('have a mean by the weights of the kinds', () => {
    const requests = [
      { ...kindOf({ serviceTime: '30ms', responseBytes: 100 }), weight: 3 },
      { ...kindOf({ responseBytes: 500 }), weight: 1 },
    ]
    expect(computeServiceMs({ requests })).toBe(22.5)
    expect(computeBodyBytes({ requests })).toEqual({ requestBytes: 0, responseBytes: 200 })
    expect(computeServiceMs({})).toBe(0)
    expect(computeBodyBytes({ payloadBytes: 7 })).toEqual({ requestBytes: 7, responseBytes: 7 })
  })
})

describe('the p99 of an application', () => {
  it('is a constant time, ln 100 times the mean of drawn ones, or that of a mix', () => {
    const timed = (/** @type {string} */ serviceTime, weight = 1) => ({ ...kindOf({ serviceTime }), weight })
    expect(computeServiceP99Ms([timed('30ms')])).toBeCloseTo(30, 0)
    expect(computeServiceP99Ms([timed('exp:30ms')])).toBeCloseTo(30 * Math.log(100), 0)
    // Two in a hundred take 500 ms, and then one in two hundred.
    expect(computeServiceP99Ms([timed('5ms', 98), timed('500ms', 2)])).toBeCloseTo(500, 0)
    expect(computeServiceP99Ms([timed('5ms', 199), timed('500ms')])).toBeCloseTo(5, 0)
    expect(computeServiceP99Ms([kindOf({ chunks: '10/5ms' })])).toBeCloseTo(45, 0)
    expect(computeServiceP99Ms([kindOf({})])).toBe(0)
  })

  it('needs users for twice the requests that a slow answer keeps under way', () => {
    expect(computeUsersLeast({ requests: [kindOf({ serviceTime: '30ms' })] }, 10_000)).toBe(1800)
    expect(computeUsersLeast({}, 10_000)).toBe(0)
  })
})

describe('renderFillerHeaders', () => {
  it('makes up just so many bytes, with names, separators and line ends, in at most 16 headers', () => {
    for (const bytes of [0, HEADER_BYTES_LEAST, 63, 64, 400, 1000, 8192]) {
      const headers = Object.entries(renderFillerHeaders(bytes))
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
      expect(lines.join('').length).toBe(bytes)
      expect(headers.length).toBeLessThanOrEqual(16)
      expect(headers.every(([, value]) => value !== '')).toBe(true)
    }
  })
})

describe('createCheckRequest', () => {
  it('posts the nonce that an echo gives back', () => {
    expect(createCheckRequest({}, 'n-1')).toEqual({
      request: { method: 'POST', path: '/', body: 'n-1', headers: { 'x-nonce': 'n-1' } },
      answer: 'n-1',
    })
  })

  it('expects an answer of the requested size that begins with the nonce', () => {
    const { request, answer } = createCheckRequest({ requests: [kindOf({ responseBytes: 6 })] }, 'n-1')
    expect(request).toEqual({ method: 'GET', path: '/', body: '', headers: { 'x-nonce': 'n-1' } })
    expect(answer).toBe('n-1xxx')
    expect(renderAnswerBody(2, 'n-1')).toBe('n-')
  })

  it('writes bodies of gRPC as messages, whose length takes one byte or more', () => {
    const kind = { ...kindOf({ requestBytes: 3, responseBytes: 200 }) }
    const { request, answer } = createCheckRequest({ requests: [kind] }, 'n', 'grpc')
    expect(request.body).toBe('\n\x03xxx')
    // 200 is 0xc8 0x01 as a varint.
    expect(answer).toBe(`\n\xc8\x01n${'x'.repeat(199)}`)
  })
})

describe('renderRequest', () => {
  it('names the request of a pipeline.yaml, and not the payload beside it', () => {
    const request = { method: 'GET', path: '/hi', requestBytes: 0, status: 401 }
    expect(renderRequest({ payloadBytes: 1024, ownRequest: request })).toBe('GET /hi, answered 401')
    expect(renderRequest({ ownRequest: { ...request, method: 'PUT', requestBytes: 2048 } })).toBe(
      'PUT /hi with 2 KiB, answered 401',
    )
    expect(renderRequest({ ownRequest: { ...request, answerBytes: [12, 2048] } })).toBe(
      'GET /hi, answered 401 with 12 bytes or 2 KiB',
    )
  })

  it.each(
    /** @type {[any, string][]} */ ([
      [{ payloadBytes: 1024 }, 'POST 1 KiB, echoed'],
      [{ requests: [kindOf({ responseBytes: 14336, serviceTime: '30ms' })] }, 'GET, 14 KiB after 30 ms'],
      [
        { requests: [kindOf({ requestBytes: 2048, responseBytes: 100, serviceTime: 'exp:5ms' })] },
        'POST 2 KiB, answered by 100 bytes after 5 ms on average',
      ],
      [{ requests: [kindOf({ responseBytes: 0, requestHeaderBytes: 400 })] }, 'GET with 400 bytes of headers, 0 bytes'],
    ]),
  )('says of %j: %s', (load, words) => expect(renderRequest(load)).toBe(words))
})
