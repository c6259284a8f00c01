import http from 'node:http'
import { expect, it } from 'vitest'
import { send } from '../../src/node/send.js'

it('a request that hangs ends with its signal', async () => {
  const stop = new AbortController()
  const server = http.createServer(() => stop.abort())
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const answer = send({ address: '127.0.0.1', port }, { host: 'x' }, { signal: stop.signal })
  await expect(answer).rejects.toThrow('aborted')
  server.close()
})
