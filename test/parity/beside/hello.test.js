import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { describe, expect, it } from 'vitest'
import {
  encodeClientHello,
  hasWholeRecord,
  parseClientGroups,
  parseServerGroup,
  readServerGroup,
} from '../../../src/parity/beside/hello.js'
import { listenInTest } from '../../fakes/listen.js'

const BOTH = ['X25519MLKEM768', 'X25519']

/** Renders the answer of a server that asks for a share of a group. @param {number} group */
function renderRetry(group) {
  const extensions = Buffer.from([0, 43, 0, 2, 3, 4, 0, 51, 0, 2, group >> 8, group & 255])
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 0xcf),
    Buffer.from([0, 0x13, 0x01, 0, 0, extensions.length]),
    extensions,
  ])
  const head = Buffer.from([22, 3, 3, 0, body.length + 4, 2, 0, 0, body.length])
  return Buffer.concat([head, body])
}

describe('parseServerGroup', () => {
  it('names the group that a server chooses', () => {
    expect(parseServerGroup(renderRetry(0x11ec))).toBe('X25519MLKEM768')
    expect(parseServerGroup(renderRetry(0x001d))).toBe('X25519')
    expect(parseServerGroup(renderRetry(0x0200))).toBe('group 0x200')
    expect(parseServerGroup(Buffer.from([21, 3, 3, 0, 2, 2, 40]))).toBe(null)
  })
})

describe('parseClientGroups', () => {
  it('reads what it renders: groups in order, and a share of none', () => {
    const hello = encodeClientHello(BOTH)
    expect(parseClientGroups(hello)).toEqual({ groups: BOTH, shares: [] })
    expect(hasWholeRecord(hello)).toBe(true)
    expect(hasWholeRecord(hello.subarray(0, 60))).toBe(false)
    expect(parseClientGroups(hello.subarray(0, 60))).toBe(null)
  })

  it('takes no message that is cut short for one', () => {
    const hello = encodeClientHello(BOTH)
    for (let length = 6; length < hello.length; length++) {
      const cut = Buffer.from(hello.subarray(0, length))
      cut.writeUInt16BE(length - 5, 3)
      expect([null, 'object']).toContain(parseClientGroups(cut) && 'object')
    }
    expect(parseClientGroups(Buffer.from([22, 3, 3, 0, 4, 1, 0, 0, 0]))).toBe(null)
    const retry = renderRetry(0x11ec)
    retry.writeUInt16BE(0, retry.length - 4)
    for (const message of [retry.subarray(0, retry.length - 2), retry.subarray(0, retry.length - 1)]) {
      message.writeUInt16BE(message.length - 5, 3)
      expect(parseServerGroup(message)).toBe(null)
    }
  })

  it('reads the groups and the share of a client of Node', async () => {
    /** @type {Promise<Buffer>} */
    const hello = new Promise(resolve => {
      const server = net.createServer(socket => socket.on('error', () => {}).once('data', resolve))
      listenInTest(server).then(({ address, port }) =>
        tls.connect({ host: address, port, ecdhCurve: 'X25519:P-256' }).on('error', () => {}),
      )
    })
    expect(parseClientGroups(await hello)).toEqual({ groups: ['X25519', 'P-256'], shares: ['X25519'] })
  })
})

describe('readServerGroup', () => {
  it('reads the group that a server chooses, and none where it has none of them', async () => {
    const server = net.createServer(socket => socket.on('error', () => {}).once('data', () => socket.end()))
    expect(await readServerGroup(await listenInTest(server), BOTH)).toBe(null)
    const pinned = tls.createServer({ ecdhCurve: 'X25519', minVersion: 'TLSv1.3' }).on('tlsClientError', () => {})
    const endpoint = await listenInTest(pinned)
    expect(await readServerGroup(endpoint, ['X25519MLKEM768'])).toBe(null)
    const chosen = net.createServer(socket => {
      socket.on('error', () => {})
      once(socket, 'data').then(() => socket.write(renderRetry(0x11ec)))
    })
    expect(await readServerGroup(await listenInTest(chosen), BOTH)).toBe('X25519MLKEM768')
  })
})
