import { describe, expect, it } from 'vitest'
import { renderConfig } from '../../src/dataplanes/caddy/config.js'
import { caddy } from '../../src/dataplanes/caddy/index.js'
import { renderProxy } from '../../src/dataplanes/caddy/proxy.js'
import { renderRoutes } from '../../src/dataplanes/caddy/routes.js'
import { createCluster, createInbound, createModel, createRoute as route } from '../fakes/fake-models.js'

/** @import { Entrance } from '../../src/model/types.ts' */

const inbound = createInbound()
const model = createModel({ service: 'server-2', inbound, clusters: [createCluster()] })

describe('the routes of Caddy', () => {
  it('match in order, and the last answers that no route matches', () => {
    expect(renderRoutes([route({ host: 'x' })])).toEqual([
      { match: [{ host: ['x'] }], handle: [{ handler: 'invoke', name: 'a' }], terminal: true },
      { handle: [{ handler: 'static_response', status_code: 404, body: 'no route matches' }] },
    ])
  })

  it('compare paths and headers as they are written, and heed the case', () => {
    const [{ match }] = /** @type {any[]} */ (renderRoutes([route({ pathPrefix: '/a.b', headers: { 'x-c': 'd*' } })]))
    expect(match).toEqual([
      { path_regexp: { pattern: String.raw`^/a\.b` }, header_regexp: { 'x-c': { pattern: String.raw`^d\*$` } } },
    ])
  })

  it('share by the first two digits of a random id, and the last takes what is left', () => {
    const share = (/** @type {number[]} */ ...weights) => {
      const split = weights.map((weight, i) => ({ cluster: `c${i}`, weight }))
      const routes = /** @type {any[]} */ (renderRoutes([route({ split })])).slice(0, -1)
      return routes.map(({ match }) => match && new RegExp(match[0].vars_regexp['{http.request.uuid}'].pattern))
    }
    const ids = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))
    const countTaken = (/** @type {RegExp[]} */ patterns) =>
      ids.reduce((counts, id) => {
        const first = patterns.findIndex(pattern => !pattern || pattern.test(id))
        return counts.with(first, counts[first] + 1)
      }, Array(patterns.length).fill(0))
    expect(countTaken(share(80, 20))).toEqual([205, 51])
    expect(countTaken(share(1, 1, 2))).toEqual([64, 64, 128])
    expect(countTaken(share(1, 9999))).toEqual([0, 256])
  })
})

describe('who may call and be called through Caddy', () => {
  it('is no client if none is named: an empty list would admit all', () => {
    const { routes } = /** @type {any} */ (renderConfig(model).apps.http.servers.inbound)
    expect(routes[0]).toEqual({
      match: [{ not: [{ vars: { '{http.request.tls.client.san.uris.0}': [] } }] }],
      handle: [{ handler: 'static_response', abort: true }],
      terminal: true,
    })
    const mtls = { serverName: 'a', acceptedIdentities: [] }
    expect(renderProxy(createCluster({ mtls }), model).transport).toMatchObject({
      tls: { server_name: 'nobody.invalid' },
    })
  })

  it('has the certificate of its service, whatever a caller names', () => {
    const { tls_connection_policies: policies } = /** @type {any} */ (renderConfig(model).apps.http.servers.inbound)
    expect(policies[0]).toMatchObject({ default_sni: 'server', fallback_sni: 'server', curves: ['x25519'] })
  })
})

describe('a port for plaintext and TLS', () => {
  it('takes plaintext only, which is declared, and refused for a load that speaks TLS', () => {
    const config = renderConfig({ ...model, inbound: { ...inbound, mtls: 'permissive' } })
    expect(JSON.stringify(config.apps.http)).not.toContain('tls_connection_policies')
    const refuse = (/** @type {Entrance} */ entrance) =>
      caddy.findUnsupported(/** @type {any} */ ({ conditions: {}, entrance }))
    expect(refuse({ modes: ['permissive', 'strict'], hasCertificate: true })).toMatch('cannot tell them apart')
    expect(refuse({ modes: ['permissive'], hasCertificate: false })).toBeNull()
    const rowsOf = (/** @type {Entrance['modes']} */ modes) =>
      caddy.findLacks?.({ tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'open', modes }).map(({ row }) => row)
    expect(rowsOf(['permissive'])).toContain('parity-permissive')
    expect(rowsOf(['strict'])).not.toContain('parity-permissive')
  })
})
