// Answers each kind of request with a body of its size, after its service time. The body begins with the nonce of the request.
//   node answer.js 127.0.0.1:8080 '[{"method":"GET","path":"/","requestBytes":0,"responseBytes":1024,"waitMs":30}]'
// A request of no such kind is answered 404, and one with a body of another size 400.
import http from 'node:http'
import { performance } from 'node:perf_hooks'
import { readKinds, renderBody, waitForKind, waitUntilDue } from './kinds.js'

const [address, port] = process.argv[2].split(':')
const kinds = readKinds(process.argv[3])

const server = http.createServer((request, response) => {
  let bytes = 0
  request.on('data', chunk => {
    bytes += chunk.length
  })
  request.on('end', () => void answer(request, { response, bytes }))
})

/** @param {http.IncomingMessage} request @param {{ response: http.ServerResponse, bytes: number }} options bytes: of its body */
async function answer({ method, url, headers }, { response, bytes }) {
  const kind = kinds.get(`${method} ${url}`)
  if (kind === undefined) return response.writeHead(404).end('no such kind of request')
  if (bytes !== kind.requestBytes) return response.writeHead(400).end('the body has another size')
  const nonce = /** @type {string | undefined} */ (headers['x-nonce'])
  const waited = kind.waitMs ? await waitForKind(kind) : null
  const body = renderBody(kind, nonce)
  response.writeHead(200, {
    ...(nonce && { 'x-nonce': nonce }),
    ...(waited && { 'x-waited': waited }),
    ...(!kind.chunks && { 'content-length': body.length }),
  })
  if (kind.chunks) return writeChunks(response, { body, ...kind.chunks })
  response.end(body)
}

/** @param {http.ServerResponse} response @param {{ body: string, count: number, gapMs: number }} options */
async function writeChunks(response, { body, count, gapMs }) {
  const beganMs = performance.now()
  const bytes = Math.ceil(body.length / count)
  for (let i = 0; i < count && !response.destroyed; i++) {
    if (i > 0) await waitUntilDue(beganMs + i * gapMs)
    response.write(body.slice(i * bytes, (i + 1) * bytes))
  }
  response.end()
}

server.keepAliveTimeout = 60_000
server.listen(Number(port), address)
