import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { trafficSchema } from '../../src/model/traffic.js'
import { parseLogLine } from '../../src/traffic/access-log.js'
import { parseHar } from '../../src/traffic/har.js'
import { createMixCounter, generalisePath } from '../../src/traffic/mix.js'

const FOLDER = 'test/fixtures/access-logs'
const files = readdirSync(FOLDER)

/** @param {(ReturnType<typeof parseLogLine>)[]} requests */
function mixOf(requests) {
  const mix = createMixCounter()
  for (const request of requests) if (request) mix.add(request)
  return mix.summarise('shop')
}
const request = {
  method: 'GET',
  path: '/',
  atMs: null,
  requestBytes: 0,
  requestHeaderBytes: null,
  responseBytes: 1,
  serviceMs: null,
}

describe('the log of a real server', () => {
  it('is there of four kinds', () => expect(files).toHaveLength(4))

  it.each(files)('%s becomes kinds with weights, sizes and a rate', file => {
    const lines = readFileSync(`${FOLDER}/${file}`, 'utf8').trim().split('\n')
    const requests = lines.map(parseLogLine)
    expect(requests).not.toContain(null)
    const { traffic, count, unsupportedMethods } = mixOf(requests)
    expect([count, unsupportedMethods]).toEqual([11, [['PROPFIND', 1]]])
    expect(trafficSchema.parse(traffic)).toEqual(traffic)
    const isNginx = file.startsWith('nginx')
    expect(traffic.kinds.map(({ weight, method, path }) => `${weight} ${method} ${path}`)).toEqual([
      ...['7 GET /items', '2 GET /items/id', '1 GET /users/id/cart', '1 POST /orders'],
    ])
    // nginx counts the framing of chunks.
    expect(traffic.kinds[0].response).toBe(isNginx ? 14364 : 14336)
    expect(traffic.kinds[3].request).toBe(isNginx ? undefined : 600)
    expect(traffic.kinds[3].serviceTime).toBe(isNginx ? undefined : '29ms')
    // Eleven requests within a minute.
    expect(traffic.requestsPerSecond).toEqual({ mean: 0.183, peak: 0.183 })
    expect(JSON.stringify(traffic)).not.toMatch(/secret|token|jane|hunter2|curl|127\.0/)
  })
})

describe('a line', () => {
  it.each([
    ['', 'nothing'],
    ['GET / 200', 'of no format'],
    ['{"method":"GET"', 'that was cut off'],
    ['{"method":"GET"}', 'without a path'],
    ['127.0.0.1 - - [26/Nov/2026:06:09:23 +0000] "-" 400 0 "-" "-"', 'without a request'],
    ['[2026-11-26T06:09:23.606Z] "- - HTTP/1.1" 400 DPE 0 11 0 - "-" "-" "-" "-" "-"', 'that Envoy could not parse'],
  ])('%j (%s) is not read', line => expect(parseLogLine(line)).toBeNull())

  it('of nginx has its time in the zone that it names', () => {
    const line = '::1 - bob [26/Nov/2026:23:30:00 -0130] "GET http://shop/a?x=1 HTTP/1.1" 200 5 "-" "-"'
    expect(parseLogLine(line)).toMatchObject({ path: '/a', atMs: Date.UTC(2026, 10, 27, 1, 0), responseBytes: 5 })
  })
})

describe('a HAR', () => {
  const entry = {
    startedDateTime: '2026-11-26T06:09:23.606Z',
    request: { method: 'POST', url: 'https://shop.example/orders?coupon=secret', bodySize: 600, headersSize: 420 },
    response: { bodySize: -1, content: { size: 200 } },
    timings: { wait: 29.6 },
  }

  it('has the size of headers, and of a body that came from a cache', () => {
    const data = { ...entry, request: { ...entry.request, url: 'data:text/plain,x' } }
    const [read, none] = parseHar(JSON.stringify({ log: { entries: [entry, data] } }))
    expect(none).toBeNull()
    expect(mixOf([read]).traffic.kinds).toEqual([
      {
        ...{ weight: 1, method: 'POST', path: '/orders', request: 600, requestHeaders: 420, response: 200 },
        serviceTime: '30ms',
      },
    ])
  })

  it('that is none is refused', () => {
    expect(() => parseHar('{')).toThrow('the HAR is no JSON')
    expect(() => parseHar('{"log":{}}')).toThrow('no log.entries of HTTP Archive 1.2: log.entries')
  })
})

describe('generalisePath', () => {
  it.each([
    ['/items', '/items'],
    ['/items/42', '/items/id'],
    ['/v2/items', '/v2/items'],
    ['/items/0b9f6a52-1b1f-4e2e-9d6e-5e3f3a0c9d11/tags', '/items/id/tags'],
    ['/u/jane@example.com', '/u/id'],
    ['/files/deadbeef01', '/files/id'],
    ['/s/%2Fsecret', '/s/id'],
    ['/a.css', '/a.css'],
    ['/', '/'],
  ])('makes %s %s', (path, general) => expect(generalisePath(path)).toBe(general))
})

describe('a mix', () => {
  it('has the busiest minute, and the mean of all minutes from the first to the last', () => {
    const at = (/** @type {number} */ minute) => ({ ...request, atMs: minute * 60_000 })
    const many = [...Array.from({ length: 120 }, () => at(0)), at(9)]
    expect(mixOf(many).traffic.requestsPerSecond).toEqual({ mean: 0.202, peak: 2 })
    expect(mixOf([request]).traffic).not.toHaveProperty('requestsPerSecond')
    // A clock that was never set may stand before 1970.
    expect(mixOf([at(-20), at(-20), at(-19)]).traffic.requestsPerSecond).toEqual({ mean: 0.025, peak: 0.0333 })
  })

  it('has at most 50 kinds: the most frequent, and one of each method for the others', () => {
    const words = Array.from({ length: 120 }, (_, i) => String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26)))
    const requests = words.flatMap((word, i) => Array.from({ length: 1 + i }, () => ({ ...request, path: `/${word}` })))
    const { kinds } = mixOf(requests).traffic
    expect(kinds.length).toBeLessThanOrEqual(50)
    expect(kinds.reduce((sum, { weight }) => sum + weight, 0)).toBe(requests.length)
    expect(kinds.find(({ path }) => path === '/other')?.weight).toBeGreaterThan(100)
  })

  it('loses no request, however many paths there are', () => {
    const letters = (/** @type {number} */ i) => [...`${i}`].map(digit => 'abcdefghij'[Number(digit)]).join('')
    const requests = Array.from({ length: 12_000 }, (_, i) => ({ ...request, path: `/${letters(i)}` }))
    const { traffic, count } = mixOf(requests)
    expect(count).toBe(12_000)
    expect(traffic.kinds.reduce((sum, { weight }) => sum + weight, 0)).toBe(12_000)
  })

  it('counts a path once, whatever its methods', () => {
    const requests = ['/a', '/a', '/b'].map((path, i) => ({ ...request, path, method: i === 1 ? 'POST' : 'GET' }))
    expect(mixOf(requests)).toMatchObject({ paths: 2, count: 3 })
  })

  it('says what the log does not have', () => {
    expect(mixOf([request]).missingFields).toEqual([
      'the size of request headers (those of the generator are sent)',
      'how long the application took (none is taken: add serviceTime)',
    ])
  })
})
