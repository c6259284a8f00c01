import http from 'node:http'
import { listen, onlyOwnHosts } from './listen.js'
import { createMetrics } from './metrics.js'

/**
 * Serves what a run is doing to Prometheus, at /metrics.
 * @import { LiveAddress } from './address.js'
 * @import { RunEvent } from '../run/events.js'
 */

/**
 * @param {{ address: LiveAddress }} options
 * @returns {Promise<{ url: string, publish: (event: RunEvent) => void, close: () => Promise<void> }>}
 * @throws {import('../lib/errors.js').BenchError} when nothing can be served there
 */
export async function startMetricsServer({ address }) {
  const metrics = createMetrics()
  const server = http.createServer(
    onlyOwnHosts(address, async (request, response) => {
      const isFound = String(request.url).split('?')[0] === '/metrics'
      if (request.method !== 'GET' || !isFound) {
        response.writeHead(isFound ? 405 : 404, { 'content-type': 'text/plain' }).end('the metrics are at /metrics\n')
        return
      }
      const text = await metrics.text()
      response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text)
    }),
  )
  const url = await listen(server, address)
  return {
    url: `${url}metrics`,
    publish: metrics.apply,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
