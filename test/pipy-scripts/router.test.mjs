// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRouter } from '../../pipy-scripts/router.js'

const route = (/** @type {string} */ name, match = {}) => ({ name, host: null, pathPrefix: '/', headers: {}, ...match })
const head = (path = '/', headers = {}) => ({ path, headers })

describe('createRouter', () => {
  it('takes the first route that matches', () => {
    const { find } = createRouter([
      route('a', { pathPrefix: '/api' }),
      route('b', { pathPrefix: '/' }),
      route('c', { pathPrefix: '/api/x' }),
    ])
    assert.equal(find(head('/api/x')).name, 'a')
    assert.equal(find(head('/other')).name, 'b')
  })

  it('finds none where none matches', () => {
    assert.equal(createRouter([route('a', { pathPrefix: '/api' })]).find(head('/')), undefined)
    assert.equal(createRouter([]).find(head('/')), undefined)
  })

  it('matches a host without its port and in any case', () => {
    const { find } = createRouter([route('a', { host: 'ratings' })])
    for (const host of ['ratings', 'RATINGS', 'ratings:15001']) assert.equal(find(head('/', { host })).name, 'a')
    assert.equal(find(head('/', { host: 'other' })), undefined)
    assert.equal(find(head('/')), undefined)
  })

  it('keeps the order of routes with and without a host', () => {
    const { find } = createRouter([route('early', { pathPrefix: '/early' }), route('a', { host: 'a' }), route('late')])
    assert.equal(find(head('/early', { host: 'a' })).name, 'early')
    assert.equal(find(head('/', { host: 'a' })).name, 'a')
    assert.equal(find(head('/', { host: 'b' })).name, 'late')
  })

  it('asks for every header, exactly', () => {
    const { find } = createRouter([route('canary', { headers: { 'x-canary': 'yes', 'x-tier': '1' } }), route('rest')])
    assert.equal(find(head('/', { 'x-canary': 'yes', 'x-tier': '1' })).name, 'canary')
    assert.equal(find(head('/', { 'x-canary': 'yes' })).name, 'rest')
  })

  it('names the route that takes every request, and no other', () => {
    const any = route('any')
    assert.equal(createRouter([any, route('a', { host: 'a' })]).only, any)
    for (const routes of [
      [],
      [route('a', { host: 'a' }), any],
      [route('a', { pathPrefix: '/api' }), any],
      [route('a', { headers: { 'x-canary': 'yes' } }), any],
    ])
      assert.equal(createRouter(routes).only, undefined)
  })

  it('names the hosts whose requests all take one route', () => {
    const a = route('a', { host: 'a' })
    const later = route('later', { host: 'later' })
    const { byHost } = createRouter([a, route('b', { host: 'b', pathPrefix: '/api' }), later])
    assert.deepEqual(byHost, { a, later })
    assert.deepEqual(createRouter([route('early', { pathPrefix: '/early' }), a]).byHost, {})
    const named = createRouter([route('named', { host: 'undefined' })])
    assert.deepEqual(named.byHost, {})
    assert.equal(named.find(head('/')), undefined)
    assert.equal(named.find(head('/', { host: 'undefined' })).name, 'named')
  })
})
