import http2 from 'node:http2'
import { Duplex } from 'node:stream'
import tls from 'node:tls'

/** @import { Endpoint } from '../model/types.ts' */

/**
 * Opens a tunnel of HBONE: HTTP/2 CONNECT for the endpoint, over mTLS to `tunnelPort` of the same address.
 * @param {Endpoint} endpoint behind the tunnel @param {{ tunnelPort: number, tls: tls.ConnectionOptions, timeoutSeconds: number }} options
 * @returns {Promise<{ stream: Duplex, socket: tls.TLSSocket }>} stream: the bytes to and from the endpoint; socket: the
 *   connection below it, which the caller destroys
 * @throws when the handshake fails, nothing comes for timeoutSeconds, or CONNECT is not answered 200
 */
export function openTunnel({ address, port }, { tunnelPort, timeoutSeconds, ...options }) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: address,
      port: tunnelPort,
      rejectUnauthorized: false,
      ...options.tls,
      ALPNProtocols: ['h2'],
    })
    const fail = (/** @type {Error} */ error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeoutSeconds * 1000, () => fail(new Error(`no answer within ${timeoutSeconds} s`)))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the connection was closed in the handshake')))
    socket.once('secureConnect', () => {
      const session = http2.connect(`https://${address}:${tunnelPort}`, { createConnection: () => socket })
      session.on('error', fail)
      const stream = session.request({ ':method': 'CONNECT', ':authority': `${address}:${port}` })
      stream.on('error', fail)
      stream.on('close', () => session.close())
      stream.once('response', ({ ':status': status }) => {
        // Strings written to a stream of HTTP/2 are sent as other bytes (seen with Node 20.20); a Duplex makes them buffers.
        if (status === 200) resolve({ stream: Duplex.from({ readable: stream, writable: stream }), socket })
        else fail(new Error(`the tunnel was refused with ${status}`))
      })
    })
  })
}
