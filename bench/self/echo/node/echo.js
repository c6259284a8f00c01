// The kit's echo for Node, and it counts: every 10 ms a line with the time and the requests since.
//   node echo.js 127.0.0.1:8080
import http from 'node:http'

const [address, port] = process.argv[2].split(':')
let count = 0
let bucket = 0

const server = http.createServer((request, response) => {
  const now = Math.floor(Date.now() / 10)
  if (now !== bucket) {
    if (count > 0) console.log(`${bucket * 10} ${count}`)
    bucket = now
    count = 0
  }
  count++
  const nonce = request.headers['x-nonce']
  const length = request.headers['content-length']
  response.writeHead(200, { ...(nonce ? { 'x-nonce': nonce } : {}), ...(length ? { 'content-length': length } : {}) })
  request.pipe(response)
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), address)
