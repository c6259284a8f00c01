// Answers what it got over TLS: the body, and the nonce header where there was one. For machines without Pipy.
//   node tls-echo.js 127.0.0.1:8080,127.0.0.1:8081 cert.pem key.pem
import { readFileSync } from 'node:fs'
import https from 'node:https'

const [addresses, cert, key] = process.argv.slice(2)

for (const text of addresses.split(',')) {
  const [address, port] = text.split(':')
  const server = https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    const nonce = request.headers['x-nonce']
    const length = request.headers['content-length']
    response.writeHead(200, { ...(nonce ? { 'x-nonce': nonce } : {}), ...(length ? { 'content-length': length } : {}) })
    request.pipe(response)
  })
  server.keepAliveTimeout = 60_000
  server.listen(Number(port), address)
}
