import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listen, onlyOwnHosts } from './listen.js'
import { createStream } from './stream.js'

/**
 * Serves the page on which a run is watched.
 * @import { RunEvent } from '../run/events.js'
 * @import { RunState } from './state.js'
 * @import { LiveAddress } from './address.js'
 */

// The last events need a moment to arrive; a run waits no longer for a browser.
const FLUSH_MS = 200
const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline' 'self'; connect-src 'self'; img-src data:",
  'x-content-type-options': 'nosniff',
}

/** The files of the page by their path on the server, where relative imports end at these names. */
const PAGE = Object.entries({
  '/': 'page.html',
  '/live.js': 'page.js',
  '/page-charts.js': 'page-charts.js',
  '/page-elements.js': 'page-elements.js',
  '/page-sidecars.js': 'page-sidecars.js',
  '/page-trials.js': 'page-trials.js',
  '/words.js': 'words.js',
  '/lib/bounded.js': '../lib/bounded.js',
  '/lib/units.js': '../lib/units.js',
})

/**
 * Files that the page shares with other code.
 * @typedef {object} LiveAssets
 * @property {string} echarts the text of the library
 * @property {Record<string, string>} modules texts by their path on the server: `/charts/rounds.js`
 */

/**
 * @param {{ address: LiveAddress, state: RunState, assets: LiveAssets, intervalMs?: number }} options intervalMs: between
 *   what browsers are told
 * @returns {Promise<{ url: string, publish: (event: RunEvent) => void, close: () => Promise<void> }>} publish: to be called
 *   after the state has applied the event; close: resolves when nothing keeps the process from ending
 * @throws {import('../lib/errors.js').BenchError} when nothing can be served there
 */
export async function startLiveServer({ address, state, assets, intervalMs }) {
  const files = readFiles(assets)
  const stream = createStream({ state, intervalMs })
  const server = http.createServer(
    onlyOwnHosts(address, (request, response) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
      const path = String(request.url).split('?')[0]
      const file = files.get(path)
      if (request.method !== 'GET') {
        answer(response.setHeader('allow', 'GET'), { status: 405, text: `${request.method} is not answered, GET is` })
      } else if (path === '/events') stream.join(response)
      else if (file) answer(response, { status: 200, ...file })
      else answer(response, { status: 404, text: 'not found: the page is at /' })
    }),
  )
  const url = await listen(server, address)
  return {
    url,
    publish: stream.publish,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      stream.close()
      await Promise.race([closed, delay(FLUSH_MS, undefined, { ref: false })])
      server.closeAllConnections()
      await closed
    },
  }
}

/** @param {LiveAssets} assets @returns {Map<string, { type: string, text: string }>} by path on the server */
function readFiles({ echarts, modules }) {
  const page = PAGE.map(([path, name]) => {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8')
    return /** @type {const} */ ([path, { type: name.endsWith('.html') ? HTML : SCRIPT, text }])
  })
  const scripts = Object.entries({ ...modules, '/echarts.js': echarts })
  return new Map([...scripts.map(([path, text]) => /** @type {const} */ ([path, { type: SCRIPT, text }])), ...page])
}

/** @param {http.ServerResponse} response @param {{ status: number, type?: string, text: string }} content */
function answer(response, { status, type = 'text/plain; charset=utf-8', text }) {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}
