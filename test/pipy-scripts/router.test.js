import { describe, expect, it } from 'vitest'
import { createRouter } from '../../pipy-scripts/router.js'

const route = (/** @type {string} */ name, match = {}) => ({ name, host: null, pathPrefix: '/', headers: {}, ...match })
const head = (path = '/', headers = {}) => ({ path, headers })

describe('createRouter', () => {
  it('takes the first route that matches', () => {
    const find = createRouter([
      route('a', { pathPrefix: '/api' }),
      route('b', { pathPrefix: '/' }),
      route('c', { pathPrefix: '/api/x' }),
    ])
    expect(find(head('/api/x')).name).toBe('a')
    expect(find(head('/other')).name).toBe('b')
  })

  it('finds none where none matches', () => {
    expect(createRouter([route('a', { pathPrefix: '/api' })])(head('/'))).toBeUndefined()
    expect(createRouter([])(head('/'))).toBeUndefined()
  })

  it('matches a host without its port and in any case', () => {
    const find = createRouter([route('a', { host: 'ratings' })])
    for (const host of ['ratings', 'RATINGS', 'ratings:15001']) expect(find(head('/', { host })).name).toBe('a')
    expect(find(head('/', { host: 'other' }))).toBeUndefined()
    expect(find(head('/'))).toBeUndefined()
  })

  it('keeps the order of routes with and without a host', () => {
    const find = createRouter([route('early', { pathPrefix: '/early' }), route('a', { host: 'a' }), route('late')])
    expect(find(head('/early', { host: 'a' })).name).toBe('early')
    expect(find(head('/', { host: 'a' })).name).toBe('a')
    expect(find(head('/', { host: 'b' })).name).toBe('late')
  })

  it('asks for every header, exactly', () => {
    const find = createRouter([route('canary', { headers: { 'x-canary': 'yes', 'x-tier': '1' } }), route('rest')])
    expect(find(head('/', { 'x-canary': 'yes', 'x-tier': '1' })).name).toBe('canary')
    expect(find(head('/', { 'x-canary': 'yes' })).name).toBe('rest')
  })
})
