import { groupRoutesByHost, isUnconditional } from '../../model/routes.js'

/** @import { Cluster, Route } from '../../model/types.ts' */

// Words with a meaning in a map: as a host they need a backslash.
const RESERVED = /^(default|hostnames|include|volatile)$/
/** The target of a listener without routes. */
export const NO_ROUTE = ''

/**
 * Renders the choice of an upstream: a look-up of the host, and then patterns in order for a host whose routes have conditions, and shares
 * for a route with several clusters.
 * @param {string} name of the listener
 * @param {{ routes: Route[], clusters: Cluster[], carriesGrpc?: boolean }} options clusters: at least those that the routes lead to
 * @returns {{ maps: string[][], target: string, isPartial: boolean }} maps: blocks of `http`; target: of `proxy_pass`, a URL or a
 *   variable, or NO_ROUTE; isPartial: some request may match no route, for which the variable is empty
 */
export function renderRoutes(name, { routes, clusters, carriesGrpc }) {
  const urls = Object.fromEntries(clusters.map(cluster => [cluster.name, renderClusterUrl(cluster, carriesGrpc)]))
  const hosts = groupRoutesByHost(routes).map((group, i) => ({
    host: group.host,
    ...renderHost(`${name}_${i}`, { routes: group.routes, urls }),
  }))
  const maps = hosts.flatMap(host => host.maps)
  const isPartial = hosts.some(host => host.isPartial)
  if (hosts.length === 1) return { maps, target: hosts[0].target, isPartial }
  const lines = hosts.map(({ host, target }) => `${renderHostKey(host)} ${quoteText(target)}`)
  return { maps: [...maps, [`map $host $${name}_to`, ...lines]], target: `$${name}_to`, isPartial }
}

/**
 * Renders the URL by which `proxy_pass` or `grpc_pass` calls a cluster.
 * @param {Cluster} cluster
 * @param {boolean} [carriesGrpc]
 * @returns {string} `http`, `https`, `grpc` or `grpcs`, then `://` and the name of the cluster
 */
export function renderClusterUrl({ name, mtls }, carriesGrpc = false) {
  return `${carriesGrpc ? 'grpc' : 'http'}${mtls ? 's' : ''}://${name}`
}

/**
 * Renders the routes of a host up to the first without conditions, since that one takes all other requests.
 * @param {string} name of its variables
 * @param {{ routes: Route[], urls: Record<string, string> }} options routes: those of one host, in order; urls: by cluster
 * @returns maps: blocks of `http`; target: a URL or a variable; NO_ROUTE: the host has no routes; isPartial: none of its routes is
 *   without conditions
 */
function renderHost(name, { routes, urls }) {
  const firstUnconditional = routes.findIndex(isUnconditional)
  const isPartial = firstUnconditional < 0
  const reached = isPartial ? routes : routes.slice(0, firstUnconditional + 1)
  const splits = reached.map((route, i) => renderSplit(`${name}_split_${i}`, { route, urls }))
  const maps = splits.flatMap(split => split.maps)
  if (reached.length === 0) return { maps, target: NO_ROUTE, isPartial }
  if (firstUnconditional === 0) return { maps, target: splits[0].target, isPartial }
  const headers = [...new Set(reached.flatMap(route => Object.keys(route.headers)))]
  const key = [...headers.map(header => `$http_${header.replaceAll('-', '_')}`), '$request_uri'].join(SEPARATOR)
  const lines = reached.map((route, i) => `"~${renderPattern(route, headers)}" ${quoteText(splits[i].target)}`)
  return { maps: [...maps, [`map "${key}" $${name}`, ...lines]], target: `$${name}`, isPartial }
}

// In quotation marks nginx reads this as a line break, which no header and no path can hold.
const SEPARATOR = '\\n'

/**
 * Renders the pattern by which a route matches the key of its host: the headers in order, then the prefix of the path.
 * @param {Route} route
 * @param {string[]} headers that the key of the map begins with
 */
function renderPattern(route, headers) {
  const values = headers.map(header =>
    Object.hasOwn(route.headers, header) ? escapePatternText(route.headers[header]) : `[^${SEPARATOR}]*`,
  )
  return `^${[...values, escapePatternText(route.pathPrefix)].join(SEPARATOR)}`
}

/**
 * Renders the target of a route: a URL or, with several clusters, a variable by their shares, to a hundredth of a percent. nginx refuses
 * a share of 0.00 %, and more than 100 % in all: sums of shares are rounded, not each share, and one that comes to nothing is left out.
 * @param {string} name of its variable
 * @param {{ route: Route, urls: Record<string, string> }} options urls: by cluster
 * @returns maps: the block that sets the variable; []: there is one cluster
 */
function renderSplit(name, { route: { split }, urls }) {
  if (split.length === 1) return { maps: [], target: urls[split[0].cluster] }
  const totalWeight = split.reduce((sum, { weight }) => sum + weight, 0)
  let weightSoFar = 0
  let hundredthsSoFar = 0
  const lines = split.flatMap(({ cluster, weight }, i) => {
    const url = quoteText(urls[cluster])
    if (i === split.length - 1) return [`* ${url}`]
    weightSoFar += weight
    const hundredths = Math.round((10_000 * weightSoFar) / totalWeight) - hundredthsSoFar
    hundredthsSoFar += hundredths
    return hundredths === 0 ? [] : [`${(hundredths / 100).toFixed(2)}% ${url}`]
  })
  return { maps: [[`split_clients $request_id $${name}`, ...lines]], target: `$${name}` }
}

/** Renders a host as a key of a map. @param {string | null} host null: any */
function renderHostKey(host) {
  if (host === null) return 'default'
  return quoteText(RESERVED.test(host) ? `\\\\${host}` : host)
}

/**
 * Escapes the bytes that may be special in a pattern or to nginx, by their hexadecimal codes.
 * @param {string} text
 * @returns {string} letters, digits, `_`, `/` and `-` stay as they are
 */
export function escapePatternText(text) {
  const escapeBytes = (/** @type {string} */ character) =>
    Array.from(new TextEncoder().encode(character), byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  return text.replace(/[^\w/-]/gu, escapeBytes)
}

/** Quotes a text that has no quotation marks. @param {string} text */
function quoteText(text) {
  return `"${text}"`
}
