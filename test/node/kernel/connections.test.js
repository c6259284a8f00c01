import { once } from 'node:events'
import net from 'node:net'
import { expect, it } from 'vitest'
import { listPeers } from '../../../src/node/kernel/sockets.js'

it('tells the open connections that an endpoint accepted apart', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const list = () => listPeers({ address: '127.0.0.1', port })
  expect(list()).toEqual([])
  const clients = [1, 2].map(() => net.connect(port, '127.0.0.1'))
  await Promise.all(clients.map(client => once(client, 'connect')))
  expect(new Set(list()).size).toBe(2)
  for (const client of clients) client.destroy()
  server.close()
})
