// Answers what it got: the body, and the nonce header where there was one. For machines without Pipy.
//   node echo.js 127.0.0.1:8080,127.0.0.1:8081
import http from 'node:http'

for (const text of process.argv[2].split(',')) {
  const [address, port] = text.split(':')
  const server = http.createServer((request, response) => {
    const nonce = request.headers['x-nonce']
    const length = request.headers['content-length']
    response.writeHead(200, { ...(nonce ? { 'x-nonce': nonce } : {}), ...(length ? { 'content-length': length } : {}) })
    request.pipe(response)
  })
  server.keepAliveTimeout = 60_000
  server.listen(Number(port), address)
}
