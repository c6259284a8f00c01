// Unary calls of gRPC, for arms whose addresses begin with grpc://. Run by k6, never imported by src/.
import grpc from 'k6/net/grpc'

const { HOST, URLS, ARM_URLS, PAYLOAD_BYTES, PAYLOADS } = __ENV
const METHOD = 'bench.Echo/Call'
const CONNECT_SECONDS = 10
const LARGEST_BYTES = Math.max(...(PAYLOADS || PAYLOAD_BYTES).split(',').map(Number))

export const isGrpc = url => url.startsWith('grpc:')
const parseUrlAddress = url => url.split('/')[2]

// k6 calls a server by the name under which it connects. So that this is the service, as in HTTP, each address is that name
// with a port of its own: planes do not look at the port.
const addresses = [...new Set((ARM_URLS || URLS).split(/[,;]/).filter(isGrpc).map(parseUrlAddress))]
const renderHostName = address => `${HOST}:${1 + addresses.indexOf(address)}`
export const hosts = {}
for (const address of addresses) hosts[renderHostName(address)] = address

// The function by which a user calls an address, over a channel of its own.
export function createCall(url) {
  const client = new grpc.Client()
  client.load([], 'echo.proto')
  let isConnected = false
  return (body, params) => {
    if (!isConnected) {
      client.connect(renderHostName(parseUrlAddress(url)), {
        plaintext: true,
        timeout: `${CONNECT_SECONDS}s`,
        // The largest message, and its frame.
        maxReceiveSize: LARGEST_BYTES + 1024,
      })
      isConnected = true
    }
    const { status, message, error, headers } = client.invoke(METHOD, { body }, params)
    // As an answer of HTTP, by which scripts tell a wrong body from a failure.
    if (status === grpc.StatusOK) return { status: 200, body: message.body, headers }
    return { status: `${status} of gRPC`, body: null, error: error ? error.message : '' }
  }
}
