import { describe, expect, it } from 'vitest'
import { findUnsupported } from '../../src/prepare/supported.js'

/** @import { Arm, Conditions, Service } from '../../src/model/types.ts' */

/** @param {Partial<Conditions>} own @param {{ plane?: string, profile?: string, calls?: string[],
 *   listener?: 'inbound' | 'outbound' }} [asked] */
function refused(own, { plane = 'envoy', profile, calls = ['ratings'], listener = 'inbound' } = {}) {
  const conditions = {
    services: 1,
    workers: null,
    configuredServices: 0,
    memoryLimitBytes: null,
    changesPerMinute: null,
  }
  const services = /** @type {Service[]} */ ([
    { name: 'gateway', application: 'forward', calls },
    { name: 'ratings', application: 'echo', calls: [] },
  ])
  return findUnsupported({
    arm: /** @type {Arm} */ ({
      ...{ plane, profile: profile ?? null, hasSidecars: true, capCores: 1, load: { kind: 'closed' } },
      conditions: { ...conditions, tls: 'ecdsa-p256', protocol: 'tcp', ...own },
    }),
    topology: { name: 't', services, entry: { service: 'gateway', listener } },
    ...{ tools: {}, lacks: {}, cpus: 2 },
  })
}

describe('a certificate that changes', () => {
  const rotated = /** @type {const} */ ({ protocol: 'http/1.1', changesPerMinute: 60, changed: 'certificate' })

  it('is given to a sidecar that callers see', () => {
    expect(refused(rotated)).toBeNull()
    expect(refused({ ...rotated, tls: 'plaintext' })).toMatch('its certificate is looked at from outside')
    expect(refused(rotated, { listener: 'outbound' })).toMatch('its certificate is looked at from outside')
  })
})

describe('sidecars that carry bytes', () => {
  it('are given by four planes', () => {
    for (const plane of ['pipy', 'envoy', 'haproxy', 'nginx']) expect(refused({}, { plane })).toBeNull()
  })

  it.each(
    /** @type {[RegExp, Partial<Conditions>, Parameters<typeof refused>[1]?][]} */ ([
      [/access-log, metrics: of requests/, { features: 'access-log+metrics' }],
      [/told by their host/, { configuredServices: 10 }],
      [/asked by host/, { changesPerMinute: 6 }],
      [/redirected connections mean one port/, { interception: 'redirect' }, { calls: ['ratings', 'gateway'] }],
      [/a port declared http/, {}, { profile: 'osm-1.1' }],
      [/a port declared http/, {}, { profile: 'istio' }],
      [/ports declared http/, { interception: 'redirect' }, { plane: 'pipy', profile: 'fsm' }],
      [/layer4/, {}, { plane: 'caddy' }],
    ]),
  )('are refused: %s', (reason, own, asked) => expect(refused(own, asked)).toMatch(reason))
})
