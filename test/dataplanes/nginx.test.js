import { describe, expect, it } from 'vitest'
import { renderConfig } from '../../src/dataplanes/nginx/config.js'
import { nginx } from '../../src/dataplanes/nginx/index.js'
import { renderListener } from '../../src/dataplanes/nginx/listeners.js'
import { escapePatternText, renderRoutes } from '../../src/dataplanes/nginx/routes.js'
import { createCluster, createInbound, createModel, createRoute as route } from '../fakes/fake-models.js'

/** @import { Route } from '../../src/model/types.ts' */

const render = (/** @type {Route[]} */ ...routes) =>
  renderRoutes('out', { routes, clusters: ['a', 'b', 'c'].map(name => createCluster({ name })) })

describe('the routes of nginx', () => {
  it('are no look-up at all if every request goes one way', () => {
    expect(render(route({}))).toEqual({ maps: [], target: 'http://a', isPartial: false })
  })

  it('are one look-up, however many hosts there are, and nowhere for others', () => {
    expect(render(route({ host: 'x' }), route({ host: 'default' }))).toEqual({
      maps: [['map $host $out_to', '"x" "http://a"', String.raw`"\\default" "http://a"`, 'default ""']],
      target: '$out_to',
      isPartial: true,
    })
  })

  it('are patterns in order if a host has conditions, up to the first route without one', () => {
    const canary = route({
      host: 'x',
      headers: { 'x-canary': 'yes' },
      pathPrefix: '/v2',
      split: [{ cluster: 'b', weight: 1 }],
    })
    const { maps, isPartial } = render(canary, route({}), route({ host: 'x', split: [{ cluster: 'c', weight: 1 }] }))
    expect(maps).toEqual([
      [
        String.raw`map "$http_x_canary\n$request_uri" $out_0`,
        String.raw`"~^yes\n/v2" "http://b"`,
        String.raw`"~^[^\n]*\n/" "http://a"`,
      ],
      ['map $host $out_to', '"x" "$out_0"', 'default "http://a"'],
    ])
    expect(isPartial).toBe(false)
  })

  it('are shared by weight, in hundredths of a percent', () => {
    const split = [3, 2, 1].map((weight, i) => ({ cluster: 'abc'[i], weight }))
    const { maps, target } = render(route({ split }))
    const shares = ['50.00% "http://a"', '33.33% "http://b"', '* "http://c"']
    expect(maps).toEqual([['split_clients $request_id $out_0_split_0', ...shares]])
    expect(target).toBe('$out_0_split_0')
  })

  it.each([
    ['no share of 0.00 %', [1, 20_001, 1], ['100.00% "http://b"', '* "http://c"']],
    ['no more than 100 % in all', [1, 1, 1, 0.0001], ['33.33%', '33.33%', '33.34%', '*']],
  ])('have %s, which nginx refuses', (_, weights, shares) => {
    const { maps } = render(route({ split: weights.map((weight, i) => ({ cluster: 'abc'[i % 3], weight })) }))
    expect(maps[0].slice(1)).toEqual(shares.map(share => expect.stringContaining(share)))
  })

  it('compare with text that means nothing to a pattern or to nginx', () => {
    expect(escapePatternText('/it-is_1')).toBe('/it-is_1')
    expect(escapePatternText('a.*"$é')).toBe(String.raw`a\x2e\x2a\x22\x24\xc3\xa9`)
  })
})

describe('who may call and be called through nginx', () => {
  it('is no client if none is named: an empty list would admit all', () => {
    const entry = createModel({ inbound: createInbound(), clusters: [createCluster()] })
    const text = JSON.stringify(renderListener('inbound', { model: entry }))
    expect(text).toContain(String.raw`["map \"$https:$ssl_client_s_dn\" $is_refused","default 1","\":\" \"\""]`)
    expect(text).toContain('["if ($is_refused)","return 444"]')
    const exit = createModel({
      outbound: { address: '127.1.1.1', port: 15001, routes: [route({})] },
      clusters: [createCluster({ mtls: { serverName: 'a', acceptedIdentities: [] } })],
    })
    expect(JSON.stringify(renderListener('outbound', { model: exit }))).toContain(
      String.raw`["map https://a $outbound_name","\"https://a\" nobody.invalid"]`,
    )
  })
})

describe('what nginx refused by a limit of its own', () => {
  it('is the connections that it took and did not handle', () => {
    const text =
      'Active connections: 2 \nserver accepts handled requests\n 16630948 16630940 31070465 \nReading: 0 Writing: 1 Waiting: 1 \n'
    expect(nginx.parseOverflows?.(text)).toBe(8)
    expect(nginx.parseOverflows?.('')).toBe(0)
  })
})

it.each([
  [{}, false],
  [{ streamsAnswers: /** @type {const} */ (true) }, true],
])('nginx passes the parts of an answer on where applications write them apart: %j', (fields, isUnbuffered) => {
  const model = createModel({ inbound: createInbound(), clusters: [createCluster()], ...fields })
  expect(renderConfig(model).includes('proxy_buffering off;')).toBe(isUnbuffered)
})
