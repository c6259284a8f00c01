import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.js'
import { joinAddress, parseAddress } from '../../src/live/address.js'

describe('where the page is served', () => {
  it.each([
    [':8080', '127.0.0.1', 8080],
    ['8080', '127.0.0.1', 8080],
    [':0', '127.0.0.1', 0],
    ['0.0.0.0:8080', '0.0.0.0', 8080],
    ['192.168.1.7:65535', '192.168.1.7', 65535],
    ['[::1]:8080', '::1', 8080],
    ['[::]:80', '::', 80],
  ])('%s is %s, port %i', (text, host, port) => {
    expect(parseAddress(text, '--live')).toEqual({ option: '--live', text, host, port })
  })

  it.each([
    ...['', ':', '0.0.0.0', '0.0.0.0:', ':65536', ':123456', '::1:8080', '[::1]', '[]:80', '[127.0.0.1]:80', '::1'],
    ...['256.0.0.1:80', 'localhost:80', 'http://127.0.0.1:80', ':80 ', ':-1', ':0x50', '1.2.3.4:80:90'],
  ])('"%s" is no address, and the message says what is', text => {
    const parse = () => parseAddress(text, '--metrics')
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(`--metrics ${text}: not an address: write a port, such as --metrics :8080 `)
  })

  it('is written as in a URL', () => {
    expect(joinAddress({ host: '::1', port: 80 })).toBe('[::1]:80')
    expect(joinAddress({ host: '127.0.0.1', port: 80 })).toBe('127.0.0.1:80')
  })
})
