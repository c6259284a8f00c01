import http2 from 'node:http2'
import { afterEach, expect, it } from 'vitest'
import { CANCELLATION, UNARY } from '../../../src/parity/beside/grpc.js'
import { serveGrpc } from '../../../src/parity/beside/grpc-upstream.js'

/** @import { AddressInfo } from 'node:net' @import { Probed } from '../../../src/parity/beside/probe.js' */

const ADDRESS = '127.0.0.1'
/** @type {(() => void)[]} */
const closers = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** @param {http2.Http2Server} server */
async function listen(server) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  server.on('connection', socket => sockets.add(socket))
  await new Promise(resolve => server.listen(0, ADDRESS, () => resolve(null)))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { address: ADDRESS, port: /** @type {AddressInfo} */ (server.address()).port }
}

/** Tries the checks at a sidecar. @param {http2.Http2Server} server @param {Set<string>} got */
async function tryAt(server, got) {
  const rig = /** @type {Probed} */ (
    /** @type {unknown} */ ({
      sidecars: { client: await listen(server) },
      hasGot: (/** @type {string} */ path) => got.has(path),
    })
  )
  const found = await Promise.all(
    [...UNARY, CANCELLATION].map(async ({ name, run }) => ({
      name,
      differences: await run(rig).catch(error => [`failed: ${error.message}`]),
    })),
  )
  return found.filter(({ differences }) => differences.length > 0)
}

it('find nothing wrong where calls come to the upstream as they are', async () => {
  const got = new Set()
  expect(
    await tryAt(
      serveGrpc('a', path => got.add(path)),
      got,
    ),
  ).toEqual([])
})

it('find a sidecar that loses trailers, says OK of a broken answer, and does not pass on a cancellation', async () => {
  /** @type {Set<string>} */
  const got = new Set()
  const server = http2.createServer()
  server.on('session', session => session.on('error', () => {}))
  server.on('stream', (stream, { ':path': path }) => {
    got.add(`${path}`)
    stream.on('error', () => {})
    if (path?.startsWith('/hang')) return stream.resume()
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.pipe(stream)
  })
  const found = await tryAt(server, got)
  expect(found.map(({ name, differences }) => `${name}: ${differences}`)).toEqual([
    expect.stringMatching(
      /^a status and a trailer of its own, behind the message: trailer undefined, expected \w{16}$/,
    ),
    expect.stringMatching(/^an error, in trailers behind the message: code 0, expected 5,/),
    expect.stringMatching(/^an error, and nothing else: code 0, expected 7,/),
    'many calls at once over one connection, with messages of different lengths: 32 of 32 answered otherwise',
    expect.stringMatching(/^a half-close: .*: code 13, expected 0,/),
    'a stream that the upstream resets, and one after it: answered OK',
    'a stream that the upstream resets in the middle of its answer, and one after it: answered OK',
    'a call that the client cancels: the upstream was not told',
  ])
}, 20_000)
