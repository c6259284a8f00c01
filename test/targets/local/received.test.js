import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { countReceived, parseReceived, sumGrowth } from '../../../src/targets/local/received.js'
import { findOnPath } from '../../../src/tools/find.js'
import { listenInTest } from '../../fakes/listen.js'

// As ss of iproute2 6.1.0 prints them.
const TEXT = `0      1124   127.99.1.44:15003   127.0.0.1:50164 timer:(on,192ms,0) uid:1500 ino:2810534 sk:7 cgroup:/ <->	 ts sack bbr bytes_sent:44683 bytes_acked:43559 bytes_received:45939 segs_out:42
0      0      127.99.1.39:15001   127.0.0.1:53394 ino:2813227 sk:8 cgroup:/ <->	 ts sack bbr bytes_sent:59895 bytes_received:60995 segs_out:57
0      0      127.99.1.39:15001   127.0.0.1:53395 ino:2813228 sk:9 cgroup:/ <->	 ts sack bbr wscale:10,10`

describe('parseReceived', () => {
  it('finds the bytes at the sockets of a process alone, none at a new one', () => {
    const own = new Set(['2813227', '2813228'])
    expect([...parseReceived(TEXT, own)]).toEqual([
      ['2813227', 60995],
      ['2813228', 0],
    ])
  })
})

describe('sumGrowth', () => {
  it('counts what connections received since they were looked at, or opened', () => {
    const before = new Map(Object.entries({ kept: 100, closed: 50 }))
    expect(sumGrowth(before, new Map(Object.entries({ kept: 130, opened: 7 })))).toBe(37)
  })
})

describe('countReceived', () => {
  it('counts what this process receives over a window, and nothing of others', async context => {
    if ((await findOnPath('ss', `${process.env.PATH}`)) === null) context.skip('needs ss, which cannot be had here')
    const server = net.createServer(socket => socket.resume())
    const { address, port } = await listenInTest(server)
    const client = net.connect(port, address)
    await once(client, 'connect')
    const signal = new AbortController().signal
    const count = countReceived([{ pids: () => [process.pid], podNetworks: [] }, null], {
      window: { startMs: Date.now() + 500 },
      signal,
    })
    await new Promise(resolve => setTimeout(resolve, 500))
    client.write('x'.repeat(10_000))
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(await count()).toEqual([{ bytes: 10_000, byPod: [] }, null])
    client.destroy()
  })
})
