import { describe, expect, it } from 'vitest'
import { listPaths, listRequestKinds, renderTrafficName, trafficSchema } from '../../src/model/traffic.js'

const kind = { weight: 1, method: 'GET', path: '/items' }
const faultOf = (/** @type {object[]} */ kinds) =>
  trafficSchema.safeParse({ name: 'shop', kinds }).error?.issues[0].message

describe('a traffic', () => {
  it('becomes kinds of requests', () => {
    const traffic = trafficSchema.parse({
      name: 'shop',
      kinds: [
        { ...kind, weight: 7, response: '14KiB', serviceTime: '0.01s' },
        { weight: 3, method: 'POST', path: '/orders', request: 600, requestHeaders: '400B' },
      ],
    })
    expect(listRequestKinds(traffic, 1024)).toEqual([
      {
        ...{ weight: 7, method: 'GET', path: '/items', requestBytes: 0, requestHeaderBytes: 0, responseBytes: 14336 },
        serviceTime: '10ms',
      },
      { weight: 3, method: 'POST', path: '/orders', requestBytes: 600, requestHeaderBytes: 400, responseBytes: 1024 },
    ])
  })

  it.each(
    /** @type {[object[], string][]} */ ([
      [[], 'at least one kind of request is needed'],
      [[kind, { ...kind, weight: 2 }], 'two kinds have the same method and path'],
      [[{ ...kind, request: '1KiB' }], 'a GET or HEAD has no body: leave request out'],
      [[{ ...kind, method: 'HEAD', response: 5 }], 'an answer to HEAD has no body: leave response out'],
      [[{ ...kind, path: '/items?token=x' }], 'a path without a query is needed, such as /items'],
      [[{ ...kind, response: 'much' }], 'a size such as 14KiB, or 0, is needed'],
      [[{ ...kind, response: '17MiB' }], 'at most 16777216 bytes: k6 holds a body of every user in memory'],
      [[{ ...kind, requestHeaders: '12KiB' }], 'at most 8192 bytes: nginx and HAProxy refuse more by default'],
      [[{ ...kind, request: 1.5 }], 'a whole number of bytes is needed'],
      [[{ ...kind, request: -5 }], 'a size of at least 0 is needed'],
      [[{ ...kind, requestHeaders: 3 }], 'at least 9 bytes, or 0: a header has a name and a line end'],
      [[{ ...kind, weight: 0 }], 'a weight above 0 is needed'],
    ]),
  )('%j is refused: %s', (kinds, words) => expect(faultOf(kinds)).toBe(words))

  it.each([
    ['shop (1)', 'shop-1-'],
    ['…', 'traffic'],
    [`access-log-${'x'.repeat(100)}`, `access-log-${'x'.repeat(49)}`],
  ])('is named after its file: %s', (stem, name) => {
    expect(renderTrafficName(stem)).toBe(name)
    expect(trafficSchema.safeParse({ name, kinds: [kind] }).success).toBe(true)
  })

  it('lists paths so that the longest prefix comes first', () => {
    const paths = ['/items', '/items/id', '/', '/b'].map(path => ({
      ...listRequestKinds({ name: 's', kinds: [] }, 1)[0],
      path,
    }))
    expect(listPaths(/** @type {any} */ ([...paths, paths[0]]))).toEqual(['/items/id', '/items', '/b', '/'])
  })
})
