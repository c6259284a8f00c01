import http2 from 'node:http2'
import { Duplex } from 'node:stream'
import tls from 'node:tls'

/** @import { Endpoint } from '../model/types.ts' */

/**
 * Opens a tunnel as sidecars of HBONE have it: HTTP/2 CONNECT over mTLS at their port, for an address and a port.
 * @param {Endpoint} endpoint that is meant @param {{ tunnelPort: number, tls: tls.ConnectionOptions, timeoutSeconds: number }} options
 * @returns {Promise<{ stream: Duplex, socket: tls.TLSSocket }>}
 * @throws where the handshake fails, or the sidecar refuses
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
        // A stream of HTTP/2 that is written strings sends other bytes (seen with Node 20.20); this one is written buffers.
        if (status === 200) resolve({ stream: Duplex.from({ readable: stream, writable: stream }), socket })
        else fail(new Error(`the tunnel was refused with ${status}`))
      })
    })
  })
}
