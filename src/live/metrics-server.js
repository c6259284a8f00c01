import { createMetrics } from './metrics.js'
import { serve } from './serve.js'

/**
 * Serves the metrics of a run to Prometheus, at /metrics.
 * @import { LiveAddress } from './address.js'
 * @import { RunEvent } from '../run/events.js'
 */

/**
 * Starts the server.
 * @param {{ address: LiveAddress }} options
 * @returns {Promise<{ url: string, publish: (event: RunEvent) => void, close: () => Promise<void> }>}
 * @throws {import('../lib/errors.js').BenchError} when nothing can be served there
 */
export async function startMetricsServer({ address }) {
  const metrics = createMetrics()
  const { url, close } = await serve(address, async (request, response) => {
    const isFound = String(request.url).split('?')[0] === '/metrics'
    if (request.method !== 'GET' || !isFound) {
      response.writeHead(isFound ? 405 : 404, { 'content-type': 'text/plain' }).end('the metrics are at /metrics\n')
      return
    }
    const text = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text)
  })
  return { url: `${url}metrics`, publish: metrics.apply, close }
}
