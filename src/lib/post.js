import http from 'node:http'

/**
 * Posts a body over a connection of its own.
 * @param {{ url: string, host: string, body: string, headers?: Record<string, string>, timeoutSeconds: number }} options
 * @returns {Promise<{ status: number, headers: http.IncomingHttpHeaders, body: string }>}
 */
export function post({ url, host, body, headers = {}, timeoutSeconds }) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      agent: false,
      timeout: timeoutSeconds * 1000,
      headers: { host, 'content-length': Buffer.byteLength(body), ...headers },
    })
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutSeconds} s`)))
    request.on('error', reject)
    request.on('response', response => {
      const chunks = /** @type {Buffer[]} */ ([])
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.end(body)
  })
}
