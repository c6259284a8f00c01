import { describe, expect, it } from 'vitest'
import { renderFiles } from '../../src/dataplanes/haproxy/config.js'
import { quoteConfigWord } from '../../src/dataplanes/haproxy/connections.js'
import { parseOverflows } from '../../src/dataplanes/haproxy/counters.js'
import { renderMap, renderRoutes } from '../../src/dataplanes/haproxy/routes.js'
import { createCluster, createInbound, createModel, createRoute as route } from '../fakes/fake-models.js'

describe('the routes of HAProxy', () => {
  it('are no rule at all if every request goes one way', () => {
    expect(renderRoutes([route({})], '/f/m')).toEqual(['default_backend a'])
  })

  it('are one look-up, however many hosts there are', () => {
    const routes = ['A.test', 'b'].map(host => route({ host, split: [{ cluster: `of-${host}`, weight: 1 }] }))
    expect(renderRoutes(routes, '/f/m')).toEqual([
      'http-request set-var(txn.to) req.hdr(host),host_only,lower,map_str(/f/m,no_route)',
      'use_backend %[var(txn.to)]',
      'default_backend no_route',
    ])
    expect(renderMap(routes)).toBe('a.test of-A.test\nb of-b\n')
  })

  it('name files in a folder with a blank in its name as one word, which HAProxy accepts', async () => {
    const routes = [route({ host: 'a' }), route({ host: 'b', split: [{ cluster: 'other', weight: 1 }] })]
    expect(renderRoutes(routes, '/f a/m')[0]).toMatch(
      /^http-request set-var\(txn.to\) ".*,map_str\(\/f a\/m,no_route\)"$/,
    )
    expect(quoteConfigWord('/f/m')).toBe('/f/m')
  })

  it('share what is left of the weights, and quote what they compare with', () => {
    const split = [3, 2, 1].map((weight, i) => ({ cluster: `c${i}`, weight }))
    const lines = renderRoutes([route({ host: 'h', pathPrefix: "/it's", headers: { 'x-a': 'b c' }, split })], '/f/m')
    const when = String.raw`if { var(txn.to) -m str host_0 } { path_beg -- '/it'\''s' } { req.fhdr(x-a) -m str -- 'b c' }`
    expect(lines.slice(1, 4)).toEqual([
      `use_backend c0 ${when} { rand(6) lt 3 }`,
      `use_backend c1 ${when} { rand(3) lt 2 }`,
      `use_backend c2 ${when}`,
    ])
  })
})

describe('what HAProxy refused by a limit of its own', () => {
  const lines = (/** @type {number} */ failed, /** @type {number} */ most) =>
    [
      '# HELP haproxy_process_pool_failures_total Total number of failed pool allocations.',
      `haproxy_process_pool_failures_total ${failed}`,
      `haproxy_frontend_max_sessions{proxy="inbound"} ${most}`,
      'haproxy_frontend_limit_sessions{proxy="inbound"} 9000',
      'haproxy_frontend_internal_errors_total{proxy="inbound"} 2',
      'haproxy_process_max_zlib_memory NaN',
    ].join('\n')

  it('is memory it could not have, errors of its own, and listeners that were full', () => {
    expect(parseOverflows(lines(0, 8999))).toBe(2)
    expect(parseOverflows(lines(3, 9000))).toBe(6)
    expect(parseOverflows('')).toBe(0)
  })
})

it.each([
  [{}, false],
  [{ streamsAnswers: /** @type {const} */ (true) }, true],
])('HAProxy passes the parts of an answer on where applications write them apart: %j', (fields, isUndelayed) => {
  const model = createModel({ inbound: createInbound(), clusters: [createCluster()], ...fields })
  const [{ content }] = /** @type {{ content: string }[]} */ (renderFiles(model, '/f'))
  expect(content.includes('option http-no-delay')).toBe(isUndelayed)
})
