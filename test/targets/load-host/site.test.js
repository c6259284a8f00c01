import { describe, expect, it } from 'vitest'
import { chooseAddress } from '../../../src/targets/load-host/site.js'

const localAddresses = ['127.0.0.1', '10.0.0.1', '192.168.1.7']
const options = { requestedAddress: null, clientAddress: '10.0.0.1', host: 'sam@there', localAddresses }

describe('chooseAddress', () => {
  it('is the requested one, else the one that the other machine sees', () => {
    expect(chooseAddress(options)).toBe('10.0.0.1')
    expect(chooseAddress({ ...options, requestedAddress: '192.168.1.7' })).toBe('192.168.1.7')
  })

  it('is never one that this machine does not have, or all of them', () => {
    const words = /the entry listens at one address of this machine: 127\.0\.0\.1, 10\.0\.0\.1, 192\.168\.1\.7/
    for (const requestedAddress of ['0.0.0.0', '10.0.0.2'])
      expect(() => chooseAddress({ ...options, requestedAddress })).toThrow(words)
  })

  it('is to be named behind a translation of addresses', () => {
    expect(() => chooseAddress({ ...options, clientAddress: '203.0.113.9' })).toThrow(
      /sam@there sees this machine as 203\.0\.113\.9, which is none of its addresses: give --address the one/,
    )
  })
})
