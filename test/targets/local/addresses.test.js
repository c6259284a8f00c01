import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { assertPortsFree, createAddressAllocator } from '../../../src/targets/local/addresses.js'

/** @import { ProcessSpec } from '../../../src/model/types.ts' */

describe('the addresses of a run', () => {
  it('are valid and distinct over the whole block, and begin again after it', () => {
    const next = createAddressAllocator('127.7')
    const addresses = Array.from({ length: 65_534 }, next)
    expect(new Set(addresses).size).toBe(addresses.length)
    expect(addresses.filter(address => !net.isIPv4(address))).toEqual([])
    expect([addresses[0], addresses[255], addresses.at(-1)]).toEqual(['127.7.0.1', '127.7.1.0', '127.7.255.254'])
    expect(next()).toBe(addresses[0])
  })
})

describe('the ports of processes', () => {
  const listeners = [
    { address: '127.9.1.2', port: 15003, inode: '0' },
    { address: '*', port: 2024, inode: '0' },
  ]
  const spec = (/** @type {string} */ address, /** @type {number} */ port, admin = /** @type {any} */ (null)) =>
    /** @type {ProcessSpec} */ (/** @type {unknown} */ ({ listens: [{ address, port }], admin }))

  it('may be taken at another address', () => {
    expect(() => assertPortsFree([spec('127.9.1.3', 15003)], listeners)).not.toThrow()
  })

  it('are refused if something listens, on the address or on all, also for their counters', () => {
    const taken = (/** @type {ProcessSpec} */ one) => () => assertPortsFree([spec('127.9.1.3', 1), one], listeners)
    expect(taken(spec('127.9.1.2', 15003))).toThrow(
      'port 15003 is already taken: another process listens on 127.9.1.2:15003; stop it, or run where it is free',
    )
    expect(taken(spec('127.9.1.3', 2024))).toThrow('another process listens on *:2024')
    expect(taken(spec('127.9.1.3', 2, { address: '127.9.1.2', port: 15003, path: '/' }))).toThrow('127.9.1.2:15003')
  })
})
