import http from 'node:http'
import { onTestFinished } from 'vitest'

/** @import { AddressInfo, Server } from 'node:net' @import { Endpoint } from '../../src/model/types.ts' */

const address = '127.0.0.1'

/** Has a server listen on the loopback, at a free port. @param {Server} server @returns {Promise<Endpoint>} where */
export function listen(server) {
  return new Promise(resolve =>
    server.listen(0, address, () => resolve({ address, port: /** @type {AddressInfo} */ (server.address()).port })),
  )
}

/** Has a server listen, and closes it with all its connections after the test. @param {Server} server */
export function listenInTest(server) {
  onTestFinished(() => {
    if (server instanceof http.Server) server.closeAllConnections()
    server.close()
  })
  return listen(server)
}
