import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  computeClosedConnections,
  parseConnections,
  parseOpenedCounts,
  readNamespaceConnections,
  startCountingReceivedBytes,
  sumGrowth,
} from '../../../src/targets/local/received.js'
import { findOnPath } from '../../../src/tools/find.js'
import { listenInTest } from '../../fakes/listen.js'

// As ss of iproute2 6.1.0 prints them.
const TEXT = `State  Recv-Q
LISTEN 0      4096   127.99.1.39:15001   0.0.0.0:*  ino:2813000 sk:1 cgroup:/ <->
ESTAB 0      1124   127.99.1.44:15003   127.0.0.1:50164 timer:(on,192ms,0) uid:1500 ino:2810534 sk:7 cgroup:/ <->	 ts sack bbr bytes_sent:44683 bytes_acked:43559 bytes_received:45939 segs_out:42
ESTAB 0      0      127.99.1.39:15001   127.0.0.1:53394 ino:2813227 sk:8 cgroup:/ <->	 ts sack bbr bytes_sent:59895 bytes_received:60995 segs_out:57
ESTAB 0      0      127.99.1.39:15001   127.0.0.1:53395 ino:2813228 sk:9 cgroup:/ <->	 ts sack bbr wscale:10,10`

const SNMP = `Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails
Tcp: 1 200 120000 -1 12 34 5
`

const openConnection = (/** @type {number} */ bytes, isAccepted = false) => ({ bytes, isAccepted })

describe('parseConnections', () => {
  it('reads the bytes of each socket, none at a new one, and whether it was accepted', () => {
    expect([...parseConnections(TEXT)]).toEqual([
      ['2810534', openConnection(45939)],
      ['2813227', openConnection(60995, true)],
      ['2813228', openConnection(0, true)],
    ])
  })
})

describe('parseOpened', () => {
  it('reads how many connections a namespace accepted and made', () => {
    expect(parseOpenedCounts(SNMP)).toEqual({ accepted: 34, connected: 12 })
  })
})

describe('sumGrowth', () => {
  it('counts what connections received since they were looked at, or opened', () => {
    const before = new Map(Object.entries({ kept: openConnection(100), closed: openConnection(50) }))
    const after = new Map(Object.entries({ kept: openConnection(130), opened: openConnection(7) }))
    expect(sumGrowth(before, after)).toBe(37)
  })
})

describe('countClosed', () => {
  /** @typedef {Record<string, ReturnType<typeof openConnection>>} Connections */
  /** @type {(connections: Connections, opened?: { accepted: number, connected: number } | null, neighbours?: Connections) => any} */
  const edge = (connections, opened = null, neighbours = {}) => ({
    connections: new Map(Object.entries(connections)),
    ofAll: new Map(Object.entries({ ...connections, ...neighbours })),
    opened,
  })
  const [client, endpoint] = [openConnection(1, true), openConnection(1)]

  it('counts connections of the first edge that are gone at the second, accepted and made', () => {
    const before = edge({ kept: client, gone: client, idle: endpoint })
    expect(computeClosedConnections(before, edge({ kept: client, opened: client }))).toEqual({
      accepted: 1,
      connected: 1,
    })
    expect(computeClosedConnections(before, before)).toEqual({ accepted: 0, connected: 0 })
  })

  it('counts those that opened and closed between in a namespace of their own, and none that are open still', () => {
    const before = edge({ kept: client }, { accepted: 3, connected: 5 })
    const after = edge({ kept: client, opened: endpoint }, { accepted: 4, connected: 7 }, { application: client })
    expect(computeClosedConnections(before, after)).toEqual({ accepted: 0, connected: 1 })
    const bypassed = edge({ kept: client }, { accepted: 4, connected: 7 }, { application: client })
    expect(computeClosedConnections(before, bypassed)).toEqual({ accepted: 0, connected: 0 })
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
    const count = startCountingReceivedBytes([{ pids: () => [process.pid], podNetworks: [] }, null], {
      window: { startMs: Date.now() + 500 },
      signal,
    })
    await new Promise(resolve => setTimeout(resolve, 500))
    client.write('x'.repeat(10_000))
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(await count()).toEqual([{ bytes: 10_000, byPod: [], closed: { accepted: 0, connected: 0 } }, null])
    client.destroy()
    server.close()
  })

  // The kit's own thread, which samples, is busy for milliseconds with each process that it starts.
  it('reads all namespaces but its own with one process', async () => {
    /** @type {string[][]} */
    const calls = []
    const listings = [TEXT, TEXT.replaceAll('bytes_received:4', 'bytes_received:5')]
    const run = async (/** @type {string} */ _command, /** @type {string[]} */ ...argv) => {
      calls.push(argv)
      return argv.length > 0 ? listings.map(text => `-- next namespace\n${text}\n${SNMP}`).join('') : TEXT
    }
    const networks = ['/run/netns/a', '/run/netns/b']
    const namespaces = new Map(['net:[1]', ...networks].map(network => [network, network]))
    const read = await readNamespaceConnections(namespaces, { run, here: 'net:[1]' })
    expect(calls).toEqual([[], ['sh', ...networks]])
    const results = [...namespaces.keys()].map(network => read.get(network))
    expect(results.map(result => result?.ofAll.get('2810534')?.bytes)).toEqual([45939, 45939, 55939])
    const opened = { accepted: 34, connected: 12 }
    expect(results.map(result => result?.opened)).toEqual([null, opened, opened])
  })

  it('sees nothing of a connection that opens and closes within the window', async context => {
    if ((await findOnPath('ss', `${process.env.PATH}`)) === null) context.skip('needs ss, which cannot be had here')
    const server = net.createServer(socket => socket.resume())
    const { address, port } = await listenInTest(server)
    const signal = new AbortController().signal
    const count = startCountingReceivedBytes([{ pids: () => [process.pid], podNetworks: [] }], {
      window: { startMs: Date.now() + 500 },
      signal,
    })
    await new Promise(resolve => setTimeout(resolve, 500))
    const client = net.connect(port, address).end('x'.repeat(10_000))
    await once(client, 'close')
    // The check `passage` knows of it by the CPU time of the process.
    expect(await count()).toEqual([{ bytes: 0, byPod: [], closed: { accepted: 0, connected: 0 } }])
    server.close()
  })

  it('says that connections closed, whose bytes it cannot count', async context => {
    if ((await findOnPath('ss', `${process.env.PATH}`)) === null) context.skip('needs ss, which cannot be had here')
    const server = net.createServer(socket => socket.resume())
    const { address, port } = await listenInTest(server)
    const client = net.connect(port, address)
    await once(client, 'connect')
    const signal = new AbortController().signal
    const count = startCountingReceivedBytes([{ pids: () => [process.pid], podNetworks: [] }], {
      window: { startMs: Date.now() + 500 },
      signal,
    })
    await new Promise(resolve => setTimeout(resolve, 500))
    client.end('x'.repeat(10_000))
    await once(client, 'close')
    expect(await count()).toEqual([{ bytes: 0, byPod: [], closed: { accepted: 1, connected: 1 } }])
    server.close()
  })
})
