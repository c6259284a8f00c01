import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { serveRequests } from './serve.js'
import { createStream } from './stream.js'

/**
 * Serves the page that shows a run.
 * @import { ServerResponse } from 'node:http'
 * @import { RunEvent } from '../run/events.js'
 * @import { LiveAddress } from './address.js'
 * @import { RunState } from './state.js'
 */

// The last events have this long to arrive at a browser.
const FLUSH_MS = 200
const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline' 'self'; connect-src 'self'; img-src data:",
  'x-content-type-options': 'nosniff',
}

/** Files of the page by their path on the server. Their relative imports lead to these paths. */
const PAGE_FILES = {
  '/': 'page.html',
  '/live.js': 'page.js',
  '/page-charts.js': 'page-charts.js',
  '/page-elements.js': 'page-elements.js',
  '/page-lists.js': 'page-lists.js',
  '/words.js': 'words.js',
  '/lib/bounded.js': '../lib/bounded.js',
  '/lib/units.js': '../lib/units.js',
}

/** @typedef {{ echarts: string, modules: Record<string, string> }} LiveAssets sources of scripts; modules: by path on the server */

/**
 * Starts the server of the page, which answers GET for the page, its scripts, and the events of the run at `/events`. The state must
 * apply an event before it is published.
 * @param {{ address: LiveAddress, state: RunState, assets: LiveAssets, intervalMs?: number }} options intervalMs: between
 *   events; 500 by default
 * @returns {Promise<{ url: string, publish: (event: RunEvent) => void, close: () => Promise<void> }>} url: of the page; publish:
 *   sends browsers the change of an event; close: leaves browsers FLUSH_MS to read the last events
 * @throws {import('../lib/errors.js').BenchError} if nothing can be served there; the system's error if a file of the page cannot
 *   be read
 */
export async function startLiveServer({ address, state, assets, intervalMs }) {
  const scripts = Object.entries({ ...assets.modules, '/echarts.js': assets.echarts })
  /** The files by their path on the server. @type {Map<string, { type: string, text: string }>} */
  const files = new Map(scripts.map(([path, text]) => [path, { type: SCRIPT, text }]))
  for (const [path, name] of Object.entries(PAGE_FILES)) {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8')
    files.set(path, { type: name.endsWith('.html') ? HTML : SCRIPT, text })
  }
  const stream = createStream({ state, intervalMs })
  /** @type {import('node:http').RequestListener} */
  const answer = (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const path = String(request.url).split('?')[0]
    const file = files.get(path)
    if (request.method !== 'GET') {
      sendText(response.setHeader('allow', 'GET'), { status: 405, text: `${request.method} is not answered, GET is` })
    } else if (path === '/events') stream.addClient(response)
    else if (file) sendText(response, { status: 200, ...file })
    else sendText(response, { status: 404, text: 'not found: the page is at /' })
  }
  const { url, close } = await serveRequests(address, answer, closed => {
    stream.close()
    return Promise.race([closed, delay(FLUSH_MS, undefined, { ref: false })])
  })
  return { url, publish: stream.publish, close }
}

/**
 * Answers a request with a text, and ends the response.
 * @param {ServerResponse} response
 * @param {{ status: number, type?: string, text: string }} content type: plain text by default
 */
function sendText(response, { status, type = 'text/plain; charset=utf-8', text }) {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}
