import { escapePattern } from '../../lib/printable.js'

/** Routes in their order: the first whose host, path and headers match takes the request. */
/** @import { Route } from '../../model/types.ts' */

/** Closes the connection without an answer. */
export const ABORT = { handler: 'static_response', abort: true }

const NO_ROUTE = { handle: [{ handler: 'static_response', status_code: 404, body: 'no route matches' }] }
const SHARES = 256

/**
 * Renders routes in their order, and a 404 behind them.
 * @param {Route[]} routes
 * @returns {object[]} for a server with a named route for each cluster
 */
export function renderRoutes(routes) {
  return [...routes.flatMap(renderRoute), NO_ROUTE]
}

/**
 * Renders a split as one route of Caddy for each cluster. The first route that matches takes a request, so that each matches its
 * share and those before it, and the last one all.
 * @param {Route} route
 */
function renderRoute({ host, pathPrefix, headers, split }) {
  const values = Object.entries(headers).map(([name, value]) => [name, { pattern: `^${escapePattern(value)}$` }])
  const match = {
    ...(host === null ? {} : { host: [host] }),
    // Caddy's own matcher of paths ignores the case.
    ...(pathPrefix === '/' ? {} : { path_regexp: { pattern: `^${escapePattern(pathPrefix)}` } }),
    ...(values.length > 0 && { header_regexp: Object.fromEntries(values) }),
  }
  const sum = split.reduce((total, { weight }) => total + weight, 0)
  let before = 0
  return split.map(({ cluster, weight }, i) => {
    before += weight
    const matcher = i === split.length - 1 ? match : { ...match, vars_regexp: renderShare(before / sum) }
    return {
      ...(Object.keys(matcher).length > 0 && { match: [matcher] }),
      handle: [{ handler: 'invoke', name: cluster }],
      terminal: true,
    }
  })
}

/**
 * Renders a match of a share of requests, in 256ths, by the first two hexadecimal digits of the id that Caddy makes once a request.
 * @param {number} share
 */
function renderShare(share) {
  const end = Math.round(share * SHARES)
  const [high, low] = [Math.floor(end / 16), end % 16]
  const listDigitsBelow = (/** @type {number} */ digit) => '0123456789abcdef'.slice(0, digit)
  const parts = [
    ...(high > 0 ? [`[${listDigitsBelow(high)}].`] : []),
    ...(low > 0 ? [`${high.toString(16)}[${listDigitsBelow(low)}]`] : []),
  ]
  return { '{http.request.uuid}': { pattern: `^(${parts.join('|') || 'none'})` } }
}
