import { once } from 'node:events'
import net from 'node:net'
import { expect, it } from 'vitest'
import { listPeers } from '../../../src/node/kernel/sockets.js'
import { listenInTest } from '../../fakes/listen.js'

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
