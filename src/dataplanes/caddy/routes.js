import { escapePattern } from '../../lib/escape-pattern.js'

/** @import { Route } from '../../model/types.ts' */

/** The handler that closes the connection without an answer. */
export const ABORT = { handler: 'static_response', abort: true }

const NO_ROUTE = { handle: [{ handler: 'static_response', status_code: 404, body: 'no route matches' }] }
const SHARES = 256

/**
 * Renders routes in their order, and a 404 behind them: in Caddy, the first route whose host, path and headers match takes the request.
 * @param {Route[]} routes
 * @returns {object[]} routes of a server that has a named route for each cluster
 */
export function renderRoutes(routes) {
  return [...routes.flatMap(renderRoute), NO_ROUTE]
}

/**
 * Renders a route as one of Caddy for each cluster of its split. As the first that matches takes a request, each matches its own share
 * and those before it, and the last one all.
 * @param {Route} route
 */
function renderRoute({ host, pathPrefix, headers, split }) {
  const patterns = Object.entries(headers).map(([name, value]) => [name, { pattern: `^${escapePattern(value)}$` }])
  const match = {
    ...(host === null ? {} : { host: [host] }),
    // Caddy's own matcher of paths ignores the case.
    ...(pathPrefix === '/' ? {} : { path_regexp: { pattern: `^${escapePattern(pathPrefix)}` } }),
    ...(patterns.length > 0 && { header_regexp: Object.fromEntries(patterns) }),
  }
  const totalWeight = split.reduce((sum, { weight }) => sum + weight, 0)
  let cumulatedWeight = 0
  return split.map(({ cluster, weight }, i) => {
    cumulatedWeight += weight
    const isLast = i === split.length - 1
    const matcher = isLast ? match : { ...match, vars_regexp: renderShareMatch(cumulatedWeight / totalWeight) }
    return {
      ...(Object.keys(matcher).length > 0 && { match: [matcher] }),
      handle: [{ handler: 'invoke', name: cluster }],
      terminal: true,
    }
  })
}

/**
 * Renders a match of a share of requests, in steps of 1 / SHARES, by the first two hexadecimal digits of the id that Caddy makes once a
 * request.
 * @param {number} share 0 to 1; one that rounds to 0 matches no request
 */
function renderShareMatch(share) {
  const end = Math.round(share * SHARES)
  const [high, low] = [Math.floor(end / 16), end % 16]
  const listDigitsBelow = (/** @type {number} */ digit) => '0123456789abcdef'.slice(0, digit)
  const alternatives = [
    ...(high > 0 ? [`[${listDigitsBelow(high)}].`] : []),
    ...(low > 0 ? [`${high.toString(16)}[${listDigitsBelow(low)}]`] : []),
  ]
  return { '{http.request.uuid}': { pattern: `^(${alternatives.join('|') || 'none'})` } }
}
