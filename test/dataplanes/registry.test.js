import { describe, expect, it } from 'vitest'
import { assertPlaneName, loadPlanes, MESHES } from '../../src/dataplanes/registry.js'
import { sortDifferences } from '../../src/parity/verdict/lacks.js'
import { DEFAULT_CONDITIONS } from '../fakes/fake-records.js'

const dataPlanes = Object.values(await loadPlanes())

/** @import { DataPlane, Protocol, ToolSpec } from '../../src/model/types.ts' */

/** @param {string} name */
const find = name => /** @type {DataPlane} */ (dataPlanes.find(plane => plane.name === name))

describe('a line of the registry', () => {
  it('loads the plane of its name, or the error says what to rename in a folder that was copied', () => {
    expect(assertPlaneName('caddy', find('caddy'))).toBe(find('caddy'))
    expect(() => assertPlaneName('copy', find('caddy'))).toThrow('"copy" loads a plane with the name "caddy"')
    expect(() => assertPlaneName('copy', undefined)).toThrow('write "export const copy"')
  })
})

it.each(Object.entries(MESHES))('%s is a mesh, whose proxy is a profile that a mesh deploys', (_, choice) => {
  const [name, profile] = choice.split(':')
  expect(find(name).profiles).toContain(profile)
  expect(find(name).deployed?.[profile].from).toBeTruthy()
})

describe('the version', () => {
  it.each([
    ['caddy', 'v2.11.7 h1:yj0Y4fYZGPkSvibBJ1sTWE33xC0fxztVyXEW5iIdUT4=\n', '2.11.7', '2.10.2', '2.11.0', '2.12.1'],
    ['haproxy', 'HAProxy version 2.6.12-1+deb12u4 2026/10/17 - x', '2.6.12', '2.4.0', '2.6.12', '3.0.1'],
    ['nginx', 'nginx version: nginx/1.22.1\n', '1.22.1', '1.18.0', '1.22.1', '1.27.0'],
  ])('of %s is what it prints, and not the first of these is taken', (name, text, version, ...versions) => {
    const { parseVersion, isAccepted } = /** @type {ToolSpec} */ (find(name).tool)
    expect(parseVersion(text)).toBe(version)
    expect(versions.map(isAccepted)).toEqual([false, true, true])
  })
})

describe('the TLS library', () => {
  const nginxBuilt = 'nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22 25 Aug 2026'
  const haproxyBuilt = 'HAProxy version 2.6.12 2026/10/17\nBuilt with OpenSSL version : OpenSSL 3.0.22 25 Aug 2026\n'
  it.each([
    ['nginx', `${nginxBuilt}\nTLS SNI`, 'OpenSSL 3.0.22'],
    ['nginx', `${nginxBuilt} (running with OpenSSL 3.5.4 27 Jan 2026)\nTLS SNI`, 'OpenSSL 3.5.4'],
    ['nginx', 'built with OpenSSL 1.1.1 (compatible; BoringSSL) (running with BoringSSL)\n', 'BoringSSL'],
    ['nginx', `${nginxBuilt} (running wi`, null],
    ['haproxy', `${haproxyBuilt}Running on OpenSSL version : OpenSSL 3.0.19 27 Jan 2026\n`, 'OpenSSL 3.0.19'],
    ['haproxy', `${haproxyBuilt}Running on OpenSSL version : AWS-LC 1.42.0\n`, 'AWS-LC 1.42.0'],
    ['haproxy', `${haproxyBuilt}Running on OpenSSL version : OpenSSL 3.0.1`, null],
  ])('of %s is the one that it runs with', (name, text, library) => {
    expect(find(name).tool?.parseLibrary?.(text)).toBe(library)
  })

  it.each([
    ['nginx', 'OpenSSL 3.0.19', 'nginx 9.9.9 runs with OpenSSL 3.0.19 (NGINX=/path/to/nginx names another)'],
    ['haproxy', 'AWS-LC 1.42.0', 'HAProxy 9.9.9 runs with AWS-LC 1.42.0 (HAPROXY=/path/to/haproxy names another)'],
    ['haproxy', undefined, 'HAProxy 9.9.9 names no such library (HAPROXY='],
  ])('of %s, if it is %s, has no post-quantum group', (name, library, reason) => {
    const conditions = { ...DEFAULT_CONDITIONS, tls: /** @type {const} */ ('ecdsa-p256+x25519mlkem768') }
    const options = { conditions, entrance: { modes: [], hasCertificate: false }, version: '9.9.9', cpus: 2 }
    expect(find(name).findUnsupported({ ...options, library })).toContain(
      `post-quantum groups are asked of OpenSSL 3.5 or later, and ${reason}`,
    )
    expect(find(name).findUnsupported({ ...options, library: 'OpenSSL 3.5.0' })).toBeNull()
    // A plan that is drafted before programs are found.
    expect(find(name).findUnsupported({ ...options, version: '' })).toBeNull()
    expect(find(name).findUnsupported({ ...options, conditions: DEFAULT_CONDITIONS, library })).toBeNull()
  })
})

describe('a lack', () => {
  const late = 'expired: kept open, expected an alert in the handshake'
  const silent = 'expired: closed without an alert, expected an alert in the handshake'
  const [lateIdentity, silentIdentity] = [late, silent].map(line => line.replace('expired', 'another identity'))
  const cases = /** @type {[string, Protocol, string, string, number][]} */ ([
    ...['caddy', 'nginx'].flatMap(plane => [
      [plane, 'http/1.1', 'parity-upstreams', 'another identity, as an upstream: accepted, expected refused', 1],
      [plane, 'http/1.1', 'parity-upstreams', 'the listed identity, as an upstream: refused, expected accepted', 0],
    ]),
    ['caddy', 'http/1.1', 'parity-handshakes', lateIdentity, 1],
    ['caddy', 'http/1.1', 'parity-handshakes', silentIdentity, 0],
    [
      'caddy',
      'http/1.1',
      'parity-permissive',
      'the listed identity, in permissive mode: refused, expected accepted',
      1,
    ],
    ['caddy', 'http/1.1', 'parity-permissive', 'another identity, in permissive mode: accepted, expected refused', 0],
    ['nginx', 'http/1.1', 'parity-handshakes', late, 1],
    ['nginx', 'http/1.1', 'parity-handshakes', silent, 0],
    ['nginx', 'tcp', 'parity-handshakes', silent, 1],
  ])

  it.each(cases)('of %s under %s covers in %s what it describes, and no opposite: %s', (...[plane, ...row]) => {
    const [protocol, name, line, declared] = row
    const configuration = /** @type {const} */ ({ tls: 'ecdsa-p256', trafficPolicy: 'listed', protocol })
    const lacks = find(plane).findLacks?.({ ...configuration, modes: ['strict', 'permissive'] }) ?? []
    expect(sortDifferences({ name, found: 'x', expected: 'y', differences: [line] }, lacks)).toMatchObject({
      declared: { length: declared },
      undeclared: { length: 1 - declared },
    })
  })
})
