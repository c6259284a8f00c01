// Calls the next service for every request and answers what that answered. For machines without Pipy.
//   node forward.js 127.0.0.1:8080 127.0.0.1:15001 ratings
// The second address is its sidecar's outbound listener, or the next service itself; the last is the Host.
import http from 'node:http'

const [address, port] = process.argv[2].split(':')
const [nextAddress, nextPort] = process.argv[3].split(':')
const host = process.argv[4]
const agent = new http.Agent({ keepAlive: true })

const server = http.createServer((request, response) => {
  const { method, url: path, headers } = request
  const next = http.request({ host: nextAddress, port: nextPort, method, path, headers: { ...headers, host }, agent })
  next.on('response', answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  next.on('error', () => {
    if (!response.headersSent) response.writeHead(502)
    response.end()
  })
  request.pipe(next)
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), address)
