import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readProcFile } from '../../../src/node/kernel/proc-files.js'
import { listPeers, parseListeners, readListening } from '../../../src/node/kernel/sockets.js'
import { listenInTest } from '../../fakes/listen.js'
import { makeFolder } from '../../fakes/scratch.js'

it('distinguishes the open connections that an endpoint accepted', async () => {
  const server = net.createServer()
  const endpoint = await listenInTest(server)
  const list = () => listPeers(endpoint)
  expect(list()).toEqual([])
  const clients = [1, 2].map(() => net.connect(endpoint.port, endpoint.address))
  await Promise.all(clients.map(client => once(client, 'connect')))
  expect(new Set(list()).size).toBe(2)
  for (const client of clients) client.destroy()
})

describe('the sockets that listen', () => {
  it('are all read, beside hundreds of connections', async () => {
    const servers = await Promise.all(Array.from({ length: 100 }, () => listenInTest(net.createServer())))
    const clients = servers.flatMap(({ port, address }) => [1, 2, 3].map(() => net.connect(port, address)))
    await Promise.all(clients.map(client => once(client, 'connect')))
    const portsIn = (/** @type {string} */ tcp) => new Set(parseListeners({ tcp, tcp6: '' }).map(({ port }) => port))
    const text = readListening('/proc/self/net/tcp')
    expect([...portsIn(text)]).toEqual(expect.arrayContaining(servers.map(({ port }) => port)))
    for (const client of clients) client.destroy()
    expect(text.length).toBeLessThan(readProcFile('/proc/self/net/tcp').length)
  })

  it('are not looked for behind the first page of others', () => {
    const file = path.join(makeFolder('sockets-test'), 'tcp')
    const row = (/** @type {number} */ i, /** @type {string} */ state) =>
      `${`${i}`.padStart(4)}: 0100007F:${(8000 + i).toString(16).toUpperCase()} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${1000 + i} 1 0\n`
    const rows = Array.from({ length: 1000 }, (_, i) => row(i, i < 100 ? '0A' : '06'))
    writeFileSync(file, `  sl  local_address rem_address   st\n${rows.join('')}`)
    const text = readListening(file)
    expect(parseListeners({ tcp: text, tcp6: '' })).toHaveLength(100)
    expect(text.length).toBeLessThan(3 * 4096 + rows.slice(0, 100).join('').length)
  })

  it('are none if the process has ended', () => expect(readListening('/proc/0/net/tcp')).toBe(''))
})
