// Answers as echo.js does, and says its own name in the header x-served-by. For machines without Pipy.
//   node named.js 127.0.0.1:8080 NAME
import http from 'node:http'

const [, , listen, name] = process.argv
const [address, port] = listen.split(':')

const server = http.createServer((request, response) => {
  response.writeHead(200, { 'x-served-by': name, 'x-nonce': request.headers['x-nonce'] ?? '' })
  request.pipe(response)
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), address)
