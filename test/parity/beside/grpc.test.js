import http2 from 'node:http2'
import { expect, it, onTestFinished } from 'vitest'
import { CANCELLATION, UNARY } from '../../../src/parity/beside/grpc.js'
import { createGrpcServer } from '../../../src/parity/beside/grpc-upstream.js'
import { listen } from '../../fakes/listen.js'

/** @param {http2.Http2Server} server */
function serve(server) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  server.on('connection', socket => sockets.add(socket))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return listen(server)
}

/** What the checks find at a sidecar. @param {http2.Http2Server} server @param {Set<string>} got */
async function tryAt(server, got) {
  const hasReceived = (/** @type {string} */ path) => got.has(path)
  const rig = /** @type {any} */ ({ sidecars: { client: await serve(server) }, hasReceived })
  const checks = [...UNARY, CANCELLATION]
  /** @param {typeof checks[number]} check */
  const make = async ({ name, run }) => {
    const differences = await run(rig).catch(error => [`failed: ${error.message}`])
    return differences.length > 0 ? [`${name}: ${differences}`] : []
  }
  // A half-close is a matter of milliseconds, so nothing else goes on in this process.
  const halfClose = checks.findIndex(({ name }) => name.startsWith('a half-close'))
  const alone = await make(checks[halfClose])
  const failures = await Promise.all(checks.map((check, i) => (i === halfClose ? alone : make(check))))
  return failures.flat()
}

it('find nothing wrong if calls come to the upstream as they are', async () => {
  const got = new Set()
  const sidecar = createGrpcServer('a', path => got.add(path))
  expect(await tryAt(sidecar, got)).toEqual([])
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
  expect(await tryAt(server, got)).toEqual([
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
